"""The vector store by its name. A further store is one adapter in this folder, one row here, and its test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rag_core.adapters.index import milvus, postgres
from rag_core.adapters.index.flat import FaissStore, SketchStore
from rag_core.adapters.index.in_database import DatabaseStore
from rag_core.adapters.optional import require
from rag_core.domain.ports import VectorsInDatabase, VectorStore
from rag_core.errors import InvalidSetting
from rag_core.library.disk.files import children
from rag_core.library.stored.collection import STORES


class StoreRow(NamedTuple):
    """The maker of a vector store, and the extra of `adapters.optional.EXTRAS` that it needs, or ""."""

    make: Callable[[], VectorStore]
    extra: str = ""


# What the setting `vector_store` may say.
VECTOR_STORES = {
    "faiss-flat": StoreRow(FaissStore),
    "faiss-sketch": StoreRow(SketchStore),
    postgres.NAME: StoreRow(lambda: DatabaseStore(postgres.NAME, postgres.database()), postgres.NAME),
    milvus.NAME: StoreRow(lambda: DatabaseStore(milvus.NAME, milvus.database()), milvus.NAME),
}


def vector_store(name: str) -> VectorStore:
    """The vector store that the setting names, empty; raises InvalidSetting, or MissingDependency."""
    if name not in VECTOR_STORES:
        raise InvalidSetting(
            f"There is no vector store {name!r}.", remedy=f"Set vector_store to one of: {', '.join(VECTOR_STORES)}."
        )
    make, extra = VECTOR_STORES[name]
    if extra:
        require(extra, f"The vector store {name!r}")
    return make()


def forget(folder: Path, but: str = "") -> None:
    """Delete all that databases keep of the collection in `folder`, except in the vector store `but`."""
    for file in children(folder / STORES):
        if file.stem != but and isinstance(store := vector_store(file.stem), VectorsInDatabase):
            store.keep((), folder)
            file.unlink(missing_ok=True)
