"""Near neighbours by cosine with FAISS on local disk, looked for in the part of the vectors that lies nearest (IndexIVFFlat).

Vectors are grouped by k-means. A search reads only the groups nearest to the question, so a passage that lies apart may be missed. That
pays in large libraries; up to `EXACT_ROWS` rows every vector is compared, as the exact store does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from rag_core.adapters.index.flat import DIM, best_rows, read_index, stored_vectors, write_index
from rag_core.domain.ports import VectorIndex, Vectors

FILE = "vectors.ivf.faiss"
EXACT_ROWS = 4096  # comparing so many vectors of 384 numbers takes about a millisecond
READ_SHARE = 8  # one group in so many is read, and `MIN_READ` of them at least
MIN_READ = 16  # groups; chosen


class IvfIndex:
    """A `VectorIndex`. Immutable after it was built, so threads may share it."""

    def __init__(self, index: Any) -> None:
        self._index = index  # an IndexIVFFlat; the stubs do not know its parameters

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, cosine) of the nearest groups, best first, equal cosines by row; only rows in `allowed` when given.

        There are k of them where there are so many rows to choose from: then all groups are read.
        """
        total = self._index.ntotal if allowed is None else len(set(allowed))
        if total == 0 or k < 1:
            return []
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        selected = {} if allowed is None else {"sel": faiss.IDSelectorBatch(np.asarray(allowed, dtype=np.int64))}
        parameters: Any = faiss.SearchParametersIVF
        groups = self._index.nlist
        near = groups if total <= EXACT_ROWS else max(MIN_READ, groups // READ_SHARE)

        def nearest(asked: int) -> Any:
            found = self._index.search(query, asked, params=parameters(nprobe=near, **selected))
            if found[1][0, -1] >= 0:
                return found
            return self._index.search(query, asked, params=parameters(nprobe=groups, **selected))  # too few in the near ones

        return best_rows(nearest, k, total)

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The stored vectors of these rows, shape (len(rows), dim)."""
        return stored_vectors(self._index, rows)

    @property
    def raw(self) -> Any:
        """FAISS's own index, for saving."""
        return self._index


class IvfStore:
    """A `VectorStore` of FAISS indexes in groups."""

    name = "faiss-ivf"

    def build(self, vectors: Vectors) -> IvfIndex:
        """An index over unit vectors of shape (n, dim), in about as many groups as a group has vectors."""
        rows, dim = len(vectors), vectors.shape[1] or DIM
        groups = isqrt(rows) if rows > EXACT_ROWS else 1
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dim), dim, groups, faiss.METRIC_INNER_PRODUCT)
        if rows:
            index.cp.min_points_per_centroid = 1  # fewer than its usual 39 make FAISS warn on standard error
            vectors = np.ascontiguousarray(vectors, dtype=np.float32)
            index.train(vectors)
            index.add(vectors)
        index.make_direct_map()  # gives stored vectors back by their rows
        return IvfIndex(index)

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> None:
        """Its groups are those of all vectors: it is built anew."""
        return None

    def save(self, index: VectorIndex, folder: Path) -> None:
        """Write FAISS's own binary format (not pickle).

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, IvfIndex):
            raise TypeError(f"IvfStore saves an IvfIndex, got {type(index).__name__}")
        write_index(index.raw, folder / FILE)

    def load(self, folder: Path) -> IvfIndex:
        """Read it back.

        Raises:
            LibraryDamaged: the file is missing or cut short. A changed byte is found by the manifest's checksum, not here.
        """
        return IvfIndex(read_index(folder / FILE))
