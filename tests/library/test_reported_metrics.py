"""The words that reports print for a metric: found by whole words, searched by, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from library_kit import HashEmbedder, library, text

from rag_core import Settings
from rag_core.decision.measure import measure
from rag_core.decision.tools import Tools
from rag_core.language import terms
from rag_core.library.stored.snapshot import Snapshot
from rag_core.retrieval.metrics import MAX_METRICS, _listed, reported

SETTINGS = Settings.load("open")
TEXTS = {
    "canteen": "The canteen spent 17 on plates, and the capex committee met there in the year.",
    "garden": "The garden has a pond.",
    "choir": "The choir sings on Fridays.",
    # the last one: what ties stays in this order
    "cash flows": "Purchases of property, plant and equipment were 4,120 in the year.",
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    made = library(tmp_path_factory.mktemp("metrics"), "one")
    assert not made.add([text(name, said, language="en") for name, said in TEXTS.items()], SETTINGS).problems
    return made.snapshot


@each(
    ("asked", "language", "holds"),
    [
        ("What was the capex in 2022?", "en", "purchases of property"),
        ("What was the CAPEX?", "en", "purchases of property"),
        ("How much did they spend on R&D?", "en", "research and development"),
        ("Is it a capital-intensive business?", "en", "total assets"),
        ("What is its days payable outstanding (DPO)?", "en", "accounts payable"),
        ("What stands in the income statement?", "en", "statements of operations"),
        ("Wie hoch war die Bruttomarge?", "de", "Bruttoergebnis"),
        ("Was steht in der GuV?", "de", "Gewinn- und Verlustrechnung"),
    ],
)
def test_given_a_metric_then_the_words_of_reports_are_found(asked: str, language: str, holds: str) -> None:
    """S3-27: people ask in other words than a report prints."""
    assert holds in reported(asked, language)


@each(
    ("asked", "language"),
    [
        ("Who is the chairman?", "en"),
        ("What does capexit mean?", "en"),
        ("Where is the gross marginal case?", "en"),
        ("", "en"),
        ("What was the capex?", "hi"),
        ("What was the capex?", "und"),
        ("How balanced is the sheet?", "en"),
    ],
)
def test_given_no_metric_or_no_list_then_nothing_is_found(asked: str, language: str) -> None:
    """Such a question is searched as before, so that no calibration changes."""
    assert reported(asked, language) == ""


@given(st.text(max_size=200), st.sampled_from(["en", "de", "cs", "und"]))
def test_given_any_text_then_what_is_found_is_of_the_list_and_bounded(asked: str, language: str) -> None:
    found = reported(asked, language)
    rest = found
    listed = [row.said for row in _listed().get(language, ())]
    for said in listed:
        rest = rest.replace(said, "", 1)
    assert not rest.strip(", ")
    assert sum(said in found for said in listed) <= 2 * MAX_METRICS


def test_given_every_entry_of_the_list_then_its_own_phrases_find_it() -> None:
    for language, rows in _listed().items():
        for row in rows:
            for phrase in row.asked.pattern.replace("\\", "").split("|"):
                asked = f"How about {phrase.strip()} here?"
                assert row.said in reported(asked, language), (language, phrase)


def test_given_a_metric_then_the_line_item_ranks_first_and_is_measured_as_asked(snapshot: Snapshot) -> None:
    """The added words order the passages; the cosine and lexical score that the calibrated scores read stay the
    question's own.
    """
    asked = "How much was the capital spending?"
    tools = Tools(HashEmbedder())
    found = measure(asked, SETTINGS, snapshot, tools)
    first = found.hits[0]
    assert first.passage.text == TEXTS["cash flows"]

    vector = tools.embedder.embed([asked])[0]
    row = next(i for i, passage in enumerate(snapshot.passages) if passage.id == first.passage.id)
    assert first.cosine == pytest.approx(float(snapshot.vectors.vectors([row])[0] @ vector), abs=1e-5)
    assert first.lexical == pytest.approx(snapshot.lexical.scores(terms(asked, "en"), [row])[0])


def test_given_no_metric_then_an_empty_list_finds_the_same(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "On which day does the choir sing?"
    before = measure(asked, SETTINGS, snapshot, Tools(HashEmbedder()))
    monkeypatch.setattr("rag_core.decision.find.reported", lambda question, language: "")
    after = measure(asked, SETTINGS, snapshot, Tools(HashEmbedder()))
    assert replace(before, timings={}) == replace(after, timings={})
