"""`ask` and `evaluate` on the command line with a language model, a real one to the client: a scripted server on this
machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from honest_model import draft, honest, refusal
from model_server import ModelServer, Status

from rag_core.entrypoints.cli import main
from rag_core.wiring import records

Run = Callable[..., tuple[int, str, str]]
SENTENCES = [
    f"The {thing} is inspected every {n} years by the operator of the plant, who keeps a written record of what was "
    f"found and done."
    for n, thing in enumerate(
        ("lease", "flow meter", "main pump", "relief valve", "boiler", "storage tank", "oil filter", "fire door"), 2
    )
]
TEXT = {"id": "plant", "title": "Plant", "lang": "en", "text": "\n\n".join(SENTENCES)}
QUESTION = "How often is the relief valve inspected?"
LABELLED = (
    f"question,answerable,answer\n{QUESTION},yes,every 5 years\nHow often is the boiler "
    f"inspected?,yes,every 6 years\nWho won?,no,\n"
)
# a model is asked about one short passage, and however sure the score is: what is tested here comes after that gate
DRAFTS = ("--set", "short_context_words=20", "--set", "correctness_mode=observe")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(honest) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-seen-anywhere-at-all")
        monkeypatch.setenv("RAG_MODEL", "scripted")
        yield running


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    found = {name: tmp_path / name for name in ("documents.jsonl", "labelled.csv", "report.json", "library")}
    found["documents.jsonl"].write_text(json.dumps(TEXT), encoding="utf-8")
    found["labelled.csv"].write_text(LABELLED, encoding="utf-8")
    return found


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], files: dict[str, Path]) -> Run:
    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(files.get(str(arg), arg)) for arg in args])
        captured = capsys.readouterr()
        assert "not-to-be-seen" not in captured.out + captured.err
        return code, captured.out, captured.err

    return call


def asked(run: Run, *more: object) -> tuple[int, str, str]:
    return run("ask", QUESTION, "--documents", "documents.jsonl", *DRAFTS, *more)


def test_given_a_configured_model_when_asked_then_the_command_says_who_drafted_and_what_it_took(run, server):
    """S0-22, S3-19: the drafter, its tokens and its time."""
    code, out, _ = asked(run)

    assert code == 0
    assert "every 5 years" in out.splitlines()[0]
    assert f"Drafted by scripted at 127.0.0.1:{server.port}." in out
    assert re.search(r"Calls of the model: 1, \d+ tokens, \d+ ms\.", out)
    assert re.search(r"draft 1 +shown", out)


def test_given_a_model_that_invents_when_asked_then_the_extract_stands_and_the_words_of_the_drafts_do_not(run, server):
    server.play(draft(("The relief valve is inspected every 77 years.", "1", SENTENCES[3])))

    _, out, _ = asked(run)
    _, told, _ = asked(run, "--json")

    assert "77" not in re.sub(r"\d+ (?:ms|tokens)|0\.\d+", "", out)  # 1779 ms and 0.77 are no words of a draft
    assert out.count("All 4 drafts of the model were rejected") == 1
    assert len(re.findall(r"draft \d +rejected: .*facts", out)) == 4
    decision = json.loads(told)
    assert [one["outcome"] for one in decision["attempts"]] == ["rejected"] * 4
    assert "77 years" in decision["attempts"][0]["claims"][0]["text"]
    assert "77 years" not in json.dumps({name: value for name, value in decision.items() if name != "attempts"})


def test_given_a_first_endpoint_that_is_down_then_the_second_drafts_and_it_says_why(run, server, monkeypatch):
    """S0-22: the order of drafters."""
    server.play(Status(401, message="no"))
    with ModelServer(honest) as second:
        monkeypatch.setenv("RAG_FALLBACK_BASE_URL", second.base_url)
        monkeypatch.setenv("RAG_FALLBACK_MODEL", "spare")

        _, out, _ = asked(run)

        assert f"Drafted by spare at 127.0.0.1:{second.port}." in out
        assert re.search(rf"Asked before it: .*127\.0\.0\.1:{server.port}", out)


def test_given_no_model_when_one_is_to_draft_then_one_clear_sentence_says_what_to_set(run: Run) -> None:
    _, out, _ = asked(run, "--set", "drafter=model")
    code, refused, _ = asked(run, "--set", "drafter=model", "--set", "fallback_extract=false")

    for said in (out, refused):
        assert "No language model is configured: set RAG_MODEL" in said
        assert "docs/models.md" in said
    assert "every 5 years" in out  # the extract
    assert "every 5 years" not in refused.split("retrieved")[0].splitlines()[0]
    assert code == 0


def test_given_a_model_that_declines_when_asked_then_it_is_a_refusal_that_shows_the_place(run, server):
    server.play(refusal("The passages are about something else."))

    code, out, _ = asked(run, "--set", "high_answerability=1")  # a surer extract would stand in

    assert code == 0
    assert "every 5 years" not in out.splitlines()[0]
    assert "This may be it:" in out
    assert "the language model found no answer" in out
    assert "something else" not in out


# evaluate


def evaluated(run: Run, *more: object) -> tuple[int, str, str]:
    return run(
        "evaluate", "--questions", "labelled.csv", "--library", "library", "--out", "report.json", *DRAFTS, *more
    )


def test_given_a_model_when_a_set_is_evaluated_then_a_budget_stops_it(run, server, files):
    code, _, err = evaluated(
        run, "--documents", "documents.jsonl", "--set", "correctness_mode=observe", "--budget-tokens", 1
    )

    assert code == 1
    assert "Stopped: the budget of 1 tokens is spent, 1 of 3 questions measured." in err
    report = json.loads(files["report.json"].read_text(encoding="utf-8"))
    assert report["questions"] == 1
    assert report["settings"]["model"] == "scripted"
    first = report["model_tokens"]
    assert f"The language model took {first} tokens." in err

    code, out, err = evaluated(run, "--set", "correctness_mode=observe")

    assert code == 0
    assert "3 questions, 0 of them could not be measured." in out
    assert json.loads(files["report.json"].read_text(encoding="utf-8"))["model_tokens"] > first
    (head,) = records(files["library"], "default").runs()
    assert (head.done, head.total) == (3, 3)


def test_given_a_model_of_the_environment_when_a_set_is_evaluated_twice_then_the_run_is_the_same(run, server, files):
    first = evaluated(
        run,
        "--documents",
        "documents.jsonl",
        "--set",
        "drafter=model",
        "--set",
        "correctness_mode=observe",
        "--budget-tokens",
        1,
    )

    again = evaluated(run, "--set", "drafter=model", "--set", "correctness_mode=observe")

    assert (first[0], again[0]) == (1, 0)
    assert len(records(files["library"], "default").runs()) == 1
    assert json.loads(files["report.json"].read_text(encoding="utf-8"))["settings"]["model"] == "scripted"


def test_given_a_set_without_a_model_then_no_tokens_are_told_and_no_budget_below_one_is_taken(run, server, capsys):
    _, _, err = evaluated(run, "--documents", "documents.jsonl", "--set", "drafter=extract")

    assert "tokens" not in err
    assert server.calls == 0

    with pytest.raises(SystemExit) as caught:
        evaluated(run, "--budget-tokens", 0)
    assert caught.value.code == 2


def test_given_no_model_when_a_set_is_evaluated_with_one_then_the_error_says_what_to_set(run, files):
    code, _, err = evaluated(run, "--documents", "documents.jsonl", "--set", "drafter=model")

    assert code == 1
    assert "none is configured" in err
    assert not files["report.json"].exists()
