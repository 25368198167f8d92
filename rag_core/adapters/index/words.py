"""BM25 over our own terms, from how often each passage holds each term. Parts of scores are worked out when a question asks for them.

A change of the collection changes the weight of every word. So an index that stores scores has to be made anew with every document; one
that stores counts is joined from what stays and what is new. The arithmetic is that of bm25s, number by number, and a test compares them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

K1, B = 1.5, 0.75  # bm25s' defaults, the usual values of Robertson's BM25
KEPT_TERMS = 64  # whose parts of scores are kept: one question asks for the same few terms several times

Whole = NDArray[np.int64]
Short = NDArray[np.int32]


class Bm25Index:
    """A `LexicalIndex`. Immutable, so threads may share it.

    Args:
        columns: the number of each term, from 0.
        starts: where the postings of each term begin, shape (terms + 1,).
        rows: the passages that hold a term, ascending, one term after another, shape (postings,).
        counts: how often each of them holds it, of the same shape.
        lengths: the terms of each passage, shape (passages,).
    """

    def __init__(self, columns: Mapping[str, int], starts: Whole, rows: Short, counts: Short, lengths: Short) -> None:
        self.columns, self.starts, self.rows, self.counts, self.lengths = columns, starts, rows, counts, lengths
        self._kept = lru_cache(KEPT_TERMS)(self._part)

    @classmethod
    def of(cls, terms: Sequence[Sequence[str]]) -> Bm25Index:
        """The index over the terms of each passage, in row order."""
        nothing = np.zeros(0, np.int32)
        return cls({}, np.zeros(1, np.int64), nothing, nothing, nothing).spliced([terms])

    def spliced(self, pieces: Sequence[range | Sequence[Sequence[str]]]) -> Bm25Index:
        """The index over these pieces in their order: rows of this one, each at most once, or the terms of new passages."""
        total = sum(map(len, pieces))
        columns, lengths = dict(self.columns), np.zeros(total, np.int32)
        target = np.full(len(self), -1, np.int64)  # where each of our rows goes; -1 for nowhere
        keys, counts, at = [], [], 0
        for piece in pieces:
            if isinstance(piece, range):
                target[piece.start : piece.stop] = np.arange(at, at + len(piece))
                lengths[at : at + len(piece)] = self.lengths[piece.start : piece.stop]
            else:
                lengths[at : at + len(piece)] = [len(row) for row in piece]
                numbers = (columns.setdefault(term, len(columns)) for row in piece for term in row)
                there = np.repeat(np.arange(at, at + len(piece)), lengths[at : at + len(piece)])
                found, many = np.unique(np.fromiter(numbers, np.int64, len(there)) * total + there, return_counts=True)
                keys.append(found)
                counts.append(many.astype(np.int32))
            at += len(piece)
        moved = target[self.rows]
        stays = moved >= 0
        keys.append((np.repeat(np.arange(len(self.columns)), np.diff(self.starts)) * total + moved)[stays])
        counts.append(self.counts[stays])
        every = np.concatenate(keys)
        order = np.argsort(every, kind="stable")  # the runs are sorted already: they are merged
        return _joined(columns, every[order], np.concatenate(counts)[order], lengths)

    def scores(self, terms: Sequence[str], rows: Sequence[int]) -> list[float]:
        """The BM25 score of each of these rows."""
        every = self._scores(terms)
        return [float(every[row]) for row in rows]

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """The BM25 score of every row, shape (rows,); a term that occurs twice in the question counts twice."""
        scores = np.zeros(len(self), dtype=np.float32)
        for term in terms:
            if term in self.columns:
                scores[self._rows_of(term)] += self._kept(term)
        return scores

    def search(self, terms: Sequence[str], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, score > 0), best first, equal scores by row; only rows in `allowed` when given."""
        return best_rows(self._scores(terms), k, allowed)

    def idf(self, terms: Sequence[str]) -> list[float]:
        """Lucene's form, as bm25s uses; an unknown term gets the maximum (df = 0)."""
        return [idf(len(self), self.document_frequency(term)) for term in terms]

    def vocabulary(self) -> Collection[str]:
        """The terms of all rows."""
        return self.columns.keys()

    def document_frequency(self, term: str) -> int:
        """How many rows hold the term."""
        return len(self._rows_of(term)) if term in self.columns else 0

    def postings(self) -> Iterator[tuple[str, Short, NDArray[np.float32]]]:
        """Each term with the rows that hold it, ascending, and the part that it adds to the score of each."""
        return ((term, self._rows_of(term), self._part(term)) for term in self.columns)

    def __len__(self) -> int:
        return len(self.lengths)

    def _rows_of(self, term: str) -> Short:
        return self.rows[slice(*self.starts[self.columns[term] :][:2])]

    def _part(self, term: str) -> NDArray[np.float32]:
        counts = self.counts[slice(*self.starts[self.columns[term] :][:2])].astype(np.float64)
        weight = np.float64(np.float32(idf(len(self), len(counts))))  # bm25s keeps it in float32, and multiplies in float64
        part: NDArray[np.float32] = (weight * (counts / (self._damping[self._rows_of(term)] + counts))).astype(np.float32)
        return part

    @cached_property
    def _damping(self) -> NDArray[np.float64]:
        """The number that a count is set against; it grows with the length of its passage. Shape (rows,); some row has terms."""
        damping: NDArray[np.float64] = K1 * ((1 - B) + B * self.lengths / self.lengths.mean())
        return damping


def _joined(columns: Mapping[str, int], keys: Whole, counts: Short, lengths: Short) -> Bm25Index:
    """The index of ascending keys (term * passages + passage), without the terms that no passage holds any more."""
    holding = np.bincount(keys // max(1, len(lengths)), minlength=len(columns))
    starts = np.concatenate([[0], np.cumsum(holding[holding > 0])])
    if not holding.all():
        held = (term for term, number in columns.items() if holding[number])
        columns = {term: number for number, term in enumerate(held)}
    return Bm25Index(columns, starts, (keys % max(1, len(lengths))).astype(np.int32), counts, lengths)


def best_rows(scores: NDArray[np.float32], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
    """At most k (row, score > 0), best first, equal scores by row; only rows in `allowed` when given."""
    rows = np.arange(len(scores)) if allowed is None else np.asarray(sorted(set(allowed)), dtype=np.int64)
    if not len(rows) or k < 1:
        return []
    found = scores[rows]
    if k < len(rows):  # sorting all takes many times as long
        near = found >= np.partition(found, -k)[-k]
        rows, found = rows[near], found[near]
    order = np.argsort(-found, kind="stable")[:k]
    return [(int(rows[i]), float(found[i])) for i in order if found[i] > 0]


def idf(rows: int, holding: int) -> float:
    """log(1 + (N - df + 0.5) / (df + 0.5)): the weight of a term that `holding` of the rows hold."""
    return math.log(1 + (rows - holding + 0.5) / (holding + 0.5))
