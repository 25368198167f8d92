"""A question that names a long document by its title searches that document once more; everything else is searched as
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, settings
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.language import terms
from rag_core.retrieval.hybrid import Ranking, retrieve
from rag_core.retrieval.titled import LONG, titled, titled_rows

EMBEDDER = HashEmbedder()


def report(number: int) -> str:
    """A report of `LONG` lines that never says whose it is."""
    return (
        "\n".join(f"Item {number * 1000 + i} of the report is {i}." for i in range(LONG - 1))
        + "\nThe tax rate of the year was 23 %."
    )


CORPUS = MemoryCorpus(
    [
        Text("HARBOURLIGHT_2022_10K", report(1)),
        Text("TINWHISTLE_2022_10K", report(2)),
        Text("QVX_HEALTHCARE_2022", report(3)),
        Text("SHORTLETTER_2022", "The tax rate of the year was 19 %."),
    ],
    EMBEDDER,
)


def of(rows: Sequence[int]) -> set[str]:
    return {CORPUS.passages[row].document for row in rows}


@each(
    ("named", "document"),
    [
        (("Tinwhistle",), "TINWHISTLE_2022_10K"),
        (("Harbour Light", "2022"), "HARBOURLIGHT_2022_10K"),
        (("Was TINWHISTLE",), "TINWHISTLE_2022_10K"),
        (("QVX",), "QVX_HEALTHCARE_2022"),
        (("QVX Healthcare",), "QVX_HEALTHCARE_2022"),
    ],
)
def test_given_a_name_of_a_long_document_then_its_rows_are_found(named: tuple[str, ...], document: str) -> None:
    """S3-27: the pages of another firm's report stand before those of the firm that is asked about."""
    found = titled_rows(named, "en", CORPUS, None)
    assert of(found) == {document}
    assert len(found) == LONG


@each(
    "named",
    [
        (),
        ("2022",),
        ("10K",),
        ("Tin",),
        ("Whistle",),
        ("Shortletter",),
        ("Nobody",),
        ("Qvx",),
        ("Harbour",),
        ("TINWHISTLE 2022",),
        ("",),
    ],
)
def test_given_a_year_a_part_of_a_name_or_a_short_document_then_nothing_is_found(named: tuple[str, ...]) -> None:
    assert titled_rows(named, "en", CORPUS, None) == []


def test_given_that_all_that_is_searched_is_named_then_nothing_is_ranked_twice() -> None:
    rows = CORPUS.rows(["TINWHISTLE_2022_10K"], {})
    assert titled_rows(("Tinwhistle",), "en", CORPUS, rows) == []


def test_given_chosen_documents_then_no_other_is_found_by_its_name() -> None:
    rows = CORPUS.rows(["HARBOURLIGHT_2022_10K", "QVX_HEALTHCARE_2022"], {})
    assert titled_rows(("Tinwhistle",), "en", CORPUS, rows) == []
    assert of(titled_rows(("Tinwhistle", "QVX"), "en", CORPUS, rows)) == {"QVX_HEALTHCARE_2022"}


@given(st.lists(st.text(max_size=12), max_size=4))
def test_given_any_names_then_the_rows_are_of_long_documents_and_ascend(named: list[str]) -> None:
    found = titled_rows(tuple(named), "en", CORPUS, None)
    assert found == sorted(set(found))
    assert "SHORTLETTER_2022" not in of(found)
    assert len(found) < len(CORPUS.passages)


def ask(titled: Sequence[int]) -> Ranking:
    question = "How high was the tax rate?"
    return retrieve(question, EMBEDDER.embed([question])[0], terms(question, "en"), CORPUS, settings(), titled=titled)


@each("name", ["Tinwhistle", "Harbourlight", "QVX"])
def test_given_a_named_document_then_its_passage_ranks_before_equal_ones(name: str) -> None:
    titled = titled_rows((name,), "en", CORPUS, None)
    first = ask(titled).hits[0]
    assert first.passage.document in of(titled)
    assert "23 %" in first.passage.text


def test_given_none_named_then_the_ranking_is_as_before() -> None:
    plain = ask(())
    assert plain.hits[0].score == pytest.approx(
        sum(0.5 / (60 + rank) for rank in (plain.hits[0].dense_rank, plain.hits[0].lexical_rank))
    )
    assert of(plain.rows[:4]) == {document.id for document in CORPUS.documents}


def test_given_rows_that_may_be_found_then_a_named_one_is_among_them() -> None:
    allowed = CORPUS.rows(["HARBOURLIGHT_2022_10K", "TINWHISTLE_2022_10K"], {})
    question = "What was the tax rate of Tinwhistle?"
    titled = titled_rows(("Tinwhistle",), "en", CORPUS, allowed)
    found = retrieve(
        question, EMBEDDER.embed([question])[0], terms(question, "en"), CORPUS, settings(), allowed, titled=titled
    )
    assert allowed is not None
    assert set(found.candidates) <= set(allowed)


@each(
    ("named", "other", "another"),
    [
        (("Tinwhistle",), "HARBOURLIGHT_2022_10K", True),
        (("Tinwhistle",), "TINWHISTLE_2022_10K", False),
        (("Tinwhistle", "Harbour Light"), "HARBOURLIGHT_2022_10K", False),
        (("Shortletter",), "HARBOURLIGHT_2022_10K", False),
        ((), "HARBOURLIGHT_2022_10K", False),
    ],
)
def test_given_a_long_document_named_then_others_are_told(named: tuple[str, ...], other: str, another: bool) -> None:
    passage = next(one for one in CORPUS.passages if one.document == other)
    assert titled(named, "en", CORPUS).is_another(passage) is another


def test_given_a_passage_that_speaks_of_the_name_then_it_is_not_another_documents() -> None:
    passage = next(one for one in CORPUS.passages if one.document == "HARBOURLIGHT_2022_10K")
    speaks = replace(passage, text=f"{passage.text} Tinwhistle was bought.")
    assert not titled(("Tinwhistle",), "en", CORPUS).is_another(speaks)
