"""The contract of a `LexicalIndex`, with bm25s as the oracle."""

from __future__ import annotations

import bm25s
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.retrieval.bm25 import K1, B, Bm25Index

WORDS = ("notice", "period", "price", "supplier", "ना", "lhuta", "-", "'); DROP TABLE words; --", "%s\x00")
rows_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=12)
ROWS = [
    ["notice", "period"],
    ["price"],
    ["notice", "price", "price"],
    [],
    ["supplier", "notice", "notice", "notice", "period"],
]


def bm25(terms: list[str], rows: list[list[str]]) -> list[float]:
    """The scores of bm25s: Lucene's form, without a factor (k1 + 1)."""
    model = bm25s.BM25(k1=K1, b=B, method="lucene")
    model.index([list(row) for row in rows], show_progress=False)
    known = [term for term in terms if any(term in row for row in rows)]
    return [float(score) for score in model.get_scores(known)] if known else [0.0] * len(rows)


@given(
    rows=rows_of_words,
    terms=st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=6),
    k=st.integers(1, 15),
    mask=st.integers(0, 4095),
)
def test_given_any_passages_then_scores_and_order_are_those_of_bm25s_bit_by_bit(
    rows: list[list[str]], terms: list[str], k: int, mask: int
) -> None:
    rows = [["notice", "price"], *rows]
    index, expected = Bm25Index.of(rows), bm25(terms, rows)

    assert index.scores(terms, list(range(len(rows)))) == expected
    for pool in (None, [row for row in range(len(rows)) if mask >> row & 1]):
        every = [(row, expected[row]) for row in (range(len(rows)) if pool is None else pool) if expected[row] > 0]
        assert index.search(terms, k, pool) == sorted(every, key=lambda pair: (-pair[1], pair[0]))[:k]


def test_given_many_equal_passages_then_ties_are_broken_by_row_at_the_cut_too() -> None:
    index = Bm25Index.of([["notice", "period"]] * 300)

    assert [row for row, _ in index.search(["notice"], 7, None)] == list(range(7))
    assert [row for row, _ in index.search(["notice"], 3, [250, 20, 30, 20, 299])] == [20, 30, 250]


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_given_no_words_at_all_then_nothing_is_found(rows: list[list[str]]) -> None:
    index = Bm25Index.of(rows)
    assert index.search(["notice"], 5, None) == []
    assert index.scores(["notice"], range(len(rows))) == [0.0] * len(rows)


def test_given_nothing_wanted_or_only_unknown_words_then_nothing_is_found() -> None:
    index = Bm25Index.of(ROWS)

    assert index.search([], 5, None) == index.search(["unknown"], 5, None) == index.search(["notice"], 0, None) == []
    assert index.search(["", "\x00"], 5, None) == []
