"""The vector store by its name. A further store is one adapter in this folder, one row here, and its test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rag_core.adapters.index import milvus, postgres
from rag_core.adapters.index.apart import ApartStore, Table, named_in
from rag_core.adapters.index.apart_words import ApartWordStore, WordTable
from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.adapters.index.sketched import SketchStore
from rag_core.adapters.optional import require
from rag_core.domain.ports import LexicalStore, VectorStore
from rag_core.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class StoreRow:
    """A vector store: what makes it, and the optional packages that it needs (a name of `adapters.optional.EXTRAS`, ""
    for none).

    `words` makes the word index beside it. `forget` is called with the folder of a version before it is deleted, where
    the store keeps rows outside of that folder.
    """

    make: Callable[[], VectorStore]
    extra: str = ""
    words: Callable[[], LexicalStore] = Bm25Store
    forget: Callable[[Path], None] | None = None


class _Database(Table, WordTable, Protocol):
    """A database that keeps both."""


def _apart(name: str, database: Callable[[], _Database]) -> StoreRow:
    """A store of vectors and words in a database; its name is that of its packages too."""

    def vectors() -> ApartStore:
        return ApartStore(name, database())

    def words() -> ApartWordStore:
        return ApartWordStore(name, database())

    def forget(folder: Path) -> None:
        vectors().forget(folder)
        words().forget(folder)

    return StoreRow(vectors, name, words, forget)


# What the setting `vector_store` may say.
VECTOR_STORES = {
    "faiss-flat": StoreRow(FaissStore),
    "faiss-sketch": StoreRow(SketchStore),
    postgres.NAME: _apart(postgres.NAME, postgres.database),
    milvus.NAME: _apart(milvus.NAME, milvus.database),
}


def vector_store(name: str) -> VectorStore:
    """The vector store that the setting names, empty.

    Raises:
        InvalidSetting: there is none of this name.
        MissingDependency: it needs a package that is not installed.
    """
    return _row(name).make()


def lexical_store(name: str) -> LexicalStore:
    """The word index beside that vector store, empty; raises as `vector_store` does."""
    return _row(name).words()


def forget(folder: Path) -> None:
    """Delete what the version in `folder` keeps outside of it, in whatever stores, before the folder itself is deleted.

    Raises:
        RagError: a database cannot be asked; the folder has to stay until it can.
    """
    for name in named_in(folder, VECTOR_STORES):
        if (forgets := _row(name).forget) is not None:
            forgets(folder)


def _row(name: str) -> StoreRow:
    if name not in VECTOR_STORES:
        raise InvalidSetting(
            f"There is no vector store {name!r}.", remedy=f"Set vector_store to one of: {', '.join(VECTOR_STORES)}."
        )
    row = VECTOR_STORES[name]
    if row.extra:
        require(row.extra, f"The vector store {name!r}")
    return row
