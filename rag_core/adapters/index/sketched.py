"""Near neighbours by cosine on local disk: a sketch says which vectors are likely, and their cosines are exact.

A sketch has one bit for each number of a vector (RaBitQ, Gao and Long, SIGMOD 2024, in FAISS): a thirtieth of the bytes to go through. Each
larger segment has one, made of its vectors alone, so that documents come and go as in the exact store. Up to `EXACT_ROWS` rows, and within
chosen documents, every vector is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import faiss

from rag_core.adapters.index import segments
from rag_core.adapters.index.flat import DIM, FaissIndex, FlatSegment, damage_told, flat_segments, read_index, write_index
from rag_core.domain.ports import VectorIndex, Vectors

FILE, SKETCH = "vectors.sketched.faiss", "sketch.faiss"
EXACT_ROWS = 100_000  # comparing so many vectors of 384 numbers takes about 6 ms of processor time
SKETCHED_ROWS = 16_384  # in a segment; below, comparing all of them takes a millisecond
CANDIDATES = (
    512  # rows of each segment whose cosines are worked out: of 24,700 real passages .999 of the ten nearest to a question were found
)


class SketchIndex:
    """A `VectorIndex`. Immutable after it was built, so threads may share it."""

    def __init__(self, parts: Sequence[FlatSegment]) -> None:
        self.exact = FaissIndex(parts)

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, cosine) of the likely rows, best first, equal cosines by row.

        All rows of a small library are, and those in `allowed`, when given.
        """
        if allowed is not None or len(self.exact) <= EXACT_ROWS:
            return self.exact.search(vector, k, allowed)
        return self.exact.likely(vector, k, max(CANDIDATES, 4 * k))

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The stored vectors of these rows, shape (len(rows), dim)."""
        return self.exact.vectors(rows)


class SketchStore:
    """A `VectorStore` of vectors with sketches."""

    name = "faiss-sketch"

    def build(self, vectors: Vectors) -> SketchIndex:
        """An index over unit vectors of shape (n, dim)."""
        return SketchIndex(flat_segments([], [vectors], _sketched) or [FlatSegment(faiss.IndexFlatIP(vectors.shape[1] or DIM))])

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> SketchIndex | None:
        """See `VectorStore.spliced`."""
        return SketchIndex(flat_segments(index.exact.segments, pieces, _sketched)) if isinstance(index, SketchIndex) else None

    def save(self, index: VectorIndex, folder: Path) -> None:
        """Write FAISS's own binary format (not pickle).

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, SketchIndex):
            raise TypeError(f"SketchStore saves a SketchIndex, got {type(index).__name__}")
        segments.save(index.exact.segments, folder, Path(FILE).stem, [FILE, SKETCH], _put)

    def load(self, folder: Path) -> SketchIndex:
        """Read it back.

        Raises:
            LibraryDamaged: a file is missing or cut short. A changed byte is found by the manifest's checksum, not here.
        """
        with damage_told():
            return SketchIndex(segments.load(folder, Path(FILE).stem, [FILE, SKETCH], _get))


def _sketched(index: faiss.Index) -> FlatSegment:
    """A segment over these vectors, with a sketch where it is large."""
    sketch = None
    if index.ntotal >= SKETCHED_ROWS:
        vectors = index.reconstruct_n(0, index.ntotal)
        sketch = faiss.IndexRaBitQFastScan(index.d, faiss.METRIC_INNER_PRODUCT)
        sketch.train(vectors)
        sketch.add(vectors)
    return FlatSegment(index, sketch)


def _put(segment: FlatSegment, folder: Path) -> None:
    write_index(segment.index, folder / FILE)
    if segment.sketch is not None:
        write_index(segment.sketch, folder / SKETCH)


def _get(folder: Path) -> FlatSegment:
    index = read_index(folder / FILE)
    sketch = read_index(folder / SKETCH) if index.ntotal >= SKETCHED_ROWS else None
    if sketch is not None and sketch.ntotal != index.ntotal:
        raise ValueError("its sketch is another segment's")
    return FlatSegment(index, sketch)
