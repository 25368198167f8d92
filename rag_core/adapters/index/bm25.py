"""The word index of a library that needs no server: counts of terms in its own folder, as .npy arrays and JSON, no pickle."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_core.adapters.index.bm25_before import SavedBefore
from rag_core.adapters.index.words import K1, B, Bm25Index
from rag_core.domain.ports import LexicalIndex
from rag_core.errors import LibraryDamaged
from rag_core.library.disk.private import write

__all__ = ["K1", "B", "Bm25Index", "Bm25Store"]

HEAD = "lexical.json"
ARRAYS = {"starts": np.int64, "rows": np.int32, "counts": np.int32, "lengths": np.int32}  # fields of `Bm25Index`, each a file


class Bm25Store:
    """A `LexicalStore` of `Bm25Index`."""

    def build(self, terms: Sequence[Sequence[str]]) -> Bm25Index:
        """An index over the terms of each passage, in row order."""
        return Bm25Index.of(terms)

    def spliced(self, index: LexicalIndex, pieces: Sequence[range | Sequence[Sequence[str]]]) -> Bm25Index | None:
        """See `LexicalStore.spliced`; None for an index that an earlier version saved."""
        return index.spliced(pieces) if isinstance(index, Bm25Index) else None

    def save(self, index: LexicalIndex, folder: Path) -> None:
        """Write the arrays and the vocabulary, and how many rows there are.

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, Bm25Index):
            raise TypeError(f"Bm25Store saves a Bm25Index, got {type(index).__name__}")
        write(folder / HEAD, json.dumps({"rows": len(index), "terms": list(index.columns)}).encode())
        for name in ARRAYS:
            packed = io.BytesIO()
            np.save(packed, getattr(index, name), allow_pickle=False)
            write(_file(folder, name), packed.getbuffer())

    def load(self, folder: Path) -> LexicalIndex:
        """Read it back.

        Raises:
            LibraryDamaged: a file is missing or cannot be read.
        """
        try:
            head = json.loads((folder / HEAD).read_text(encoding="utf-8"))
            if "terms" not in head:  # an earlier version wrote it
                return Bm25Index.of([[]] * head["rows"]) if head["empty"] else SavedBefore.load(folder, head["rows"])
            arrays = {name: np.load(_file(folder, name), allow_pickle=False) for name in ARRAYS}
            index = Bm25Index({term: number for number, term in enumerate(head["terms"])}, **arrays)
            if any(arrays[name].dtype != kind or arrays[name].ndim != 1 for name, kind in ARRAYS.items()) or not _is_whole(
                index, head["rows"]
            ):
                raise ValueError("its files do not belong together")
            return index
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise LibraryDamaged(
                "The word index cannot be read.", remedy="Restore the library folder, or index the documents again."
            ) from error


def _is_whole(index: Bm25Index, rows: int) -> bool:
    postings = len(index.rows)
    return len(index) == rows and len(index.starts) == len(index.columns) + 1 and index.starts[-1] == postings == len(index.counts)


def _file(folder: Path, name: str) -> Path:
    return folder / f"lexical.{name}.npy"
