"""BM25 over our own terms, in segments: counts of terms, kept in the library's file.

A change of the collection changes the weight of every word. So an index that stores scores has to be made anew with
every document; one that stores counts is joined from what stays and what is new, segment by segment. The arithmetic is
that of bm25s, number by number, and a test compares them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import LibraryDamaged
from rag_core.retrieval.segments import Cut, offsets, planned


class Terms(Mapping[str, int]):
    """The number of each term in code point order; `blob` has the UTF-8, `ends` where each ends."""

    def __init__(self, blob: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.blob, self.ends = blob, ends
        # many times as fast as arrays, item by item
        self._bytes, self._ends = (np.asarray(blob).data, np.asarray(ends).data)

    @classmethod
    def of(cls, terms: Iterable[str]) -> Terms:
        """Of these, which are sorted by code points."""
        packed = [_packed(term) for term in terms]
        return cls(np.frombuffer(b"".join(packed), np.uint8), np.cumsum([len(one) for one in packed], dtype=np.int64))

    def __getitem__(self, term: str) -> int:
        wanted = _packed(term)
        at = bisect_left(range(len(self)), wanted, key=self._at)
        if at == len(self) or self._at(at) != wanted:
            raise KeyError(term)
        return at

    def __iter__(self) -> Iterator[str]:
        return (self._at(number).decode("utf-8", "surrogatepass") for number in range(len(self)))

    def __len__(self) -> int:
        return len(self._ends)

    def _at(self, number: int) -> bytes:
        return bytes(self._bytes[self._ends[number - 1] if number else 0 : self._ends[number]])


def _packed(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")  # half a character, which a broken file may hold, has an order too


K1, B = 1.5, 0.75  # bm25s' defaults, the usual values of Robertson's BM25
KEPT_TERMS = 64  # whose parts of scores are kept: one question asks for the same few terms several times
# in those parts at most, of 8 bytes each: a term that stands everywhere has one for each passage; chosen
KEPT_POSTINGS = 1 << 24
MIN_KEPT = 8  # terms all the same; chosen
ARRAYS = 6  # a segment has so many: those of its `Terms`, then its own
MAX_ROWS = 16_384  # in a segment: deleting one document writes about 8 MB anew at most; chosen

Whole = NDArray[np.int64]
Short = NDArray[np.int32]
Rows = Sequence[Sequence[str]]  # the terms of each passage


class WordSegment:
    """Some consecutive passages.

    Args:
        columns: the number of each term, from 0.
        starts: where the postings of each term begin, shape (terms + 1,).
        rows: the passages that hold a term, ascending, one term after another, shape (postings,); from the segment's
            first.
        counts: how often each of them holds it, of the same shape.
        lengths: the terms of each passage, shape (passages,).
    """

    def __init__(self, columns: Terms, starts: Whole, rows: Short, counts: Short, lengths: Short) -> None:
        self.columns, self.starts, self.rows, self.counts, self.lengths = columns, starts, rows, counts, lengths
        self.kept: int | None = None  # its number where it is kept

    def __len__(self) -> int:
        return len(self.lengths)

    def packed(self) -> bytes:
        """Its arrays one behind another, each in NumPy's own form."""
        file = BytesIO()
        for one in (self.columns.blob, self.columns.ends, self.starts, self.rows, self.counts, self.lengths):
            np.save(file, one, allow_pickle=False)
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: memoryview) -> WordSegment:
        """The segment that `packed` gave; raises LibraryDamaged where it is not what was written."""
        file = BytesIO(data)
        try:
            blob, ends, *others = [np.load(file, allow_pickle=False) for _ in range(ARRAYS)]
        except (ValueError, EOFError, OSError) as error:
            raise LibraryDamaged(
                "The word index cannot be read.", remedy="Rebuild the library from its stored sources."
            ) from error
        return cls(Terms(blob, ends), *others)

    def postings(self, term: str) -> tuple[Short, Short]:
        """The passages that hold a term, ascending, and how often each does."""
        number = self.columns.get(term)
        here = slice(0, 0) if number is None else slice(self.starts[number], self.starts[number + 1])
        return self.rows[here], self.counts[here]


class Bm25Index:
    """A `LexicalIndex` over segments. Immutable, so threads may share it."""

    def __init__(self, segments: Sequence[WordSegment]) -> None:
        self.segments = tuple(segments) or (_joined([[]]),)
        self._firsts = offsets(self.segments)
        self._kept = lru_cache(max(MIN_KEPT, min(KEPT_TERMS, KEPT_POSTINGS // max(1, len(self)))))(self._part)

    @classmethod
    def of(cls, terms: Rows) -> Bm25Index:
        """The index over the terms of each passage, in row order."""
        return cls([]).spliced([terms])

    def spliced(self, pieces: Sequence[range | Rows]) -> Bm25Index:
        """The index over these pieces in order: rows of this one, or the terms of new passages."""
        return Bm25Index([_segment(group) for group in planned(self.segments, pieces, MAX_ROWS)])

    def scores(self, terms: Sequence[str], rows: Sequence[int]) -> list[float]:
        """The BM25 score of each of these rows, as `search` gives it."""
        wanted, found = np.asarray(rows, dtype=np.int64), np.zeros(len(rows), dtype=np.float32)
        for term in terms:
            holding, part = self._kept(term)
            at = np.searchsorted(holding, wanted)
            there = np.flatnonzero(at < len(holding))
            there = there[holding[at[there]] == wanted[there]]
            found[there] += part[at[there]]
        return [float(score) for score in found]

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """The BM25 score of every row, shape (rows,); a term that occurs twice in the question counts twice."""
        scores = np.zeros(len(self), dtype=np.float32)
        for term in terms:
            rows, part = self._kept(term)
            scores[rows] += part
        return scores

    def search(self, terms: Sequence[str], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, score > 0), best first, equal scores by row; only rows in `allowed` when given."""
        return best_rows(self._scores(terms), k, allowed)

    def vocabulary(self) -> Collection[str]:
        return (
            self.segments[0].columns.keys()
            if len(self.segments) == 1
            else frozenset().union(*(one.columns for one in self.segments))
        )

    def __len__(self) -> int:
        return self._firsts[-1]

    def _part(self, term: str) -> tuple[Short, NDArray[np.float32]]:
        """The rows that hold the term, and what it adds to the score of each."""
        found = [(first, *one.postings(term)) for first, one in zip(self._firsts, self.segments, strict=False)]
        held = [(rows + np.int32(first) if first else rows, counts) for first, rows, counts in found if len(rows)]
        if not held:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        rows, whole = np.concatenate([one for one, _ in held]), np.concatenate([one for _, one in held])
        counts = whole.astype(np.float64)
        # bm25s keeps it in float32, and multiplies in float64
        weight = np.float64(np.float32(idf(len(self), len(counts))))
        part: NDArray[np.float32] = (weight * (counts / (self._damping[rows] + counts))).astype(np.float32)
        return rows, part

    @cached_property
    def _damping(self) -> NDArray[np.float64]:
        """The number that a count is set against; it grows with the length of its passage. Shape (rows,)."""
        lengths = np.concatenate([segment.lengths for segment in self.segments])
        damping: NDArray[np.float64] = K1 * ((1 - B) + B * lengths / lengths.mean())
        return damping


def _segment(group: Sequence[Cut[WordSegment] | Rows]) -> WordSegment:
    """The segment of these parts; one that stays whole is used again."""
    part = group[0]
    return part.segment if len(group) == 1 and isinstance(part, Cut) and part.is_whole else _joined(group)


def _joined(group: Sequence[Cut[WordSegment] | Rows]) -> WordSegment:
    total = sum(map(len, group))
    lengths = np.zeros(total, np.int32)
    columns: dict[str, int] = {}  # in the order in which they are met
    numbers, rows, counts = [], [], []
    at = 0
    for part in group:
        if isinstance(part, Cut):
            theirs, known = part.segment, part.rows
            own = np.fromiter(
                (columns.setdefault(term, len(columns)) for term in theirs.columns), np.int64, len(theirs.columns)
            )
            stays = (theirs.rows >= known.start) & (theirs.rows < known.stop)
            lengths[at : at + len(part)] = theirs.lengths[known.start : known.stop]
            numbers.append(np.repeat(own, np.diff(theirs.starts))[stays])
            rows.append(theirs.rows[stays].astype(np.int64) - known.start + at)
            counts.append(theirs.counts[stays])
        else:
            lengths[at : at + len(part)] = [len(row) for row in part]
            met = np.fromiter((columns.setdefault(term, len(columns)) for row in part for term in row), np.int64)
            there = np.repeat(np.arange(at, at + len(part)), lengths[at : at + len(part)])
            found, many = np.unique(met * total + there, return_counts=True)
            numbers.append(found // total)
            rows.append(found % total)
            counts.append(many.astype(np.int32))
        at += len(part)
    return _sorted(columns, np.concatenate(numbers), np.concatenate(rows), np.concatenate(counts), lengths)


def _sorted(columns: Mapping[str, int], numbers: Whole, rows: Whole, counts: Short, lengths: Short) -> WordSegment:
    """The segment of these postings, in any order, without the terms that no passage holds any more."""
    holding = np.bincount(numbers, minlength=len(columns))
    terms = sorted(term for term, number in columns.items() if holding[number])
    ranks = np.zeros(len(columns), np.int64)
    own = np.fromiter((columns[term] for term in terms), np.int64, len(terms))
    ranks[own] = np.arange(len(terms))
    order = np.argsort(ranks[numbers] * max(1, len(lengths)) + rows, kind="stable")  # the runs are sorted in part
    starts = np.concatenate([[0], np.cumsum(holding[own])])
    return WordSegment(Terms.of(terms), starts, rows[order].astype(np.int32), counts[order], lengths)


def best_rows(scores: NDArray[np.float32], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
    """At most k (row, score > 0), best first, equal scores by row; only rows in `allowed` when given."""
    rows = np.flatnonzero(scores > 0) if allowed is None else np.asarray(sorted(set(allowed)), dtype=np.int64)
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
