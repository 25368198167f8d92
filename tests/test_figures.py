"""The program that measures what the sources promise: its counts are right, and the page has a row for each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, tools

from rag_core import replay
from rag_core.decision.measure import measure
from rag_core.settings import Settings
from reports.figures import PAGE, Asked, figures, table, written

TEXTS = (
    Text("contract", "The notice period is 30 days.\nThe price is 500 crowns a month."),
    Text("rules", "The canteen serves soup."),
)
QUESTIONS = (
    ("What is the notice period?", True),
    ("What does the canteen serve?", True),
    ("Who painted the Mona Lisa?", False),
)


@pytest.fixture(scope="module")
def corpus() -> MemoryCorpus:
    return MemoryCorpus(TEXTS, HashEmbedder())


@pytest.fixture(scope="module")
def asked(corpus: MemoryCorpus) -> list[Asked]:
    used, s = tools(), Settings.load()
    records = [(answerable, measure(question, s, corpus, used)) for question, answerable in QUESTIONS]
    return [Asked(answerable, found, replay(found, s)) for answerable, found in records]


def test_given_questions_then_each_figure_is_counted_from_what_was_decided(
    asked: list[Asked], corpus: MemoryCorpus
) -> None:
    """S0-33, S2-29: errors of both kinds, gates and citations; a share is of the questions that it is about."""
    rows = {(name, how): ours for name, _, ours, how in figures(asked, corpus)}
    answered = sum(one.decision.answered for one in asked if one.answerable)
    wrong = sum(one.decision.answered for one in asked if not one.answerable)

    assert rows["Answerable questions that are refused", "preset balanced, the default"].startswith(
        f"{2 - answered} of 2"
    )
    assert rows["Unanswerable questions that are answered", "preset balanced, the default"].startswith(f"{wrong} of 1")
    assert rows["Hallucinations prevented", "unanswerable questions that are refused"].startswith(f"{1 - wrong} of 1")
    top = [one.decision.scores["top_cosine"] for one in asked]
    refused = sum(score < 0.72 for one, score in zip(asked, top, strict=True) if one.answerable)
    passed = sum(score >= 0.72 for one, score in zip(asked, top, strict=True) if not one.answerable)
    assert refused > 0  # so that the row can be wrong
    right = rows["Hard gate at 0.72 is right: answerable questions pass, others do not", "preset compliance"]
    assert right.startswith(f"{3 - refused - passed} of 3")
    assert rows["Answerable questions that the hard gate at 0.72 refuses", "preset compliance"].startswith(
        f"{refused} of 2"
    )
    assert rows["Keyword guard lets answerable questions pass", "preset compliance"] == "2 of 2 (100 %)"
    quotes = sum(len(claim.evidence) for one in asked for claim in one.decision.claims)
    assert quotes > 0
    every = f"{quotes} of {quotes} (100 %)"
    assert rows["Citations that are right", "quotes that stand on the page they cite"] == every
    assert rows["Sentences with a citation", "default preset"] == every
    assert rows["Answers that rest on the context", "sentences that are their source word for word"] == every


def test_given_stages_then_each_time_is_that_of_its_own(asked: list[Asked], corpus: MemoryCorpus) -> None:
    """S1-8, S2-28: what the guard adds, the search, the checks and the draft."""
    stages = {name: 2.0**n for n, name in enumerate(asked[0].measurements.timings)}
    timed = [replace(one, measurements=replace(one.measurements, timings=stages)) for one in asked]
    rows = {name: ours for name, _, ours, _ in figures(timed, corpus)}

    for name, of in (
        ("A question without a model", tuple(stages)),
        ("What the embedding guard adds", ("relevance",)),
        ("Retrieval", ("embed", "retrieve")),
        ("Validation of an answer", ("audit",)),
        ("Generation", ("extract", "conflicts")),
    ):
        took = sum(stages[stage] for stage in of)
        assert rows[name] == f"{took:.1f} ms, P95 {took:.1f} ms", name


def test_given_a_page_that_holds_something_else_then_its_citations_are_not_counted_as_right(
    asked: list[Asked], corpus: MemoryCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2-29: the quote is looked up on the page again."""
    monkeypatch.setattr(MemoryCorpus, "page_text", lambda self, document, page: "Something else stands here." * 9)

    right = next(ours for name, _, ours, _ in figures(asked, corpus) if name == "Citations that are right")

    assert right.startswith("0 of ")


def test_given_the_page_then_it_has_a_row_for_each_figure_and_is_written_between_its_marks(
    asked: list[Asked], corpus: MemoryCorpus
) -> None:
    """S2-28, S4-23: each promise beside ours."""
    page, rows = PAGE.read_text(encoding="utf-8"), list(figures(asked, corpus))

    kept = [line.strip("| ").split(" | ") for line in written(page, rows).splitlines() if line.startswith("| ")]
    there = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    assert [(name, promised, how) for name, promised, _, how in there] == [
        (name, promised, how) for name, promised, _, how in kept
    ]
    assert table(rows) in written(page, rows)
    assert written(written(page, rows), rows) == written(page, rows)
    assert written(page, rows).splitlines()[0] == page.splitlines()[0]
