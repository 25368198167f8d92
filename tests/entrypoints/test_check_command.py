"""The command `check` as a pipeline runs it: decisions of one version of the documents, held against another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_core.entrypoints.cli import main

BEFORE = (
    "Every employee has 25 days of vacation per year.\n\nThe notice period is three months.\n\n"
    "Travel costs are reimbursed within 14 days after the claim was handed in.\n"
)
QUESTIONS = {
    "vacation": "How many days of vacation does an employee have?",
    "notice": "How long is the notice period?",
    "travel": "Within how many days are travel costs reimbursed?",
    "chief": "Who is the chief executive?",
}


@pytest.fixture
def pinned(tmp_path: Path) -> Path:
    """Decisions over the documents as they were, written by `ask --out`."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "handbook.txt").write_text(BEFORE)
    rows = [json.dumps({"id": id, "question": question}) for id, question in QUESTIONS.items()]
    (tmp_path / "questions.jsonl").write_text("\n".join(rows))
    out = tmp_path / "pinned.jsonl"
    ask = ["ask", "--documents", tmp_path / "old", "--questions", tmp_path / "questions.jsonl", "--out", out]
    assert main([*map(str, ask)]) == 0
    return out


def check(pinned: Path, text: str) -> int:
    """The exit code over documents with this text."""
    new = pinned.parent / "new"
    new.mkdir(exist_ok=True)
    (new / "handbook.txt").write_text(text)
    paths = {"pinned": pinned, "documents": new, "out": pinned.parent / "next.jsonl"}
    return main(["check", *(part for name, path in paths.items() for part in (f"--{name}", str(path)))])


def test_given_documents_that_change_when_checked_then_exit_code_and_lines_say_what_became_of_answers(pinned, capsys):
    assert check(pinned, BEFORE) == 0
    assert capsys.readouterr().out == ""

    assert check(pinned, BEFORE.replace("three months", "3 months")) == 0
    assert capsys.readouterr().out == f"{QUESTIONS['notice']} reworded: 3 months, page 1 of handbook.txt\n"

    assert check(pinned, BEFORE.replace("25", "30")) == 1
    out, err = capsys.readouterr()
    days = "25 days of vacation per year became 30 days of vacation per year"
    assert out == f"{QUESTIONS['vacation']} {days}, page 1 of handbook.txt\n"
    assert "3 same, 0 moved, 0 reworded, 1 changed, 0 lost, 0 gained, 0 could not be checked." in err

    assert check(pinned, BEFORE + "\nThe chief executive is Theodosius Quillhaven.\n") == 0
    assert "gained: " in capsys.readouterr().out

    (pinned.parent / "next.jsonl").replace(pinned)
    assert check(pinned, BEFORE) == 1
    assert capsys.readouterr().out == f"{QUESTIONS['chief']} lost: Theodosius Quillhaven\n"


def test_given_what_could_not_be_checked_when_checked_then_it_has_not_passed(pinned, capsys):
    (pinned.parent / "new").mkdir()
    (pinned.parent / "new" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    assert check(pinned, BEFORE) == 1
    assert "broken.pdf" in capsys.readouterr().err
    (pinned.parent / "new" / "broken.pdf").unlink()

    good = pinned.read_text().splitlines()[0]
    for bad in (
        "no JSON",
        '{"id": "x", "question": "How long?"}',
        '{"id": "x", "question": "How long?", "is_refusal": 0}',
    ):
        pinned.write_text(f"{good}\n{bad}\n")
        assert check(pinned, BEFORE) == 1
        assert "1 same, 0 moved, 0 reworded, 0 changed, 0 lost, 0 gained, 1 could not" in capsys.readouterr().err


def test_given_no_decisions_or_no_such_file_or_option_when_checked_then_the_usage_is_wrong(tmp_path, capsys):
    (tmp_path / "empty.jsonl").touch()
    for name in ("empty.jsonl", "none.jsonl"):
        assert main(["check", "--pinned", str(tmp_path / name), "--documents", str(tmp_path)]) == 2
    with pytest.raises(SystemExit) as wrong:
        main(["check", "--documents", str(tmp_path)])
    assert wrong.value.code == 2
    assert "--pinned" in capsys.readouterr().err
