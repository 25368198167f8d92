"""`evaluate` on the command line, with the embedded model on small documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_core.adapters.records.store import RecordStore
from rag_core.entrypoints.cli import main
from rag_core.evaluation.labelled_files import read_labelled
from rag_core.wiring import records

TEXT = {
    "id": "policy",
    "title": "Leave",
    "lang": "en",
    "text": "Every full-time employee has 25 days of paid vacation a year.",
}
LABELLED = """question,answerable,answer,documents
How many days of paid vacation do employees have a year?,yes,25 days,policy
How many days of paid vacation does a full-time employee have?,yes,26 days,
What is the capital of France?,no,,
Is this a row?,perhaps,,
Where is the lost file?,yes,x,lost.pdf
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    found = {
        name: tmp_path / name for name in ("documents.jsonl", "labelled.csv", "report.json", "failing.jsonl", "library")
    }
    found["documents.jsonl"].write_text(json.dumps(TEXT), encoding="utf-8")
    found["labelled.csv"].write_text(LABELLED, encoding="utf-8")
    return found


def evaluate(files: dict[str, Path], *more: object) -> int:
    names = ("--questions", "labelled.csv", "--out", "report.json", "--failing", "failing.jsonl")
    return main(["evaluate", *(str(files.get(name, name)) for name in names), *map(str, more)])


def test_given_a_labelled_file_when_evaluated_then_counts_intervals_and_failing_questions_are_written(files, capsys):
    code = evaluate(files, "--documents", files["documents.jsonl"])

    out, err = capsys.readouterr()
    assert code == 1  # a row, and a question, could not be used
    assert "row 5: answerable is 'perhaps'" in err
    assert "4 questions, 1 of them could not be measured." in out
    found = json.loads(files["report.json"].read_text(encoding="utf-8"))
    assert (found["questions"], found["not_measured"]) == (4, 1)
    assert found["false_refusals"] == {
        "k": 0,
        "n": 2,
        "share": 0.0,
        "low": 0.0,
        "high": pytest.approx(0.8419, abs=1e-4),
    }
    assert (found["wrong_answers"]["k"], found["missed_answers"]["k"], found["missed_answers"]["n"]) == (0, 1, 2)
    assert found["settings"]["preset"] == "balanced"
    assert found["calibration"]
    again, problems = read_labelled(files["failing.jsonl"].read_bytes(), "failing.jsonl")
    assert problems == ()
    assert [one.answers for one in again] == [("26 days",), ("x",)]


def test_given_a_library_when_evaluated_then_the_days_of_rejected_drafts_are_kept_to(files, monkeypatch):
    days: list[int] = []
    monkeypatch.setenv("RAG_KEEP_REJECTED_DAYS", "7")
    monkeypatch.setattr(RecordStore, "prune_rejected", lambda _, limit: days.append(limit) or 0)

    evaluate(files, "--library", files["library"], "--documents", files["documents.jsonl"])

    assert days == [7]


def test_given_a_library_when_evaluated_twice_then_the_second_takes_what_is_recorded_and_the_lab_shows_both(files):
    place = ("--library", files["library"])
    evaluate(files, *place, "--documents", files["documents.jsonl"])
    store = records(files["library"], "default")
    (first,) = store.runs()

    evaluate(files, *place, "--set", "min_correctness=1", "--name", "strict")

    second, _ = store.runs()
    assert (first.name, first.set_name, second.name) == ("labelled", "labelled", "strict")
    assert json.loads(files["report.json"].read_text(encoding="utf-8"))["false_refusals"]["k"] == 2
    taken, measured = store.results(second.id), store.results(first.id)
    assert [measurements.timings for measurements in taken.values() if not measurements.failure] == [
        c.timings for c in measured.values() if not c.failure
    ]


def test_given_no_documents_when_evaluated_then_the_error_says_so(files, capsys):
    assert evaluate(files, "--library", files["library"]) == 1
    assert "There are no documents to ask." in capsys.readouterr().err
    assert not files["report.json"].exists()
