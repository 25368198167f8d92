"""The contents of a version, counted from its files without opening it, so that a library of another model can be counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rag_core.errors import LibraryError
from rag_core.library.stored.store import VECTORS, Store


@dataclass(frozen=True, slots=True)
class Contents:
    """A version in figures.

    Args:
        embedder: the embedding model and its precision, `model@precision`.
        documents: how many it has.
        passages: how many they were cut into; None where a file of theirs cannot be read.
    """

    embedder: str
    documents: int
    passages: int | None


def contents(store: Store) -> Contents | None:
    """The newest version; None where there is none, or its manifest cannot be read."""
    try:
        manifest = store.manifest()
    except LibraryError:
        return None
    if manifest is None or not manifest.entries:
        return None
    try:
        passages = sum(len(np.load(store.root / f"documents/{one.key}/{VECTORS}", mmap_mode="r")) for one in manifest.entries)
    except (OSError, ValueError, TypeError, EOFError):
        passages = None
    return Contents(manifest.embedder, len(manifest.entries), passages)
