"""Indexes in segments find what one index over all rows finds, and share what did not change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.adapters.index import flat
from rag_core.adapters.index.flat import FaissStore
from rag_core.errors import LibraryDamaged
from rag_core.retrieval import bm25 as words
from rag_core.retrieval import segments
from rag_core.retrieval.bm25 import Bm25Index, Terms, WordSegment

DIM = 8
WORDS = ["notice", "period", "price", "ना", "lhuta", "\x00", "𝄞", "\ud800", ""]
changes = st.lists(
    st.tuples(st.sampled_from(["add", "add", "delete", "replace"]), st.integers(0, 50), st.integers(1, 5)), max_size=12
)


@contextmanager
def small(least: int = 3, most: int = 8) -> Iterator[None]:
    """Segments of a few rows."""
    with (
        patch.object(segments, "MIN_ROWS", least),
        patch.object(flat, "MAX_ROWS", most),
        patch.object(words, "MAX_ROWS", most),
    ):
        yield


class Sides:
    """A library's documents, each as its vectors and its terms, and the pieces that the next version is made of."""

    def __init__(self) -> None:
        self.chance = np.random.default_rng(1)
        self.documents: list[tuple[np.ndarray, list[list[str]]]] = []

    def document(self, rows: int) -> tuple[np.ndarray, list[list[str]]]:
        drawn = self.chance.standard_normal((rows, DIM)).astype(np.float32)
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        return drawn, [[WORDS[number] for number in self.chance.integers(0, len(WORDS), 4)] for _ in range(rows)]

    def changed(self, what: str, at: int, rows: int) -> list[range | tuple[np.ndarray, list[list[str]]]]:
        ends = np.cumsum([0, *(len(vectors) for vectors, _ in self.documents)]).tolist()
        pieces = [range(a, b) for a, b in pairwise(ends)]
        new = self.document(rows)
        if what == "add" or not self.documents:
            self.documents.append(new)
            return [*pieces, new]
        at %= len(self.documents)
        put = [] if what == "delete" else [new]
        self.documents[at : at + 1] = put
        return [*pieces[:at], *put, *pieces[at + 1 :]]

    @property
    def vectors(self) -> np.ndarray:
        return np.concatenate([vectors for vectors, _ in self.documents])

    @property
    def terms(self) -> list[list[str]]:
        return [row for _, terms in self.documents for row in terms]


@given(steps=changes)
def test_given_any_changes_when_kept_and_opened_then_every_number_is_that_of_one_index_over_all(steps):
    sides, dense = Sides(), FaissStore(DIM)
    with small():
        vectors, lexical = dense.build(np.zeros((0, DIM), np.float32)), Bm25Index([])
        for version, step in enumerate(steps):
            pieces = sides.changed(*step)
            if not pieces:
                return
            vectors = dense.spliced(vectors, [piece if isinstance(piece, range) else piece[0] for piece in pieces])
            lexical = lexical.spliced([piece if isinstance(piece, range) else piece[1] for piece in pieces])
            if version % 2:  # a process that goes on, or another one
                vectors = dense.build(vectors.vectors(range(len(vectors))))
                lexical = Bm25Index([WordSegment.unpacked(memoryview(one.packed())) for one in lexical.segments])
        if not steps:
            return
        question, rows = sides.document(1)[0][0], range(len(sides.vectors))
        with small(most=1000):
            whole, whole_words = dense.build(sides.vectors), Bm25Index.of(sides.terms)
        assert len(whole.segments) == 1
        assert len(vectors.segments) <= 2 * len(rows) / 8 + 4, [len(one) for one in vectors.segments]
        assert np.array_equal(vectors.vectors(rows), sides.vectors)
        assert np.array_equal(vectors.vectors([0, len(rows) - 1, 0]), sides.vectors[[0, -1, 0]])
        for k, allowed in ((1, None), (7, None), (100, None), (5, [*rows][::2]), (5, []), (3, [len(rows) - 1, 0, 0])):
            assert vectors.search(question, k, allowed) == whole.search(question, k, allowed)
            assert lexical.search(WORDS, k, allowed) == whole_words.search(WORDS, k, allowed)
        asked = [*WORDS, "unknown", "notice"]
        assert lexical.scores(asked, [*rows, 0]) == whole_words.scores(asked, [*rows, 0])
        assert (
            set(lexical.vocabulary()) == set(whole_words.vocabulary()) == {term for row in sides.terms for term in row}
        )
        assert all(lexical.scores([term], rows) == whole_words.scores([term], rows) for term in lexical.vocabulary())


def test_given_many_documents_one_by_one_then_a_row_is_written_anew_a_few_times_and_not_with_each_of_them():
    drawn, store, written = Sides().document(400)[0], FaissStore(DIM), 0
    with small(least=3, most=256):
        index = store.build(drawn[:1])
        for count in range(1, 400):
            before, index = index, store.spliced(index, [range(count), drawn[count : count + 1]])
            written += sum(len(one) for one in index.segments if one not in before.segments)

    assert written <= 400 * 9  # as often as 256 can be halved, and once; with every document it would be 400 * 100
    assert len(index.segments) <= 10


@pytest.mark.parametrize("cut", [0, 1, 47, 60, -1])
def test_given_a_part_of_the_word_index_that_is_cut_short_when_read_back_then_it_is_damaged(cut):
    (part,) = Bm25Index.of([["notice", "period"], ["price"]]).segments
    data = part.packed()
    assert WordSegment.unpacked(memoryview(data)).postings("period")[0].tolist() == [0]
    with pytest.raises(LibraryDamaged):
        WordSegment.unpacked(memoryview(data)[:cut])


@pytest.mark.parametrize(("rows", "kept"), [(10, 64), (0, 64), (100, 20), (1000, 8)])
def test_given_a_larger_library_then_the_parts_of_fewer_terms_are_kept(monkeypatch, rows, kept):
    """A term that stands in every passage of a million takes eight megabytes."""
    monkeypatch.setattr(words, "KEPT_POSTINGS", 2000)

    assert Bm25Index.of([["notice"]] * rows)._kept.cache_info().maxsize == kept


def test_given_terms_when_looked_up_then_each_has_its_number_and_no_other_has_one():
    known = sorted({*WORDS, "noticed", "notic", "ž"})
    terms = Terms.of(known)

    assert [*terms] == known
    assert [terms[term] for term in known] == list(range(len(known)))
    assert [term in terms for term in ("a", "zzz", "ნ", "not")] == [False] * 4
    assert "a" not in Terms.of([])
