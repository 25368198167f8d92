"""The vector store by its name. A further store is one adapter in this folder, one row here, and its test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rag_core.adapters.index.flat import FaissStore
from rag_core.adapters.index.ivf import IvfStore
from rag_core.adapters.optional import require
from rag_core.domain.ports import VectorStore
from rag_core.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class StoreRow:
    """A vector store: what makes it, and the optional packages that it needs (a name of `adapters.optional.EXTRAS`, "" for none)."""

    make: Callable[[], VectorStore]
    extra: str = ""


# What the setting `vector_store` may say.
VECTOR_STORES = {
    "faiss-flat": StoreRow(FaissStore),
    "faiss-ivf": StoreRow(IvfStore),
}


def vector_store(name: str) -> VectorStore:
    """The vector store that the setting names, empty.

    Raises:
        InvalidSetting: there is none of this name.
        MissingDependency: it needs a package that is not installed.
    """
    if name not in VECTOR_STORES:
        raise InvalidSetting(f"There is no vector store {name!r}.", remedy=f"Set vector_store to one of: {', '.join(VECTOR_STORES)}.")
    row = VECTOR_STORES[name]
    if row.extra:
        require(row.extra, f"The vector store {name!r}")
    return row.make()
