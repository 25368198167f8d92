"""The examples run as they stand: the first as a command, the others in this process, which has the models loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
from honest_model import honest
from model_server import ModelServer

from examples import generation_usage, ready_passages

ROOT = Path(__file__).resolve().parent.parent


def test_given_the_quickstart_when_run_then_it_answers_one_question_and_refuses_the_other() -> None:
    """S2-31: an example of use that works."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.quickstart"], cwd=ROOT, capture_output=True, text=True, timeout=200
    )

    assert done.returncode == 0, done.stderr
    assert "success: Every full-time employee has 25 days of paid vacation a year." in done.stdout
    assert "at min_correctness 1.0: low_confidence" in done.stdout
    assert done.stdout.count("success") == 1


def test_given_an_assistant_that_checks_its_own_words_when_run_then_it_says_what_is_supported_and_drops_the_rest() -> (
    None
):
    """A real server over standard input and output, and its tools `ask` and `judge`."""
    pytest.importorskip("mcp")
    command = [sys.executable, "-m", "examples.checked_assistant"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "said:    Full-time employees have 25 days of paid vacation a year.",
        "dropped: They have 35 days of paid vacation a year.",
    ]


def test_given_passages_of_another_retrieval_when_run_then_it_answers_one_question_and_refuses_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ready_passages.main()

    said = capsys.readouterr().out
    assert "success: Every full-time employee has 25 days of paid vacation a year. [1]\n  policy.pdf, Page 3" in said
    assert said.count("success") == 1
    assert said.count("not measured, rest_of_documents") == 2


def test_given_a_model_when_the_usage_of_generation_is_run_then_it_drafts_and_refuses_without_a_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """S2-31: an example of use with a model."""
    with ModelServer(honest) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RAG_MODEL", "scripted")

        code = generation_usage.main([])

        said = capsys.readouterr().out
        assert code == 0, said
        assert f"model: scripted at 127.0.0.1:{server.port}, 1 calls" in said
        assert "draft 1: shown" in said
        assert said.count("success") >= 1
        refused = said.partition("What is the capital of France?")[2]
        assert "low_confidence" in refused
        assert "draft" not in refused
        assert server.calls == 1


def test_given_no_model_when_the_usage_of_generation_is_run_then_it_says_what_to_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert generation_usage.main([]) == 1
    assert "docs/models.md" in capsys.readouterr().out
