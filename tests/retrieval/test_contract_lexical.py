"""The contract of a `LexicalIndex`, with BM25 written out as the oracle."""

from __future__ import annotations

import math
from collections import Counter

import bm25s
import numpy as np
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


def built(rows: list[list[str]]) -> Bm25Index:
    return Bm25Index.of(rows)


def idf(term: str, rows: list[list[str]]) -> float:
    holding = sum(term in row for row in rows)
    return math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))


def bm25(terms: list[str], row: list[str], rows: list[list[str]]) -> float:
    """Lucene's form: no factor (k1 + 1), so that a score never exceeds the sum of the terms' weights."""
    mean = sum(map(len, rows)) / len(rows)
    counts = Counter(row)
    return sum(idf(t, rows) * counts[t] / (counts[t] + K1 * (1 - B + B * len(row) / mean)) for t in terms if counts[t])


@given(
    rows=rows_of_words,
    terms=st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5),
    k=st.integers(1, 15),
    mask=st.integers(0, 4095),
)
def test_given_any_passages_when_searched_then_scores_and_order_are_those_of_bm25(
    rows: list[list[str]], terms: list[str], k: int, mask: int
) -> None:
    index = built(rows)
    allowed = [row for row in range(len(rows)) if mask >> row & 1]
    expected = [bm25(terms, row, rows) for row in rows]

    assert index.scores(terms, list(range(len(rows)))) == pytest.approx(expected, abs=1e-4)
    for restriction in (None, allowed):
        found = index.search(terms, k, restriction)
        pool = range(len(rows)) if restriction is None else restriction
        assert {row for row, _ in found} <= set(pool)
        assert len(found) == min(k, sum(expected[row] > 0 for row in pool))
        assert all(score == pytest.approx(expected[row], abs=1e-4) and score > 0 for row, score in found)
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
        rest = [expected[row] for row in pool if row not in {r for r, _ in found}]
        assert not found or max(rest, default=0.0) <= found[-1][1] + 1e-4


@given(rows=rows_of_words, terms=st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=6))
def test_given_any_passages_then_scores_are_those_of_bm25s_bit_by_bit(rows: list[list[str]], terms: list[str]) -> None:
    rows = [["notice", "price"], *rows]
    model = bm25s.BM25(k1=K1, b=B, method="lucene")
    model.index([list(row) for row in rows], show_progress=False)
    known = [term for term in terms if any(term in row for row in rows)]

    expected = model.get_scores(known) if known else np.zeros(len(rows), np.float32)
    assert built(rows).scores(terms, range(len(rows))) == [float(score) for score in expected]


def test_given_many_equal_passages_then_ties_are_broken_by_row_at_the_cut_too() -> None:
    index = built([["notice", "period"]] * 300)

    assert [row for row, _ in index.search(["notice"], 7, None)] == list(range(7))
    assert [row for row, _ in index.search(["notice"], 3, [250, 20, 30, 20, 299])] == [20, 30, 250]


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_given_no_words_at_all_then_nothing_is_found(rows: list[list[str]]) -> None:
    index = built(rows)
    assert index.search(["notice"], 5, None) == []
    assert index.scores(["notice"], range(len(rows))) == [0.0] * len(rows)


def test_given_nothing_wanted_or_only_unknown_words_then_nothing_is_found() -> None:
    index = built(ROWS)

    assert index.search([], 5, None) == index.search(["unknown"], 5, None) == index.search(["notice"], 0, None) == []
    assert index.search(["", "\x00"], 5, None) == []
