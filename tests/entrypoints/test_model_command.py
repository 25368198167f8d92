"""`python -m rag_core doctor` about language models: which are configured, and what works with each, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from model_server import Asked, ModelServer, Said, Status

from rag_core.entrypoints.commands.doctor import Finding, _models
from rag_core.settings import Settings

KEY = "sk-0123456789abcdefWXYZ"


def ready(asked: Asked) -> Any:
    return {"ready": "yes"} if asked.structured else "Yes."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(ready) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("RAG_MODEL", "small")
        yield running


def found(**values: str) -> list[Finding]:
    rows = list(_models(Settings.load(values=values)))
    assert KEY not in repr(rows)
    return rows


def test_given_a_server_when_examined_then_what_it_can_do_is_said_with_its_key_masked(server):
    (row,) = found()

    assert row.ok
    assert row.found.startswith(f"small at {server.base_url}, key: sk-…WXYZ. Without a schema: answers in ")
    assert "Structured outputs: answers in " in row.found
    assert row.found.endswith(" out).")
    assert [asked.schema for asked in server.asked] == ["", "Ready"]
    assert found(model="large")[0].found.startswith("large at")
    for said, schemas, words in (
        ("Yes.", "refuse", "Structured outputs: no; it will be asked without a schema."),
        ("Yes.", "ignore", "but not in the schema"),
        (Said("Well, let me", finish="length"), "honour", "cut off after 500 tokens"),
    ):
        server.play(said, schemas=schemas)
        assert words in found()[0].found

    server.play(Status(401, message=f"Incorrect key {KEY}"))
    (row,) = found()
    assert (row.ok, "did not accept the key (401)" in row.found, "Check the key" in row.remedy) == (False, True, True)


def test_given_a_second_server_that_is_down_or_no_model_then_that_is_said(server, monkeypatch):
    monkeypatch.setenv("RAG_FALLBACK_BASE_URL", "http://127.0.0.1:9/v1")
    first, second = found()

    assert (first.ok, second.ok) == (True, False)
    assert "small at http://127.0.0.1:9/v1, key: none." in second.found
    assert "small at 127.0.0.1:9 cannot be reached" in second.found
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RAG_MODEL", "RAG_FALLBACK_BASE_URL"):
        monkeypatch.setenv(name, "")
    assert found() == []
