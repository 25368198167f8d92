"""`python -m rag_core model`: which endpoints are configured, and what works with each, asked over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from model_server import Asked, ModelServer, Said, Status

from rag_core.entrypoints.cli import main

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


def run(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = main(["model", *options])
    said = capsys.readouterr()
    assert KEY not in said.out + said.err
    return code, said.out, said.err


def test_given_a_server_when_examined_then_what_it_can_do_is_said_with_its_key_masked(server, capsys):
    code, out, _ = run(capsys)

    first, words, schema = out.splitlines()
    assert code == 0
    assert first == f"1. small at {server.base_url}, key: sk-…WXYZ"
    assert words.startswith("   without a schema: answers in ")
    assert schema.startswith("   structured outputs: answers in ")
    assert schema.endswith(" out)")
    assert [asked.schema for asked in server.asked] == ["", "Ready"]
    assert run(capsys, "--set", "model=large")[1].startswith("1. large at")

    server.play("Yes.", schemas="refuse")
    code, out, _ = run(capsys)
    assert (code, "structured outputs: no; it will be asked without a schema." in out) == (0, True)

    server.play("Yes.", schemas="ignore")
    assert "but not in the schema" in run(capsys)[1]

    server.play(Said("Well, let me", finish="length"))
    assert "cut off after 500 tokens" in run(capsys)[1]

    server.play(Status(401, message=f"Incorrect key {KEY}"))

    code, out, _ = run(capsys)
    assert code == 1
    assert "did not accept the key (401). Check the key" in out


def test_given_a_second_server_that_is_down_then_both_are_reported_and_the_code_is_1(server, capsys, monkeypatch):
    monkeypatch.setenv("RAG_FALLBACK_BASE_URL", "http://127.0.0.1:9/v1")
    code, out, _ = run(capsys)

    assert code == 1
    assert "2. small at http://127.0.0.1:9/v1, key: none" in out
    assert "small at 127.0.0.1:9 cannot be reached" in out


def test_given_no_model_or_half_of_what_is_needed_then_it_says_what_to_set(capsys, monkeypatch):
    code, out, err = run(capsys)

    assert (code, out) == (1, "")
    assert "No language model is configured" in err
    assert "RAG_MODEL" in err

    monkeypatch.setenv("RAG_MODEL", "small")

    code, _, err = run(capsys)
    assert code == 2
    assert "nothing says where it is" in err
