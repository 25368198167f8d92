"""Near neighbours by cosine on local disk, looked for among the vectors that lie nearest; cosines are exact.

Vectors are grouped by k-means. A search compares those of the groups nearest to the question, so a passage that lies apart may be missed.
That pays in large libraries; up to `EXACT_ROWS` rows every vector is compared, as the exact store does. The vectors are kept as it keeps
them, in segments. Beside them stand the middle of each group and the group of each row. A document that is added is put into the groups
that are there; they are made anew when the library has grown to four times what they were made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from rag_core.adapters.index.flat import DIM, FaissIndex, FlatSegment, Rows, damage_told, flat_segments, load_segments, save_segments
from rag_core.adapters.index.segments import put_array
from rag_core.domain.ports import VectorIndex, Vectors

FILE = "vectors.grouped.faiss"
MIDDLES, GROUPS = "vectors.middles.npy", "vectors.groups.npy"
BEFORE = "vectors.ivf.faiss"  # earlier versions: FAISS's own groups in one file
EXACT_ROWS = 4096  # comparing so many vectors of 384 numbers takes about a millisecond
READ_SHARE = 8  # one group in so many is read, and `MIN_READ` of them at least
MIN_READ = 16  # groups; chosen
SAMPLE = 64  # vectors a group that k-means looks at: twice as many changed no recall; as FAISS advises
ROUNDS = 8  # k-means goes through so often; chosen
GROWN = 2  # times as many groups as there are would be made now: they are made anew


@dataclass(frozen=True, eq=False)
class Grouping:
    """The middles of groups, shape (groups, dim), and for each row the number of its group, shape (rows,)."""

    middles: Vectors
    of: NDArray[np.int32]

    def near(self, query: Vectors, share: int) -> Rows:
        """The rows of the groups nearest to a vector of shape (dim,): of one group in so many."""
        wanted = min(len(self.middles), max(MIN_READ, len(self.middles) // share))
        groups = np.argpartition(-(self.middles @ query), wanted - 1)[:wanted]
        order, starts = self._sorted
        return np.concatenate([order[starts[group] : starts[group + 1]] for group in groups.tolist()])

    @cached_property
    def _sorted(self) -> tuple[Rows, Rows]:
        """The rows, one group after the other, and where each begins."""
        sizes = np.bincount(self.of, minlength=len(self.middles))
        return np.argsort(self.of, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])


class IvfIndex:
    """A `VectorIndex`. Immutable after it was built, so threads may share it. Without groups every vector is compared."""

    def __init__(self, segments: Sequence[FlatSegment], grouping: Grouping | None) -> None:
        self.exact, self.grouping = FaissIndex(segments), grouping

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, cosine) of the nearest groups, best first, equal cosines by row; only rows in `allowed` when given.

        There are k of them where there are so many rows to choose from: then every vector is compared.
        """
        if self.grouping is None or (allowed is not None and len(set(allowed)) <= EXACT_ROWS):
            return self.exact.search(vector, k, allowed)
        near = self.grouping.near(np.asarray(vector, dtype=np.float32).reshape(-1), READ_SHARE)
        rows = near if allowed is None else np.intersect1d(near, np.asarray(allowed, dtype=np.int64))
        return self.exact.search(vector, k, rows if len(rows) >= k else allowed)  # too few in the near ones

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The stored vectors of these rows, shape (len(rows), dim)."""
        return self.exact.vectors(rows)


class IvfStore:
    """A `VectorStore` of vectors in groups."""

    name = "faiss-ivf"

    def build(self, vectors: Vectors) -> IvfIndex:
        """An index over unit vectors of shape (n, dim), in about as many groups as a group has vectors."""
        segments = flat_segments([], [vectors]) or [FlatSegment(faiss.IndexFlatIP(vectors.shape[1] or DIM))]
        return IvfIndex(segments, _grouped(FaissIndex(segments)))

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> IvfIndex | None:
        """As `VectorStore.spliced`, but that groups which are there are kept."""
        if not isinstance(index, IvfIndex):
            return None
        segments = flat_segments(index.exact.segments, pieces)
        exact, known = FaissIndex(segments), index.grouping
        if known is None or len(exact) <= EXACT_ROWS or isqrt(len(exact)) >= GROWN * len(known.middles):
            return IvfIndex(segments, _grouped(exact))
        of = np.concatenate([known.of[one.start : one.stop] if isinstance(one, range) else _nearest(known.middles, one) for one in pieces])
        left = np.ones(len(index.exact), dtype=bool)
        for one in pieces:
            if isinstance(one, range):
                left[one.start : one.stop] = False
        return IvfIndex(segments, _settled(exact, known.middles, of, np.unique(known.of[left])))

    def save(self, index: VectorIndex, folder: Path) -> None:
        """Write FAISS's own binary format, and NumPy's (not pickle).

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, IvfIndex):
            raise TypeError(f"IvfStore saves an IvfIndex, got {type(index).__name__}")
        save_segments(index.exact.segments, folder, FILE)
        if index.grouping is not None:
            for file, array in ((MIDDLES, index.grouping.middles), (GROUPS, index.grouping.of)):
                put_array(array, folder / file)

    def load(self, folder: Path) -> IvfIndex:
        """Read it back.

        Raises:
            LibraryDamaged: a file is missing or cut short. A changed byte is found by the manifest's checksum, not here.
        """
        if (folder / BEFORE).exists():
            return _before(folder / BEFORE)
        segments = load_segments(folder, FILE)
        if sum(map(len, segments)) <= EXACT_ROWS:
            return IvfIndex(segments, None)
        with damage_told():
            grouping = Grouping(*(np.load(folder / file, allow_pickle=False) for file in (MIDDLES, GROUPS)))
            if grouping.of.shape != (sum(map(len, segments)),) or grouping.of.max() >= len(grouping.middles):
                raise ValueError("its groups are another library's")
        return IvfIndex(segments, grouping)


def _before(path: Path) -> IvfIndex:
    """An index of an earlier version: in FAISS's own groups, of which there was one where every vector was compared."""
    with damage_told():
        index: Any = faiss.read_index(str(path))
    segments = flat_segments([], [index.reconstruct_n(0, index.ntotal)]) or [FlatSegment(faiss.IndexFlatIP(index.d))]
    if index.nlist == 1:
        return IvfIndex(segments, None)
    middles = index.quantizer.reconstruct_n(0, index.nlist)
    return IvfIndex(segments, Grouping(middles, _nearest(middles, index.reconstruct_n(0, index.ntotal))))


def _grouped(exact: FaissIndex) -> Grouping | None:
    """Groups of all vectors by k-means, about as many as a group has vectors; None where all are compared."""
    if len(exact) <= EXACT_ROWS:
        return None
    groups, chance = isqrt(len(exact)), np.random.default_rng(0)
    drawn = exact.vectors(np.sort(chance.choice(len(exact), min(len(exact), SAMPLE * groups), replace=False)))
    middles = drawn[chance.choice(len(drawn), groups, replace=False)]
    for _ in range(ROUNDS):  # not by `faiss.Kmeans`, which fails where PyMuPDF is in the process: both name a type of C++ alike
        middles = _middles(middles, drawn, _nearest(middles, drawn))
    of = np.concatenate([_nearest(middles, segment.index.reconstruct_n(0, len(segment))) for segment in exact.segments])
    return _settled(exact, middles, of, np.arange(groups))


def _middles(middles: Vectors, vectors: Vectors, of: NDArray[np.int32]) -> Vectors:
    """The middle of the vectors of each group, at length 1; of none it stays where it is."""
    order = np.argsort(of, kind="stable")
    held, firsts = np.unique(of[order], return_index=True)
    found = middles.copy()
    found[held] = np.add.reduceat(vectors[order], firsts, axis=0)
    unit: Vectors = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return unit


def _nearest(middles: Vectors, vectors: Vectors) -> NDArray[np.int32]:
    """The group of each vector."""
    index = faiss.IndexFlatIP(middles.shape[1])
    index.add(np.ascontiguousarray(middles))
    return np.asarray(index.search(np.ascontiguousarray(vectors, dtype=np.float32), 1)[1][:, 0], dtype=np.int32)


def _settled(exact: FaissIndex, middles: Vectors, of: NDArray[np.int32], changed: Rows) -> Grouping:
    """The groups, with the middles of these made of the vectors that they have, and of no others: nothing of a deleted one is left."""
    middles = middles.copy()
    for group in changed.tolist():
        rows = np.flatnonzero(of == group)
        total = exact.vectors(rows).sum(axis=0)
        middles[group] = total / max(float(np.linalg.norm(total)), 1e-12)  # where it has none it is 0, near to nothing
    return Grouping(middles, of)
