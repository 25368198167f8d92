"""Versions of one document: a question that names a day is asked of those in force on it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from folding import each
from library_kit import HashEmbedder, library, text

from rag_core.decision.decide import decide
from rag_core.decision.tools import Tools
from rag_core.domain.documents import Metadata
from rag_core.domain.measurements import TYPED, Measurements
from rag_core.engine import Engine
from rag_core.settings import Settings
from rag_core.wiring import open_engine

TODAY = date(2026, 11, 29)
RULES = (
    "Every member pays a deposit of {} euros for a key to the boat house. Keys are handed out by the warden on "
    "Mondays. "
    "A key that is lost costs its holder the deposit."
)


Documents = dict[str, tuple[str, str, str]]  # {id: (title, date, text)}


def engine_over(folder: Path, documents: Documents) -> Engine:
    opened = library(folder)
    opened.add(
        [
            text(id, body, language="en", metadata=Metadata(title=title, date=stated))
            for id, (title, stated, body) in documents.items()
        ],
        Settings.load(),
    )
    return Engine(opened, Tools(HashEmbedder(), today=lambda: TODAY))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Over two versions of a document, and another one."""
    return engine_over(tmp_path_factory.mktemp("versions"), VERSIONS)


def searched(measurements: Measurements) -> list[str]:
    return sorted(measurements.library.names.values())


VERSIONS: Documents = {
    "old": ("Key rules 2024", "2024-01-01", RULES.format(20)),
    "new": ("Key rules 2026", "2026-03-01", RULES.format(25)),
    "other": ("House rules", "2020-01-01", "The house is closed in August."),
}


@each(
    ("question", "left"),
    [
        ("How high is the deposit for a key today?", ["new", "other"]),
        ("How high was the deposit for a key in 2024?", ["old", "other"]),
        ("How high was the deposit for a key in 2025?", ["old", "other"]),
        ("How high was the deposit for a key in March 2026?", ["new", "other"]),
        # neither was in force: nothing is left out
        (
            "How high was the deposit for a key in 2023?",
            ["new", "old", "other"],
        ),
        ("How high is the deposit for a key?", ["new", "old", "other"]),
    ],
)
def test_given_versions_of_a_document_when_a_day_is_asked_for_then_only_those_in_force_are_searched(
    engine: Engine, question: str, left: list[str]
) -> None:
    """S3-32: a question about a day."""
    found = engine.measure(question, Settings.load())

    assert found.question == question
    assert searched(found) == left
    notes = [note for note in decide(found).notes if note.startswith("Searched as of")]
    assert len(notes) == (3 - len(left))


def test_given_versions_when_asked_what_changed_then_each_is_measured_older_first(engine: Engine) -> None:
    found = engine.measure("What changed in the deposit for a key from 2024 to 2026?", Settings.load())

    assert found.other is not None
    assert sorted([searched(found), searched(found.other)]) == [["new", "other"], ["old", "other"]]


@pytest.mark.parametrize(
    "changed",
    [
        {
            "new": (
                "Minutes 2026",
                "2026-03-01",
                "The board chose Anna Hall as its chair and thanked the men who painted both boats last autumn.",
            )
        },
        {"new": ("Key rules 2026", "2024-01-01", RULES.format(25))},
        {"old": ("Minutes 2024", "2024-01-01", RULES.format(20))},
        {
            "old": ("Annual report 2024", "2024-01-01", RULES.format(20)),
            "new": ("Annual report 2026", "2026-03-01", RULES.format(25)),
        },
        {
            "old": ("HARBOUR_2024_10K", "2024-01-01", RULES.format(20)),
            "new": ("HARBOUR_2026_10K", "2026-03-01", RULES.format(25)),
        },
        {"new": ("Key rules", "", RULES.format(25))},
    ],
    ids=["another text", "one date", "another title", "reports", "filings", "no date"],
)
def test_given_documents_that_are_no_versions_then_a_day_leaves_none_out(tmp_path: Path, changed: Documents) -> None:
    if changed.get("new", ("",))[0].startswith("Minutes"):
        changed = {**changed, "old": ("Minutes 2024", "2024-01-01", RULES.format(20))}

    found = engine_over(tmp_path, VERSIONS | changed).measure(
        "How high is the deposit for a key today?", Settings.load()
    )

    assert searched(found) == ["new", "old", "other"]


def test_given_the_samples_when_asked_with_a_slip_then_the_newest_version_answers(sample_library: Path) -> None:
    typed = "How many vacatoin days do employees have today?"

    decision = open_engine(sample_library).ask(typed, Settings.load())

    assert decision.question == "How many vacation days do employees have?"
    assert (decision.value["text"], decision.metadata[TYPED]) == ("25 vacation days", typed)
    assert "Searched for: “How many vacation days do employees have?”" in decision.notes
    assert not decision.conflicts
