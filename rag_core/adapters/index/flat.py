"""Exact nearest neighbours by cosine with FAISS on local disk (IndexFlatIP over unit vectors).

What any index of FAISS needs stands here too: the best rows of a search, and its file. `ivf.py` uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from rag_core.domain.ports import VectorIndex, Vectors
from rag_core.errors import LibraryDamaged
from rag_core.library.disk.private import write

FILE = "vectors.faiss"
DIM = 384  # the length of the embedded model's vectors


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
        return best_rows(lambda asked: self._index.search(query, asked, params=params), k, total)

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The stored vectors of these rows, shape (len(rows), dim)."""
        return stored_vectors(self._index, rows)

    @property
    def raw(self) -> faiss.Index:
        """FAISS's own index, for saving."""
        return self._index


class FaissStore:
    """A `VectorStore` of exact FAISS indexes. `dim` is the length of a vector, used where nothing says how long one is."""

    name = "faiss-flat"

    def __init__(self, dim: int = DIM) -> None:
        self._dim = dim

    def build(self, vectors: Vectors) -> FaissIndex:
        """An index over unit vectors of shape (n, dim)."""
        index = faiss.IndexFlatIP(vectors.shape[1] or self._dim)
        if len(vectors):
            index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        return FaissIndex(index)

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> FaissIndex | None:
        """See `VectorStore.spliced`."""
        if not isinstance(index, FaissIndex):
            return None
        joined: faiss.Index | None = None
        for piece in pieces:
            vectors = index.raw.reconstruct_n(piece.start, len(piece)) if isinstance(piece, range) else piece
            joined = joined or faiss.IndexFlatIP(vectors.shape[1])
            joined.add(np.ascontiguousarray(vectors, dtype=np.float32))
        return FaissIndex(joined) if joined else None

    def save(self, index: VectorIndex, folder: Path) -> None:
        """Write FAISS's own binary format (not pickle).

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, FaissIndex):
            raise TypeError(f"FaissStore saves a FaissIndex, got {type(index).__name__}")
        write_index(index.raw, folder / FILE)

    def load(self, folder: Path) -> FaissIndex:
        """Read it back.

        Raises:
            LibraryDamaged: the file is missing or cut short. A changed byte is found by the manifest's checksum, not here.
        """
        return FaissIndex(read_index(folder / FILE))


def best_rows(search: Callable[[int], tuple[Any, Any]], k: int, total: int) -> list[tuple[int, float]]:
    """The best k of `total` rows as (row, cosine), best first, equal cosines by row.

    `search` gives cosines and rows of the nearest n, each of shape (1, n), as FAISS does; a row of -1 is none.
    """
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


def stored_vectors(index: faiss.Index, rows: Sequence[int]) -> Vectors:
    """The vectors of these rows as they were added, shape (len(rows), dim)."""
    if not len(rows):
        return np.zeros((0, index.d), dtype=np.float32)
    return np.asarray(index.reconstruct_batch(np.asarray(rows, dtype=np.int64)), dtype=np.float32)


def write_index(index: faiss.Index, path: Path) -> None:
    """Write an index to a file.

    Raises:
        OSError: the disk or the permissions refused.
    """
    # FAISS's own writer leaves out the end of a file without an error where the disk is full
    write(path, faiss.serialize_index(index).data)


def read_index(path: Path) -> faiss.Index:
    """Read it back.

    Raises:
        LibraryDamaged: the file is missing or cut short.
    """
    try:
        return faiss.read_index(str(path))
    except RuntimeError as error:
        raise LibraryDamaged(
            "The vector index cannot be read.", remedy="Restore the library folder, or index the documents again."
        ) from error
