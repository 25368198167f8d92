"""`profiles` and `--domain` on the command line: list, propose with evidence, accept, take back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_core.entrypoints.cli import main
from rag_core.wiring import records


def test_given_the_command_line_when_a_profile_is_changed_then_its_evidence_is_printed_and_a_person_accepts_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S3-26: a person accepts, and any version can be in force again."""
    (tmp_path / "terms.txt").write_text("The warranty period is 24 months from delivery.", encoding="utf-8")
    rows = [{"id": "1", "question": "How long is the warranty period?", "answerable": True, "answers": ["24 months"]}]
    (tmp_path / "labelled.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    place = ["--library", str(tmp_path / "library")]

    def done(*words: str) -> tuple[int, str, str]:
        code = main([*words, *place])
        return code, *capsys.readouterr()

    assert done("index", str(tmp_path / "terms.txt"), "--domain", "legal", "--set", "passage_tokens=64")[0] == 0
    assert json.loads(done("documents", "--json")[1])["strategy"] == "legal"
    tried = done(
        "profiles", "propose", "legal", "--set", "min_correctness=1", "--why", "sure", "--questions", str(tmp_path / "labelled.jsonl")
    )
    shown = done("profiles", "show", "legal")[1]
    as_json = [json.loads(line) for line in done("profiles", "show", "legal", "--json")[1].splitlines()]
    before = json.loads(done("ask", rows[0]["question"], "--domain", "legal", "--json")[1])
    used = done("profiles", "use", "legal", "1")
    after = json.loads(done("ask", rows[0]["question"], "--domain", "auto", "--json", "--filter", "x=y")[1])
    under = json.loads(done("ask", rows[0]["question"], "--domain", "legal", "--json")[1])
    listed = done("profiles", "list")[1].splitlines()
    plain = json.loads(done("ask", rows[0]["question"], "--json")[1])
    back, declined = done("profiles", "use", "legal", "0"), done("profiles", "decline", "legal", "1")

    assert tried[0] == 0
    assert "1 of    1" in tried[1]
    assert "Decided otherwise: 1 question. The difference may be chance." in tried[1]
    assert "profiles use legal 1" in tried[2]
    assert "why: sure" in shown
    assert [(row["version"], row["in_force"], row["state"]) for row in as_json] == [(0, True, "accepted"), (1, False, "proposed")]
    assert (before["is_safe"], before["metadata"]["profile"], plain["is_safe"]) == (True, "legal@0", True)
    assert "profile" not in plain["metadata"]
    assert (used[0], under["is_refusal"], under["metadata"]["profile"]) == (0, True, "legal@1")
    assert after["metadata"]["profile"] == "general@0", "no document is searched"
    assert "legal@1        top_k 15, strategy legal, min_correctness 1.0" in listed
    assert (back[0], declined[0], "not a proposal" in declined[2]) == (0, 1, True)
    assert done("profiles", "propose", "legal")[0] == 1, "nothing to try"
    assert "One question" in done("profiles", "learn", "legal", "--questions", str(tmp_path / "labelled.jsonl"))[2]
    more = [*rows, {**rows[0], "id": "2", "question": "From when on does the warranty period count?"}]
    (tmp_path / "labelled.jsonl").write_text("\n".join(map(json.dumps, more)), encoding="utf-8")
    tried = done("profiles", "learn", "general", "--questions", str(tmp_path / "labelled.jsonl"))
    assert (tried[0], "No change that was tried ends more questions right" in tried[2]) == (0, True)
    assert done("ask", "Why?", "--domain", "law")[0] == 2
    assert done("ask", "Why?", "--domain", "legal", "--also", "x")[0] == 1
    records(tmp_path / "library", "default").close()
