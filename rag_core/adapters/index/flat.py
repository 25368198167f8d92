"""Nearest neighbours by cosine with FAISS in memory (IndexFlatIP over unit vectors), in segments.

Exact; or a sketch says which vectors are likely, and only their cosines are computed. A sketch has one bit for each
number of a vector (RaBitQ, Gao and Long, SIGMOD 2024, in FAISS): a thirtieth of the bytes to go through. Each larger
segment has one, made of its vectors alone, so that documents come and go as in the exact store. Up to `EXACT_ROWS`
rows, and within chosen documents, every vector is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from rag_core.domain.ports import VectorIndex, Vectors
from rag_core.retrieval.segments import MAX_ROWS, Cut, offsets, planned

Rows = NDArray[np.int64]
DIM = 384  # the length of the embedded model's vectors


class FlatSegment:
    """Some consecutive rows, with FAISS's own index over them, and perhaps a sketch."""

    def __init__(self, index: faiss.Index, sketch: faiss.Index | None = None) -> None:
        self.index, self.sketch = index, sketch

    def __len__(self) -> int:
        return int(self.index.ntotal)

    def nearest(self, query: Vectors, k: int, allowed: Rows | None) -> list[tuple[int, float]]:
        """As `VectorIndex.search`, of these rows; `query` has shape (1, dim), and those allowed are different ones."""
        params = None
        if allowed is not None:
            chosen = np.zeros(len(self), dtype=bool)
            chosen[allowed] = True
            bits = np.packbits(chosen, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]  # its stubs are of C++
            params = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # they leave out the keyword
        total = len(self) if allowed is None else len(allowed)
        with _one_thread():
            return best_rows(lambda asked: self.index.search(query, asked, params=params), k, total)

    def likely(self, query: Vectors, count: int) -> Rows | None:
        """The rows that its sketch says are nearest, at most so many; None for all."""
        if self.sketch is None or count >= len(self):
            return None
        with _one_thread():
            found: Rows = self.sketch.search(query, count)[1][0]
        return found[found >= 0]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Within the block FAISS searches in the calling thread alone.

    With several threads it compares one vector with more than some ten thousand in another way: of 100,000 it took six
    times the processor time, and the last digits were others than with one thread, or over a part of the rows.
    """
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # for this thread; others keep theirs
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


class FaissIndex:
    """A `VectorIndex`. Immutable after it was built, so threads may share it."""

    def __init__(self, parts: Sequence[FlatSegment]) -> None:
        self.segments = tuple(parts)
        self._firsts = offsets(parts)

    def __len__(self) -> int:
        return self._firsts[-1]

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | Rows | None) -> list[tuple[int, float]]:
        return self.nearest(vector, k, allowed, None)

    def nearest(
        self, vector: Vectors, k: int, allowed: Sequence[int] | Rows | None, candidates: int | None
    ) -> list[tuple[int, float]]:
        """As `search`, but of a segment with a sketch only so many candidates, where a number is given, are compared.

        Give `allowed` or `candidates`, not both.
        """
        assert allowed is None or candidates is None  # a sketch finds candidates among all rows
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        found = []
        for first, segment, rows in self._places(allowed):
            rows = rows if candidates is None else segment.likely(query, candidates)
            found += [(first + row, cosine) for row, cosine in segment.nearest(query, k, rows)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[: max(k, 0)]

    def _places(self, allowed: Sequence[int] | Rows | None) -> Iterator[tuple[int, FlatSegment, Rows | None]]:
        """Each segment with its first row, and which of its own rows may be found; None for all."""
        if allowed is None:
            yield from ((first, segment, None) for first, segment in zip(self._firsts, self.segments, strict=False))
            return
        chosen = np.unique(np.asarray(allowed, dtype=np.int64))
        ends = np.searchsorted(chosen, self._firsts)
        for at, segment in enumerate(self.segments):
            yield self._firsts[at], segment, chosen[ends[at] : ends[at + 1]] - self._firsts[at]

    def vectors(self, rows: Sequence[int] | Rows) -> Vectors:
        if len(self.segments) == 1:
            return stored_vectors(self.segments[0].index, rows)
        wanted = np.asarray(rows, dtype=np.int64)
        found = np.zeros((len(wanted), self.segments[0].index.d), dtype=np.float32)
        of = np.searchsorted(self._firsts, wanted, side="right") - 1
        for at in np.unique(of).tolist():
            found[of == at] = stored_vectors(self.segments[at].index, wanted[of == at] - self._firsts[at])
        return found


class FaissStore:
    """A `VectorStore` of exact FAISS indexes; `dim` is used where nothing says how long a vector is."""

    name = "faiss-flat"
    kind: type[FaissIndex] = FaissIndex

    def __init__(self, dim: int = DIM) -> None:
        self._dim = dim

    def build(self, vectors: Vectors) -> FaissIndex:
        return self.kind(
            self._segments([], [vectors]) or [FlatSegment(faiss.IndexFlatIP(vectors.shape[1] or self._dim))]
        )

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> FaissIndex | None:
        return (
            self.kind(self._segments(index.segments, pieces))
            if isinstance(index, FaissIndex) and type(index) is self.kind
            else None
        )

    def _segments(self, known: Sequence[FlatSegment], pieces: Sequence[range | Vectors]) -> list[FlatSegment]:
        """The segments over these pieces; known ones that stay whole are used again."""
        made = []
        for group in planned(known, pieces, MAX_ROWS):
            part = group[0]
            if len(group) == 1 and isinstance(part, Cut) and part.is_whole:
                made.append(part.segment)
                continue
            parts = [
                part.segment.index.reconstruct_n(part.rows.start, len(part)) if isinstance(part, Cut) else part
                for part in group
            ]
            index = faiss.IndexFlatIP(parts[0].shape[1])
            # at once: added one by one, the index would hold room for up to twice as many
            index.add(np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts), dtype=np.float32))
            made.append(self._segment(index))
        return made

    def _segment(self, index: faiss.Index) -> FlatSegment:
        return FlatSegment(index)


def best_rows(search: Callable[[int], tuple[Any, Any]], k: int, total: int) -> list[tuple[int, float]]:
    """The best k of `total` rows as (row, cosine), best first, equal cosines by row.

    `search` gives cosines and rows of the nearest n, each of shape (1, n), as FAISS does; a row of -1 is none.
    """
    if total == 0 or k < 1:
        return []
    # FAISS takes any of the rows that tie at the cut; so more are asked for until the last one is worse
    wanted = min(k, total)
    asked = min(wanted + 1, total)
    while True:
        raw, rows = search(asked)
        cosines = np.clip(raw[0], -1.0, 1.0)
        if asked == total or cosines[asked - 1] < cosines[wanted - 1]:
            break
        asked = min(2 * asked, total)
    found = [(int(r), float(c)) for r, c in zip(rows[0], cosines, strict=True) if r >= 0]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:wanted]


def stored_vectors(index: faiss.Index, rows: Sequence[int] | Rows) -> Vectors:
    """The vectors of these rows as they were added, shape (len(rows), dim)."""
    if not len(rows):
        return np.zeros((0, index.d), dtype=np.float32)
    return np.asarray(index.reconstruct_batch(np.asarray(rows, dtype=np.int64)), dtype=np.float32)


EXACT_ROWS = 100_000  # comparing so many vectors of 384 numbers takes about 6 ms of processor time
SKETCHED_ROWS = 16_384  # in a segment; below, comparing all of them takes a millisecond
# rows of each segment whose cosines are worked out: of 24,700 real passages .999 of the ten nearest to a question were
# found
CANDIDATES = 512


class SketchIndex(FaissIndex):
    """A `VectorIndex`. Immutable after it was built, so threads may share it."""

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | Rows | None) -> list[tuple[int, float]]:
        """At most k (row, cosine) of the likely rows, best first; of `allowed` or a small library, of all."""
        exact = allowed is not None or len(self) <= EXACT_ROWS
        return self.nearest(vector, k, allowed, None if exact else max(CANDIDATES, 4 * k))


class SketchStore(FaissStore):
    """A `VectorStore` of vectors with sketches."""

    name = "faiss-sketch"
    kind = SketchIndex

    def _segment(self, index: faiss.Index) -> FlatSegment:
        """A segment over these vectors, with a sketch where it is large."""
        sketch = None
        if index.ntotal >= SKETCHED_ROWS:
            vectors = index.reconstruct_n(0, index.ntotal)
            sketch = faiss.IndexRaBitQFastScan(index.d, faiss.METRIC_INNER_PRODUCT)
            sketch.train(vectors)
            sketch.add(vectors)
        return FlatSegment(index, sketch)
