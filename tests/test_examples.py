"""The examples run as they stand."""

import os
import subprocess
import sys
from pathlib import Path

from honest_model import honest
from model_server import ModelServer

ROOT = Path(__file__).resolve().parent.parent


def test_given_the_quickstart_when_run_then_it_answers_one_question_and_refuses_the_other() -> None:
    """S2-31: an example of use that works."""
    done = subprocess.run([sys.executable, "-m", "examples.quickstart"], cwd=ROOT, capture_output=True, text=True, timeout=200)

    assert done.returncode == 0, done.stderr
    assert "success: Every full-time employee has 25 days of paid vacation a year." in done.stdout
    assert "at min_correctness 1.0: low_confidence" in done.stdout
    assert done.stdout.count("success") == 1


def test_given_passages_of_another_retrieval_when_run_then_it_answers_one_question_and_refuses_the_other() -> None:
    done = subprocess.run([sys.executable, "-m", "examples.ready_passages"], cwd=ROOT, capture_output=True, text=True, timeout=200)

    assert done.returncode == 0, done.stderr
    assert "success: Every full-time employee has 25 days of paid vacation a year. [1]\n  policy.pdf, Page 3" in done.stdout
    assert done.stdout.count("success") == 1
    assert done.stdout.count("not measured, rest_of_documents") == 2


def test_given_a_model_when_the_usage_of_generation_is_run_then_it_drafts_and_refuses_without_a_call() -> None:
    """S2-31: an example of use with a model."""
    with ModelServer(honest) as server:
        environment = {**os.environ, "OPENAI_BASE_URL": server.base_url, "RAG_MODEL": "scripted"}
        command = [sys.executable, "-m", "examples.generation_usage"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, env=environment)

        assert done.returncode == 0, done.stdout + done.stderr
        assert f"model: scripted at 127.0.0.1:{server.port}, 1 calls" in done.stdout
        assert "draft 1: shown" in done.stdout
        assert done.stdout.count("success") >= 1
        refused = done.stdout.partition("What is the capital of France?")[2]
        assert "low_confidence" in refused
        assert "draft" not in refused
        assert server.calls == 1


def test_given_no_model_when_the_usage_of_generation_is_run_then_it_says_what_to_set() -> None:
    done = subprocess.run([sys.executable, "-m", "examples.generation_usage"], cwd=ROOT, capture_output=True, text=True, timeout=200)

    assert done.returncode == 1
    assert "docs/models.md" in done.stdout
