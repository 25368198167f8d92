"""Exact nearest neighbours by cosine with FAISS on local disk (IndexFlatIP over unit vectors)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import faiss
import numpy as np

from rag_core.domain.ports import VectorIndex, Vectors
from rag_core.errors import LibraryDamaged
from rag_core.library.disk.private import write

FILE = "vectors.faiss"


class FaissIndex:
    """A `VectorIndex`. Immutable after it was built, so threads may share it."""

    def __init__(self, index: faiss.Index) -> None:
        self._index = index

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, cosine), best first, equal cosines by row; only rows in `allowed` when given."""
        total = self._index.ntotal if allowed is None else len(set(allowed))
        if total == 0 or k < 1:
            return []
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        params = None
        if allowed is not None:
            selector = faiss.IDSelectorBatch(np.asarray(allowed, dtype=np.int64))
            params = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # its stubs leave out the keyword
        # FAISS takes any of the rows that tie at the cut; so more are asked for until the last one is worse
        wanted = min(k, total)
        asked = min(wanted + 1, total)
        while True:
            raw, rows = self._index.search(query, asked, params=params)
            cosines = np.clip(raw[0], -1.0, 1.0)
            if asked == total or cosines[asked - 1] < cosines[wanted - 1]:
                break
            asked = min(2 * asked, total)
        found = [(int(r), float(c)) for r, c in zip(rows[0], cosines, strict=True) if r >= 0]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:wanted]

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The stored vectors of these rows, shape (len(rows), dim)."""
        if not len(rows):
            return np.zeros((0, self._index.d), dtype=np.float32)
        return np.asarray(self._index.reconstruct_batch(np.asarray(rows, dtype=np.int64)), dtype=np.float32)

    @property
    def raw(self) -> faiss.Index:
        """FAISS's own index, for saving."""
        return self._index


class FaissStore:
    """A `VectorStore` of exact FAISS indexes. `dim` is the length of a vector, used when there is none yet."""

    def __init__(self, dim: int = 384) -> None:
        self._dim = dim

    def build(self, vectors: Vectors) -> FaissIndex:
        """An index over unit vectors of shape (n, dim)."""
        index = faiss.IndexFlatIP(vectors.shape[1] if len(vectors) else self._dim)
        if len(vectors):
            index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        return FaissIndex(index)

    def save(self, index: VectorIndex, folder: Path) -> None:
        """Write FAISS's own binary format (not pickle).

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, FaissIndex):
            raise TypeError(f"FaissStore saves a FaissIndex, got {type(index).__name__}")
        # FAISS's own writer leaves out the end of a file without an error where the disk is full
        write(folder / FILE, faiss.serialize_index(index.raw).data)

    def load(self, folder: Path) -> FaissIndex:
        """Read it back.

        Raises:
            LibraryDamaged: the file is missing or cut short. A changed byte is found by the manifest's checksum, not here.
        """
        try:
            return FaissIndex(faiss.read_index(str(folder / FILE)))
        except RuntimeError as error:
            raise LibraryDamaged(
                "The vector index cannot be read.", remedy="Restore the library folder, or index the documents again."
            ) from error
