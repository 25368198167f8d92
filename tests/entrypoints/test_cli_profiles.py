"""`profiles` and `--domain` on the command line."""

from __future__ import annotations

import json

from rag_core.entrypoints.cli import main
from rag_core.records.stored import Execution, Metrics
from rag_core.wiring import records

QUESTION = "How long is the warranty period?"


def test_given_a_domain_then_documents_are_cut_and_questions_asked_as_its_profile_says(tmp_path, capsys):
    """S3-26: the rules of the sources, and the work recorded under them."""
    (tmp_path / "terms.txt").write_text("The warranty period is 24 months from delivery.", encoding="utf-8")
    place = ["--library", str(tmp_path / "library")]

    def done(*words: str) -> tuple[int, str]:
        code = main([*words, *place])
        return code, capsys.readouterr().out

    assert done("index", str(tmp_path / "terms.txt"), "--domain", "legal", "--set", "passage_tokens=64")[0] == 0
    assert json.loads(done("documents", "--json")[1])["strategy"] == "legal"
    plain, legal = (
        json.loads(done("ask", QUESTION, *domain, "--json")[1])["metadata"] for domain in ((), ("--domain", "legal"))
    )
    store = records(tmp_path / "library", "default")
    store.record_execution(
        Execution(
            prompt_id="rag_strategy",
            profile="legal",
            metrics=Metrics(confidence=0.9, citation_coverage=1.0, hallucination_detected=True),
        ),
        "api:1",
    )
    listed, rows = done("profiles")[1], [json.loads(line) for line in done("profiles", "--json")[1].splitlines()]

    assert "profile" not in plain
    assert legal["profile"] == "legal"
    assert "legal      top_k 15, strategy legal\n           recorded: 1 executions, mean confidence 0.90" in listed
    assert [(row["domain"], len(row["recorded"])) for row in rows][:2] == [("general", 0), ("legal", 1)]
    assert done("ask", "Why?", "--domain", "law")[0] == 2
    assert done("ask", "Why?", "--domain", "legal", "--also", "x")[0] == 1
    store.close()
