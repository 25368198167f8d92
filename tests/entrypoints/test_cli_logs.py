"""What the command line logs when it is asked to: events and scores, no text."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.entrypoints.cli import main
from rag_core.settings.logs import LOGGERS, start_logs

TEXT = "The notice period of the lease is ninety days. The tenant pays the rent on the first of the month."


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    start_logs({})
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.fixture
def paper(tmp_path: Path) -> str:
    path = tmp_path / "lease.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def test_given_verbose_when_refused_then_the_event_stands_there_with_its_score_and_no_text_does(paper, capsys):
    """S1-7, S4-22."""
    main(
        [
            "--verbose",
            "ask",
            "Who painted the ceiling of the chapel?",
            "--documents",
            paper,
            "--preset",
            "relevance-guard",
        ]
    )

    said = capsys.readouterr().err
    assert "contexts_not_relevant_to_query score=" in said
    assert "RAG Confidence Metadata {" in said
    for word in ("painted", "chapel", "ninety", "tenant", "lease"):
        assert word not in said


def test_given_json_when_asked_then_each_line_is_an_object(paper, capsys, monkeypatch):
    asked = ["ask", "What is the notice period of the lease?", "--documents", paper]
    main(asked)
    assert capsys.readouterr().err == ""

    monkeypatch.setenv("RAG_LOG", "json")
    main(asked)
    rows = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (about,) = [row for row in rows if row.get("event") == "rag_confidence_metadata"]
    assert about["confidenceLevel"] in ("high", "medium", "low", "insufficient")
    assert 0 <= about["scores"]["correctness"] <= 1
