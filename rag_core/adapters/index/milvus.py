"""Vectors in Milvus. One address, in RAG_MILVUS_URL: a file of Milvus Lite, a server or a cluster.

A filter holds nothing but names and hashes of ours, each looked at before it is put there (`_plain`). The collection is
the partition key. Milvus knows no transaction: what was sent counts once the library's file has it, and opening that
asks whether all of it is there. Candidates are all vectors of the collection (index FLAT), so the search is exact.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from rag_core.adapters.index.in_database import Found, damaged, unavailable
from rag_core.domain.ports import Vectors
from rag_core.settings.endpoints import store_url

NAME, VARIABLE, EXAMPLE = "milvus", "RAG_MILVUS_URL", "http://user:password@host:19530/database, or library/milvus.db"
VECTORS = "plumbline_vectors"  # each length of vectors has a collection of Milvus
AT_ONCE = 1_000  # rows of a request: 1.5 MB of vectors with 384 numbers
MAX_ROWS = 16_384  # rows that Milvus finds in one search
PATIENCE = 30.0  # seconds for a request
_PLAIN = re.compile(r"[a-z0-9_-]{1,128}")
T = TypeVar("T")


class Milvus:
    """A `Table`. Connects when it is first asked; threads may share it. No message holds a part of the address."""

    def __init__(self, url: Callable[[], str]) -> None:
        self._url = url
        self._client: Any = None
        self._made: set[str] = set()
        self._lock = threading.RLock()

    def put(self, collection: str, vectors: Found, dim: int) -> None:
        """Store what is not there yet. Milvus replaces no row by itself: each is deleted before it is inserted."""

        def work(client: Any) -> None:
            name = self._vectors(client, dim)
            there = set(self._rows(client, name, collection, vectors, []))
            for some in _groups([digest for digest in vectors if digest not in there], AT_ONCE):
                client.delete(name, ids=[_id(collection, digest) for digest in some], timeout=PATIENCE)
                rows = [
                    {
                        "id": _id(collection, digest),
                        "collection": collection,
                        "digest": digest.hex(),
                        "embedding": vectors[digest],
                    }
                    for digest in some
                ]
                client.insert(name, rows, timeout=PATIENCE)

        self._run(work)

    def held(self, collection: str, digests: Sequence[bytes], dim: int) -> int:
        return len(self._run(lambda client: self._rows(client, self._vectors(client, dim), collection, digests, [])))

    def fetch(self, collection: str, digests: Sequence[bytes], dim: int) -> Found:
        rows = self._run(
            lambda client: self._rows(client, self._vectors(client, dim), collection, digests, ["embedding"])
        )
        return {digest: np.asarray(row["embedding"], dtype=np.float32) for digest, row in rows.items()}

    def nearest(self, collection: str, vector: Vectors, k: int, among: Sequence[bytes] | None) -> Found:
        mine = f"collection == {_quoted(collection)}"
        filters = (
            [mine] if among is None else [f"{mine} and digest in {_list(some)}" for some in _groups(among, AT_ONCE)]
        )

        def work(client: Any) -> list[Any]:
            name = self._vectors(client, len(vector))
            found: list[Any] = []
            for each in filters:
                (hits,) = client.search(
                    name,
                    data=[np.asarray(vector, dtype=np.float32)],
                    limit=min(k, MAX_ROWS),
                    filter=each,
                    output_fields=["digest", "embedding"],
                    search_params={"metric_type": "IP"},
                    consistency_level="Strong",
                    timeout=PATIENCE,
                )
                found += hits
            return sorted(found, key=lambda hit: -hit["distance"])[:k]

        rows = [hit["entity"] for hit in self._run(work)]
        return {bytes.fromhex(row["digest"]): np.asarray(row["embedding"], dtype=np.float32) for row in rows}

    def drop(self, collection: str, digests: Sequence[bytes]) -> None:
        def work(client: Any) -> None:
            for name in self._all_vectors(client):
                for some in _groups(digests, AT_ONCE):
                    client.delete(name, ids=[_id(collection, digest) for digest in some], timeout=PATIENCE)

        self._run(work)

    def keep(self, collection: str, digests: Iterable[bytes]) -> None:
        kept, mine = {digest.hex() for digest in digests}, f"collection == {_quoted(collection)}"

        def work(client: Any) -> None:
            for name in self._all_vectors(client):
                rows = client.query_iterator(
                    name,
                    batch_size=AT_ONCE,
                    filter=mine,
                    output_fields=["id", "digest"],
                    consistency_level="Strong",
                    timeout=PATIENCE,
                )
                try:
                    batches = iter(rows.next, [])
                    others = [row["id"] for some in batches for row in some if row["digest"] not in kept]
                finally:
                    rows.close()
                for some in _groups(others, AT_ONCE):
                    client.delete(name, ids=list(some), timeout=PATIENCE)

        self._run(work)

    def close(self) -> None:
        """End the connection; the next call makes a new one."""
        with self._lock:
            client, self._client = self._client, None
            self._made.clear()
        if client is not None:
            client.close()

    def _rows(
        self, client: Any, name: str, collection: str, digests: Iterable[bytes], fields: list[str]
    ) -> dict[bytes, Any]:
        found = {}
        for some in _groups(list(digests), AT_ONCE):
            ids = [_id(collection, digest) for digest in some]
            for row in client.query(
                name, ids=ids, output_fields=["digest", *fields], consistency_level="Strong", timeout=PATIENCE
            ):
                found[bytes.fromhex(row["digest"])] = row
        return found

    def _vectors(self, client: Any, dim: int) -> str:
        """The name of Milvus' collection of vectors of this length, made where it is missing, and loaded."""
        from pymilvus import DataType

        name = f"{VECTORS}_{dim}"
        with self._lock:
            if name in self._made:
                return name
            if not client.has_collection(name, timeout=PATIENCE):
                schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
                schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=256)
                schema.add_field("collection", DataType.VARCHAR, max_length=128, is_partition_key=True)
                schema.add_field("digest", DataType.VARCHAR, max_length=64)
                schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=dim)
                index = client.prepare_index_params()
                index.add_index(field_name="embedding", index_type="FLAT", metric_type="IP")
                client.create_collection(
                    name, schema=schema, index_params=index, consistency_level="Strong", timeout=PATIENCE
                )
            client.load_collection(name, timeout=PATIENCE)
            self._made.add(name)
        return name

    def _all_vectors(self, client: Any) -> list[str]:
        names = [name for name in client.list_collections(timeout=PATIENCE) if re.fullmatch(rf"{VECTORS}_\d+", name)]
        for name in names:
            self._vectors(client, int(name.rpartition("_")[2]))
        return names

    def _run(self, work: Callable[[Any], T]) -> T:
        """Do the work. Once more over a new connection where it fails: no work harms twice."""
        import grpc
        from pymilvus.exceptions import MilvusException

        for again in (self._client is not None, False):
            try:
                return work(self._connected())
            except (MilvusException, grpc.RpcError, OSError, ValueError) as error:
                self.close()
                if not again:
                    remedy = f"Start it, or correct {VARIABLE}, and try again. A file serves one process at a time."
                    raise unavailable(NAME, type(error).__name__, remedy) from None  # its text may hold the address
        raise AssertionError("the second try returns or raises")

    def _connected(self) -> Any:
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it prints every error with its own traceback
        with self._lock:
            if self._client is None:
                self._client = MilvusClient(self._url(), timeout=PATIENCE, dedicated=True)
            return self._client


def _id(collection: str, digest: bytes) -> str:
    return f"{_plain(collection)}:{digest.hex()}"


def _plain(value: str) -> str:
    if not _PLAIN.fullmatch(value):
        raise damaged()
    return value


def _quoted(value: str) -> str:
    return f'"{_plain(value)}"'


def _list(digests: Sequence[bytes]) -> str:
    return f"[{', '.join(_quoted(digest.hex()) for digest in digests)}]"


def _groups(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


@lru_cache(maxsize=1)
def database() -> Milvus:
    """The Milvus of the environment; one in the process, since its connection is shared."""
    return Milvus(lambda: store_url(VARIABLE, NAME, EXAMPLE))
