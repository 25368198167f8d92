"""The word index of a library that needs no server: counts of terms in its own folder, as .npy arrays and JSON, no pickle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.adapters.index import segments
from rag_core.adapters.index.terms import Terms
from rag_core.adapters.index.words import K1, B, Bm25Index, WordSegment
from rag_core.domain.ports import LexicalIndex
from rag_core.errors import LibraryDamaged
from rag_core.library.disk.private import write

__all__ = ["K1", "B", "Bm25Index", "Bm25Store"]

NAME = "lexical"
HEAD = f"{NAME}.json"
POSTINGS: dict[str, type[np.generic]] = {
    "starts": np.int64,
    "rows": np.int32,
    "counts": np.int32,
    "lengths": np.int32,
}  # fields of `WordSegment`, each a file
TERMS: dict[str, type[np.generic]] = {"blob": np.uint8, "ends": np.int64}  # those of `Terms`
FILES = (HEAD, *(f"{NAME}.{name}.npy" for name in (*POSTINGS, *TERMS)))


class Bm25Store:
    """A `LexicalStore` of `Bm25Index`."""

    def build(self, terms: Sequence[Sequence[str]]) -> Bm25Index:
        """An index over the terms of each passage, in row order."""
        return Bm25Index.of(terms)

    def spliced(self, index: LexicalIndex, pieces: Sequence[range | Sequence[Sequence[str]]]) -> Bm25Index | None:
        """See `LexicalStore.spliced`; None for an index of another store."""
        return index.spliced(pieces) if isinstance(index, Bm25Index) else None

    def save(self, index: LexicalIndex, folder: Path) -> None:
        """Write the arrays, and how many rows there are.

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, Bm25Index):
            raise TypeError(f"Bm25Store saves a Bm25Index, got {type(index).__name__}")
        segments.save(index.segments, folder, NAME, FILES, _put)

    def load(self, folder: Path) -> LexicalIndex:
        """Read it back.

        Raises:
            LibraryDamaged: a file is missing or cannot be read.
        """
        try:
            return Bm25Index(segments.load(folder, NAME, FILES, _get))
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise LibraryDamaged(
                "The word index cannot be read.", remedy="Restore the library folder, or index the documents again."
            ) from error


def _put(segment: WordSegment, folder: Path) -> None:
    write(folder / HEAD, json.dumps({"rows": len(segment)}).encode())
    arrays = {name: getattr(segment, name) for name in POSTINGS} | {name: getattr(segment.columns, name) for name in TERMS}
    for name, array in arrays.items():
        segments.put_array(array, _file(folder, name))


def _get(folder: Path) -> WordSegment:
    rows = json.loads((folder / HEAD).read_bytes())["rows"]
    terms = Terms(*(_array(folder, name, kind) for name, kind in TERMS.items()))
    segment = WordSegment(terms, **{name: _array(folder, name, kind) for name, kind in POSTINGS.items()})
    if len(terms.blob) != (terms.ends[-1] if len(terms) else 0):
        raise ValueError("its terms are cut short")
    _require_whole(segment, rows)
    return segment


def _array(folder: Path, name: str, kind: type[np.generic]) -> NDArray[Any]:
    path = _file(folder, name)
    array: NDArray[Any] = np.load(path, mmap_mode="r" if segments.is_mapped(path) else None, allow_pickle=False)
    if array.dtype != kind or array.ndim != 1:
        raise ValueError(f"{path.name} is another array")
    return array


def _require_whole(segment: WordSegment, rows: int) -> None:
    postings = len(segment.rows)
    ends = (len(segment.starts), segment.starts[-1], len(segment.counts))
    if len(segment) != rows or ends != (len(segment.columns) + 1, postings, postings):
        raise ValueError("its files do not belong together")


def _file(folder: Path, name: str) -> Path:
    return folder / f"{NAME}.{name}.npy"
