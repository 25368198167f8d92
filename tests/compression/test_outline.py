"""The outline of documents: their headings as printed, each once, in order, with their places."""

from __future__ import annotations

import pytest
from builders import HashEmbedder, MemoryCorpus, Text
from builders import passage as passage_of

from rag_core.compression import citing
from rag_core.compression.citing import MAX_HEADINGS, outline
from rag_core.domain.documents import Span
from rag_core.domain.passages import Piece, Role

PAGE = "Lease\n1 Rent\nThe rent is 900 euros.\n2 Animals\nDogs are free.\n"


def corpus(page: str, *headings: str, repeated: int = 1) -> MemoryCorpus:
    """A document of one page whose passage, or several alike, has these headings."""
    made = MemoryCorpus([Text("d1", page)] * repeated, HashEmbedder())
    pieces = tuple(
        Piece(Role.HEADING, (Span(1, at, at + len(one)),)) for one in headings if (at := page.index(one)) >= 0
    )
    made.passages = [passage_of(n, page, pieces=pieces) for n in range(1, repeated + 1)]
    return made


def test_given_headings_in_any_passages_then_each_is_quoted_once_in_the_order_of_the_pages() -> None:
    found = outline(corpus(PAGE, "2 Animals", "Lease", "1 Rent", repeated=2), None).values()
    assert [(one.excerpt, one.page, one.spans[0].start) for one in found] == [
        ("Lease", 1, 0),
        ("1 Rent", 1, 6),
        ("2 Animals", 1, 36),
    ]


def test_given_what_is_no_heading_or_has_no_letter_then_it_is_left_out() -> None:
    assert [one.excerpt for one in outline(corpus("***\nRent\n", "***", "Rent"), None).values()] == ["Rent"]


def test_given_many_headings_or_a_large_collection_then_the_list_stays_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citing, "MAX_PASSAGES", 3)
    page = "\n".join(f"Heading {number:03}" for number in range(MAX_HEADINGS + 5))
    assert len(outline(corpus(page, *page.split("\n")), None)) == MAX_HEADINGS
    assert outline(corpus(PAGE, "1 Rent", repeated=4), None) == {}
    assert len(outline(corpus(PAGE, "1 Rent", repeated=4), [0])) == 1


def test_given_a_document_without_headings_then_it_is_told_by_how_its_passages_begin() -> None:
    page = "The bees of Wend fly until dusk. They like clover.\n"
    assert [one.excerpt for one in outline(corpus(page), None).values()] == ["The bees of Wend fly until dusk."]
    assert [one.excerpt for one in outline(corpus(PAGE, "Lease"), None).values()] == ["Lease"]
