"""`model --trial`: the command against a scripted server, which drafts honestly, then a lie, then not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from honest_model import draft, honest, passages
from model_server import Asked, ModelServer, Status

from rag_core.entrypoints.cli import main

NOTICE = "The notice period of the lease is two months."
LEAVE = "Every full-time employee has 25 days of paid vacation a year."
# a short context is shown whole, and no model is asked
KNOBS = ("--set", "correctness_mode=observe", "--set", "return_short_context=false", "--set", "short_context_words=10")
QUESTIONS = (("What is the notice period of the lease?", True), ("How many days of vacation does an employee have?", True))


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """Documents and questions, as arguments."""
    (tmp_path / "policy.txt").write_text(f"{NOTICE}\n\n{LEAVE}", encoding="utf-8")
    rows = [{"id": str(n), "lang": "en", "question": asked, "answerable": able} for n, (asked, able) in enumerate(QUESTIONS)]
    (tmp_path / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    paths = ["--documents", str(tmp_path / "policy.txt"), "--questions", str(tmp_path / "questions.jsonl")]
    return ["model", "--trial", *paths, "--out", str(tmp_path / "shown.txt"), *KNOBS]


def lie(asked: Asked) -> object:
    """A sentence of its own under a true quote."""
    source, text = next(iter(passages(asked).items()))
    return draft(("The notice period is nine years.", source, text.split(".")[0]))


def trial(
    server: ModelServer, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """How the command ended, what it said, and what it wrote down."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("RAG_MODEL", "scripted")
    ended = main(arguments)
    return ended, capsys.readouterr().out, Path(arguments[arguments.index("--out") + 1]).read_text(encoding="utf-8")


def test_given_a_model_when_tried_then_what_became_of_its_drafts_is_counted_and_each_sentence_shown_is_written_down(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(honest) as server:
        ended, said, shown = trial(server, given, monkeypatch, capsys)

        assert ended == 0
        assert "scripted at http://127.0.0.1:" in said
        assert "2 questions, 2 of them asked the model for a draft." in said
        assert server.calls > 0
    assert NOTICE in shown
    assert LEAVE in shown
    assert all(question in shown for question, _ in QUESTIONS)


def test_given_a_model_that_lies_when_tried_then_its_drafts_are_rejected_and_no_lie_is_written_as_shown(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(lie) as server:
        ended, said, shown = trial(server, [*given, "--count", "1"], monkeypatch, capsys)

    assert ended == 0
    assert "1 question, 1 of them asked" in said
    assert "rejected" in said
    assert "nine years" not in shown


def test_given_questions_and_gold_in_two_files_when_tried_then_they_are_read_together_and_another_language_is_told(
    given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, gold = tmp_path / "asked.jsonl", tmp_path / "gold.jsonl"
    asked.write_text(json.dumps({"id": "1", "lang": "en", "question": QUESTIONS[0][0]}), encoding="utf-8")
    gold.write_text(json.dumps({"id": "1", "answerable": True, "answers": ["two months"]}), encoding="utf-8")
    at = given.index("--questions") + 1
    with ModelServer(honest) as server:
        arguments = [*given[:at], str(asked), str(gold), *given[at + 1 :]]
        ended, said, _ = trial(server, arguments, monkeypatch, capsys)
        assert (ended, "1 question, 1 of them asked" in said) == (0, True)

        assert main([*arguments, "--language", "hi"]) == 1
        assert f"No question in 'hi': {asked} and {gold}." in capsys.readouterr().err


def test_given_a_server_that_fails_or_no_model_when_tried_then_it_ends_with_1(
    given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(lambda asked: Status(400)) as server:
        assert trial(server, [*given, "--count", "1"], monkeypatch, capsys)[0] == 1
    monkeypatch.delenv("RAG_MODEL")
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.chdir(tmp_path)  # where no small model runs

    assert main(given) == 1
    assert "No language model is configured." in capsys.readouterr().err
