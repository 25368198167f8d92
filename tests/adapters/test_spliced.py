"""An index that is joined from what stays and what is new is the one that is built from everything; its words are those
of bm25s.
"""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_core.adapters.index.bm25 import K1, B, Bm25Index
from rag_core.adapters.index.flat import FaissStore

WORDS = ("notice", "period", "price", "ना", "\x00")
documents = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5), min_size=1, max_size=4), min_size=1, max_size=6
)
changes = st.lists(st.sampled_from(["keep", "drop", "new"]), min_size=6, max_size=6)
Rows = list[list[str]]


def pieces(parts: Sequence[Rows], done: Sequence[str]) -> tuple[list[range | Rows], Rows]:
    """The pieces that the next version is joined from, and all of its rows."""
    found: list[range | Rows] = []
    rows: Rows = []
    at = 0
    for part, what in zip(parts, done, strict=False):
        if what != "drop":
            found.append(range(at, at + len(part)) if what == "keep" else [[*row, "new"] for row in part])
            rows += part if what == "keep" else [[*row, "new"] for row in part]
        at += len(part)
    return found, rows


@given(parts=documents, done=changes, question=st.lists(st.sampled_from([*WORDS, "new", "unknown"]), max_size=4))
def test_given_any_change_when_words_are_joined_then_every_number_is_that_of_building_all_anew(parts, done, question):
    joined, rows = pieces(parts, done)
    index = Bm25Index.of([row for part in parts for row in part]).spliced(joined)
    built = Bm25Index.of(rows)

    assert len(index) == len(rows)
    assert set(index.vocabulary()) == set(built.vocabulary()) == {term for row in rows for term in row}
    assert index.scores(question, range(len(rows))) == built.scores(question, range(len(rows)))
    every = range(len(rows))
    assert all(index.scores([term], every) == built.scores([term], every) for term in index.vocabulary())


@given(parts=documents, question=st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=6))
def test_given_any_passages_then_scores_are_those_of_bm25s_bit_by_bit(parts, question):
    rows = [["notice", "price"], *(row for part in parts for row in part)]
    model = bm25s.BM25(k1=K1, b=B, method="lucene")
    model.index([list(row) for row in rows], show_progress=False)
    known = [term for term in question if any(term in row for row in rows)]

    expected = model.get_scores(known) if known else np.zeros(len(rows), np.float32)
    assert Bm25Index.of(rows).scores(question, range(len(rows))) == [float(score) for score in expected]


def test_given_vectors_when_they_are_joined_then_every_bit_is_kept_and_the_old_index_is_as_it_was():
    drawn = np.random.default_rng(1).standard_normal((9, 4)).astype(np.float32)
    store = FaissStore(4)
    before = store.build(drawn[:6])

    index = store.spliced(before, [range(2), drawn[6:], range(4, 6)])

    rows = [0, 1, 6, 7, 8, 4, 5]
    assert index is not None
    assert np.array_equal(index.vectors(range(7)), drawn[rows])
    assert index.search(drawn[0], 7, None) == store.build(drawn[rows]).search(drawn[0], 7, None)
    assert np.array_equal(before.vectors(range(6)), drawn[:6])
    first = store.spliced(store.build(np.zeros((0, 0), np.float32)), [drawn])
    assert first is not None
    assert np.array_equal(first.vectors(range(9)), drawn)
