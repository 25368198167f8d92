"""The log an operator reads: where it goes, in which form, and what never stands in it."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from folding import each

from rag_core.errors import InvalidSetting
from rag_core.settings import logs
from rag_core.settings.logs import LOGGERS, noted, start_logs

log = logging.getLogger("rag_core.decision")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    yield
    start_logs({})
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def say() -> None:
    log.info(
        "%s score=%s",
        "contexts_not_relevant_to_query",
        "0.1000",
        extra=noted("contexts_not_relevant_to_query", score=0.1),
    )


def test_given_nothing_in_the_environment_then_events_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    start_logs({})
    say()

    assert capsys.readouterr().err == ""


@each(("environment", "verbose"), [({"RAG_LOG": "text"}, False), ({}, True), ({"RAG_LOG": " TEXT "}, True)])
def test_given_text_then_an_event_is_a_line_on_standard_error(environment, verbose, capsys):
    """S1-7: `contexts_not_relevant_to_query` with its score."""
    start_logs(environment, verbose=verbose)
    say()

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" INFO rag_core.decision contexts_not_relevant_to_query score=0.1000")
    assert line[:2] == "20"
    assert line.split()[0].endswith("Z")


def test_given_json_then_every_line_is_an_object_with_the_events_fields(capsys: pytest.CaptureFixture[str]) -> None:
    start_logs({"RAG_LOG": "json"}, verbose=True)
    say()
    logging.getLogger("ui.app").warning("a plain\nwarning \u202e")

    event, plain = map(json.loads, capsys.readouterr().err.splitlines())
    assert (event["event"], event["score"], event["level"]) == ("contexts_not_relevant_to_query", 0.1, "INFO")
    assert (plain["message"], plain["logger"]) == ("a plain\nwarning \u202e", "ui.app")


def test_given_json_when_a_library_or_python_warns_then_that_is_an_object_too_and_afterwards_all_is_as_before(capsys):
    handlers, show = list(logging.getLogger().handlers), warnings.showwarning
    start_logs({"RAG_LOG": "json"})

    logging.getLogger("some.library").warning("a line\nand another")
    warnings.showwarning("old", DeprecationWarning, "there.py", 1)

    rows = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [row["logger"] for row in rows] == ["some.library", "py.warnings"]
    assert rows[0]["message"] == "a line\nand another"
    assert "DeprecationWarning: old" in rows[1]["message"]
    start_logs({})
    assert logging.getLogger().handlers == handlers
    assert warnings.showwarning is show


def test_given_an_error_with_signs_that_steer_a_terminal_then_they_do_not_reach_it(capsys):
    for form in ("text", "json"):
        start_logs({"RAG_LOG": form})
        try:
            raise ValueError("\x1b[2J\u202e")
        except ValueError:
            log.exception("indexing %s failed", "a\x1b.pdf")

        said = capsys.readouterr().err
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert "ValueError" in said


def test_given_a_file_then_it_is_started_anew_when_large_and_five_old_ones_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(logs, "FILE_BYTES", 300)
    start_logs({"RAG_LOG": "json", "RAG_LOG_FILE": str(tmp_path / "events.log")})
    for _ in range(40):
        say()
    start_logs({})

    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["events.log", *(f"events.log.{n}" for n in range(1, 6))]
    assert all(
        json.loads(line)["score"] == 0.1 for path in tmp_path.iterdir() for line in path.read_text().splitlines()
    )
    assert capsys.readouterr().err == ""


def test_given_a_second_start_then_no_line_is_written_twice(capsys: pytest.CaptureFixture[str]) -> None:
    start_logs({"RAG_LOG": "text"})
    start_logs({"RAG_LOG": "text"})
    say()

    assert len(capsys.readouterr().err.splitlines()) == 1


def test_given_a_form_or_a_file_that_cannot_be_then_it_is_one_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="RAG_LOG is 'xml'") as form:
        start_logs({"RAG_LOG": "xml"})
    with pytest.raises(InvalidSetting, match="cannot be written") as file:
        start_logs({"RAG_LOG_FILE": str(tmp_path / "nowhere" / "events.log")})

    assert form.value.remedy == "Set it to text or json, or not at all."
    assert "folder that exists" in file.value.remedy
