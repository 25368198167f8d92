"""Vectors and words in Milvus. One address, in RAG_MILVUS_URL: a file of Milvus Lite, a server or a cluster.

A filter holds nothing but names and hashes of ours, each looked at before it is put there (`_plain`): terms travel as
data. The collection is the partition key. Milvus knows no transaction. What was sent for a version counts once its
folder names it, and opening it asks whether all of it is there. Candidates are all vectors of the collection (index
FLAT), so the search is exact.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from rag_core.adapters.index.apart import Found, damaged
from rag_core.adapters.index.apart_words import Postings
from rag_core.domain.ports import Vectors
from rag_core.errors import StoreUnavailable
from rag_core.settings.endpoints import store_url

NAME, VARIABLE, EXAMPLE = "milvus", "RAG_MILVUS_URL", "http://user:password@host:19530/database, or library/milvus.db"
VECTORS, WORDS = "plumbline_vectors", "plumbline_words"  # each length of vectors has a collection of Milvus
AT_ONCE = 1_000  # rows of a request: 1.5 MB of vectors with 384 numbers
MAX_ROWS = 16_384  # rows that Milvus finds in one search
PART = 6_000  # postings in a row: 64,000 characters, and Milvus takes 65,535
PARTS_AT_ONCE = 100  # rows of postings in a request: 6.4 MB at most
TERMS_AT_ONCE = 10  # terms of a request: in a large library a term has postings in many rows; chosen
PATIENCE = 30.0  # seconds for a request
_PLAIN = re.compile(r"[a-z0-9_-]{1,128}")
_log = logging.getLogger("rag_core.stores")
T = TypeVar("T")


class Milvus:
    """A `Table` and a `WordTable`. Connects when it is first asked; threads may share it.

    No message holds a part of the address.
    """

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
        """How many of these distinct digests are there."""
        return len(self._run(lambda client: self._rows(client, self._vectors(client, dim), collection, digests, [])))

    def fetch(self, collection: str, digests: Sequence[bytes], dim: int) -> Found:
        """The vectors of these digests, as far as they are there."""
        rows = self._run(
            lambda client: self._rows(client, self._vectors(client, dim), collection, digests, ["embedding"])
        )
        return {digest: np.asarray(row["embedding"], dtype=np.float32) for digest, row in rows.items()}

    def nearest(self, collection: str, vector: Vectors, k: int, among: Sequence[bytes] | None) -> Found:
        """The k of the collection with the largest product with `vector`, of its length; only of `among` where that is
        given.
        """
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
        """Delete the vectors of these digests, of whatever length."""

        def work(client: Any) -> None:
            for name in self._all_vectors(client):
                for some in _groups(digests, AT_ONCE):
                    client.delete(name, ids=[_id(collection, digest) for digest in some], timeout=PATIENCE)

        self._run(work)

    def keep(self, collection: str, digests: Iterable[bytes]) -> None:
        """Delete all other vectors of the collection."""
        kept, mine = {digest.hex() for digest in digests}, f"collection == {_quoted(collection)}"

        def work(client: Any) -> None:
            for name in self._all_vectors(client):
                others = [row["id"] for row in self._every(client, name, mine, ["digest"]) if row["digest"] not in kept]
                for some in _groups(others, AT_ONCE):
                    client.delete(name, ids=list(some), timeout=PATIENCE)

        self._run(work)

    def put_words(self, collection: str, version: str, postings: Sequence[tuple[str, Postings]]) -> None:
        """Store a version's postings, in the place of what stands there."""

        def work(client: Any) -> None:
            self._words(client)
            client.delete(WORDS, filter=_version(collection, version), timeout=PATIENCE)
            for some in _groups(list(_parts(collection, version, postings)), PARTS_AT_ONCE):
                client.insert(WORDS, list(some), timeout=PATIENCE)

        self._run(work)

    def fetch_words(self, collection: str, version: str, terms: Sequence[str]) -> Mapping[str, Postings]:
        """The postings of these terms, as far as the version holds them."""
        mine = _version(collection, version)

        def work(client: Any) -> list[Any]:
            self._words(client)
            rows: list[Any] = []
            for some in _groups(terms, TERMS_AT_ONCE):
                wanted = f"{mine} and term_hash in [{', '.join(_quoted(_hash(term)) for term in some)}]"
                fields = ["term", "part", "postings"]
                rows += client.query(
                    WORDS, wanted, output_fields=fields, limit=MAX_ROWS, consistency_level="Strong", timeout=PATIENCE
                )
            return rows

        found: dict[str, list[Any]] = defaultdict(list)
        for row in self._run(work):
            found[base64.b64decode(row["term"]).decode()].append(row)
        return {term: _joined(rows) for term, rows in found.items()}

    def terms(self, collection: str, version: str) -> Collection[str]:
        """All terms of a version."""

        def work(client: Any) -> list[Any]:
            self._words(client)
            return list(self._every(client, WORDS, f"{_version(collection, version)} and part == 0", ["term"]))

        return [base64.b64decode(row["term"]).decode() for row in self._run(work)]

    def keep_words(self, collection: str, versions: Collection[str]) -> None:
        """Delete the postings of all other versions of the collection."""
        kept = "".join(f" and version != {_quoted(version)}" for version in versions)

        def work(client: Any) -> None:
            self._words(client)
            client.delete(WORDS, filter=f"collection == {_quoted(collection)}{kept}", timeout=PATIENCE)

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

    def _every(self, client: Any, name: str, wanted: str, fields: list[str]) -> Iterator[Any]:
        """All rows that a filter lets through, however many."""
        rows = client.query_iterator(
            name,
            batch_size=AT_ONCE if name != WORDS else PARTS_AT_ONCE * 5,
            filter=wanted,
            output_fields=["id", *fields],
            consistency_level="Strong",
            timeout=PATIENCE,
        )
        try:
            while some := rows.next():
                yield from some
        finally:
            rows.close()

    def _vectors(self, client: Any, dim: int) -> str:
        self._make(client, name := f"{VECTORS}_{dim}", dim, {"digest": 64})
        return name

    def _all_vectors(self, client: Any) -> list[str]:
        names = [name for name in client.list_collections(timeout=PATIENCE) if re.fullmatch(rf"{VECTORS}_\d+", name)]
        for name in names:
            self._vectors(client, int(name.rpartition("_")[2]))
        return names

    def _words(self, client: Any) -> None:
        # Milvus keeps no rows without a vector: this one says nothing
        self._make(client, WORDS, 2, {"version": 64, "term_hash": 64, "term": 65_535, "postings": 65_535})

    def _make(self, client: Any, name: str, dim: int, texts: Mapping[str, int]) -> None:
        """Make a collection of Milvus where it is not there yet, and have it loaded."""
        from pymilvus import DataType

        with self._lock:
            if name in self._made:
                return
            if not client.has_collection(name, timeout=PATIENCE):
                schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
                schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=256)
                schema.add_field("collection", DataType.VARCHAR, max_length=128, is_partition_key=True)
                for field, length in texts.items():
                    schema.add_field(field, DataType.VARCHAR, max_length=length)
                if name == WORDS:
                    schema.add_field("part", DataType.INT64)
                schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=dim)
                index = client.prepare_index_params()
                index.add_index(field_name="embedding", index_type="FLAT", metric_type="IP")
                client.create_collection(
                    name, schema=schema, index_params=index, consistency_level="Strong", timeout=PATIENCE
                )
            client.load_collection(name, timeout=PATIENCE)
            self._made.add(name)

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
                    raise _unavailable(error) from None  # its text may hold the address
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


def _hash(term: str) -> str:
    return hashlib.sha256(term.encode()).hexdigest()


def _plain(value: str) -> str:
    """A name or hash of ours.

    Raises:
        LibraryDamaged: it holds another character than those are made of.
    """
    if not _PLAIN.fullmatch(value):
        raise damaged("vector")
    return value


def _quoted(value: str) -> str:
    """The same for a filter."""
    return f'"{_plain(value)}"'


def _list(digests: Sequence[bytes]) -> str:
    return f"[{', '.join(_quoted(digest.hex()) for digest in digests)}]"


def _version(collection: str, version: str) -> str:
    return f"collection == {_quoted(collection)} and version == {_quoted(version)}"


def _groups(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _parts(collection: str, version: str, postings: Sequence[tuple[str, Postings]]) -> Iterator[dict[str, Any]]:
    """The rows of a version's postings; those of a frequent term are several, with their numbers."""
    for term, (rows, parts) in postings:
        for number, start in enumerate(range(0, len(rows), PART)):
            some = slice(start, start + PART)
            packed = np.asarray(rows[some], "<i4").tobytes() + np.asarray(parts[some], "<f4").tobytes()
            yield {
                "id": f"{version}:{_hash(term)}:{number}",
                "collection": collection,
                "version": version,
                "term_hash": _hash(term),
                "term": base64.b64encode(term.encode()).decode(),
                "part": number,
                "postings": base64.b64encode(packed).decode(),
                "embedding": [1.0, 0.0],
            }


def _joined(rows: list[Any]) -> Postings:
    packed = [base64.b64decode(row["postings"]) for row in sorted(rows, key=lambda row: int(row["part"]))]
    return (
        np.concatenate([np.frombuffer(data[: len(data) // 2], "<i4") for data in packed]),
        np.concatenate([np.frombuffer(data[len(data) // 2 :], "<f4") for data in packed]),
    )


def _unavailable(error: Exception) -> StoreUnavailable:
    """The error that a user reads: its kind, and no word of the address."""
    _log.warning("the vector store %r cannot be asked: %s", NAME, type(error).__name__)
    return StoreUnavailable(
        f"The database of the vector store {NAME!r} cannot be asked ({type(error).__name__}).",
        remedy=f"Start it, or correct {VARIABLE}, and try again; a file serves one process at a time. "
        "Nothing was lost: the documents are in the library's folder.",
    )


@lru_cache(maxsize=1)
def database() -> Milvus:
    """The Milvus of the environment; one in the process, since its connection is shared."""
    return Milvus(lambda: store_url(VARIABLE, NAME, EXAMPLE))
