"""The part that vector stores share whose vectors are in a database.

The library's file has all vectors; the database finds the nearest among more than fit into memory. A vector is stored
once, under the SHA-256 of its bytes, guarded by its collection: a change sends only what is new, and a row that was
changed in the database is found. Cosines of its candidates are computed here: equal numbers, equal decisions.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_core.adapters.index.flat import DIM, FaissStore
from rag_core.domain.ports import VectorIndex, Vectors
from rag_core.errors import LibraryDamaged, StoreUnavailable
from rag_core.library.disk.files import write_atomically
from rag_core.library.stored.collection import STORES

DIGEST = 32  # bytes of a SHA-256
SLACK = 1e-5  # cosines of a database and of this machine differ by rounding, by about 1e-7; this is on the safe side
SPARE = 16  # candidates beyond those wanted, so that one search is enough where nothing is that near
FETCHED = 64  # where no more rows are to choose from, all of them are fetched; chosen
_log = logging.getLogger("rag_core.stores")
Found = dict[bytes, Vectors]  # vectors by their digests


class Table(Protocol):
    """Vectors in a database. Every method raises `StoreUnavailable`; a change is made as a whole or not at all."""

    def put(self, collection: str, vectors: Found, dim: int) -> None:
        """Store what is not there yet."""

    def held(self, collection: str, digests: Sequence[bytes], dim: int) -> int:
        """How many of these distinct digests are there."""

    def fetch(self, collection: str, digests: Sequence[bytes], dim: int) -> Found:
        """The vectors of these digests, as far as they are there."""

    def nearest(self, collection: str, vector: Vectors, k: int, among: Sequence[bytes] | None) -> Found:
        """The k of the collection, or of `among`, with the largest product with `vector`."""

    def drop(self, collection: str, digests: Sequence[bytes]) -> None:
        """Delete the vectors of these digests."""

    def keep(self, collection: str, digests: Iterable[bytes]) -> None:
        """Delete all other vectors of the collection."""


def damaged() -> LibraryDamaged:
    """The database does not hold what the library's file says."""
    return LibraryDamaged(
        "The vector index cannot be read.",
        remedy="Run: python -m rag_core index --rebuild. It sends the vectors anew, from the library's file.",
    )


def unavailable(store: str, why: str, remedy: str) -> StoreUnavailable:
    """The error for a database that cannot be asked, with no word of its address."""
    _log.warning("the vector store %r cannot be asked: %s", store, why)
    return StoreUnavailable(
        f"The database of the vector store {store!r} cannot be asked: {why}.",
        remedy=f"{remedy} Nothing was lost: the documents are in the library's folder.",
    )


class Digests:
    """The digests of a version's rows, in their order, and the rows of a digest."""

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        self.rows = rows  # shape (n, DIGEST)
        self._heads = np.ascontiguousarray(rows[:, :8]).view(np.uint64).reshape(-1)
        self._order = np.argsort(self._heads, kind="stable")
        self._sorted = self._heads[self._order]

    @classmethod
    def of(cls, vectors: Vectors) -> Digests:
        data = b"".join(digest_of(row) for row in vectors)
        return cls(np.frombuffer(data, dtype=np.uint8).reshape(-1, DIGEST))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> bytes:
        return bytes(self.rows[row])

    def distinct(self) -> list[bytes]:
        """Each once, in the order of their first rows."""
        return list(dict.fromkeys(self[row] for row in range(len(self))))

    def rows_of(self, digest: bytes) -> list[int]:
        """The rows that have it, ascending; none where no row of this version does."""
        head = np.frombuffer(digest[:8], dtype=np.uint64)[0]
        start, end = np.searchsorted(self._sorted, head, "left"), np.searchsorted(self._sorted, head, "right")
        return [int(row) for row in self._order[start:end] if self[int(row)] == digest]


def digest_of(vector: Vectors) -> bytes:
    """The SHA-256 of a vector's bytes, as little-endian float32."""
    return hashlib.sha256(np.ascontiguousarray(vector, dtype="<f4").tobytes()).digest()


class DatabaseIndex:
    """A `VectorIndex` in a database; nobody has looked whether `new` vectors are there. Threads may share it."""

    def __init__(self, digests: Digests, dim: int, table: Table, collection: str, new: Found) -> None:
        self.digests, self.dim, self.collection, self.new = digests, dim, collection, new
        self._table = table

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        mine = None if allowed is None else {self.digests[row]: 0 for row in set(allowed)}
        total = len(self.digests) if allowed is None else len(set(allowed))
        if total == 0 or k < 1:
            return []
        wanted = min(k, total)
        if mine is not None and len(mine) <= FETCHED:
            ranked, _ = self._ranked(self._table.fetch(self.collection, list(mine), self.dim), vector, allowed)
            if len(ranked) < total:
                raise damaged()
            return ranked[:wanted]
        asked = wanted + SPARE
        while True:
            found = self._table.nearest(self.collection, vector, asked, None if mine is None else list(mine))
            ranked, worst = self._ranked(found, vector, allowed)
            if len(found) < asked or (len(ranked) >= wanted and worst < ranked[wanted - 1][1] - SLACK):
                if len(ranked) < wanted:
                    raise damaged()  # the database has lost some
                return ranked[:wanted]
            asked *= 2  # rows of other versions are among them, or many lie equally near

    def _ranked(
        self, found: Found, vector: Vectors, allowed: Sequence[int] | None
    ) -> tuple[list[tuple[int, float]], float]:
        """The rows of what was found, best first with their cosines; and the least cosine of all that was found."""
        chosen = None if allowed is None else set(allowed)
        self._check(found)
        digests = list(found)
        exact = FaissStore(self.dim).build(
            np.array([found[digest] for digest in digests], dtype=np.float32).reshape(-1, self.dim)
        )
        scored = exact.search(vector, len(digests), None)
        rows = [
            (row, cosine)
            for at, cosine in scored
            for row in self.digests.rows_of(digests[at])
            if chosen is None or row in chosen
        ]
        return sorted(rows, key=lambda pair: (-pair[1], pair[0])), scored[-1][1] if scored else -1.0

    def vectors(self, rows: Sequence[int]) -> Vectors:
        wanted = [self.digests[row] for row in rows]
        found = self._table.fetch(self.collection, list(dict.fromkeys(wanted)), self.dim) if wanted else {}
        self._check(found)
        if not found.keys() >= set(wanted):
            raise damaged()
        return np.array([found[digest] for digest in wanted], dtype=np.float32).reshape(-1, self.dim)

    def _check(self, found: Found) -> None:
        if changed := [digest for digest, vector in found.items() if digest_of(vector) != digest]:
            with suppress(StoreUnavailable):
                self._table.drop(self.collection, changed)  # worth nothing, and in the way of the right ones
            raise damaged()


class DatabaseStore:
    """A `VectorsInDatabase`. The file `stores/<name>.json` of a collection's folder says whose rows are its own."""

    def __init__(self, name: str, table: Table) -> None:
        self.name, self._table = name, table

    def build(self, vectors: Vectors) -> DatabaseIndex:
        digests = Digests.of(vectors)
        new = {digests[row]: vectors[row] for row in reversed(range(len(digests)))}
        return DatabaseIndex(digests, vectors.shape[1] or DIM, self._table, "", new)

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> DatabaseIndex | None:
        if not isinstance(index, DatabaseIndex):
            return None
        rows, new, dim = list[NDArray[np.uint8]](), dict(index.new), index.dim
        for piece in pieces:
            if isinstance(piece, range):
                rows.append(index.digests.rows[piece.start : piece.stop])
                continue
            made = self.build(piece)
            rows.append(made.digests.rows)
            new, dim = new | made.new, made.dim
        return DatabaseIndex(Digests(np.concatenate(rows)), dim, self._table, index.collection, new)

    def send(self, index: VectorIndex, folder: Path) -> None:
        """Store the vectors that the database lacks; the folder says whose they are before, for a killed process."""
        assert isinstance(index, DatabaseIndex)
        if not index.new:
            return
        if not (collection := self._owner(folder)):
            # two libraries of one name that share a database never see each other's rows
            collection = f"{folder.name}-{secrets.token_hex(16)}"
            write_atomically(self._file(folder), json.dumps({"collection": collection}).encode())
        self._table.put(collection, index.new, index.dim)
        index.collection, index.new = collection, {}

    def require(self, index: VectorIndex, folder: Path) -> None:
        """Look whether all vectors are in the database; raises LibraryDamaged where not, or StoreUnavailable."""
        assert isinstance(index, DatabaseIndex)
        if index.new:
            collection = self._owner(folder)
            if not collection or self._table.held(collection, list(index.new), index.dim) != len(index.new):
                raise damaged()
            index.collection, index.new = collection, {}

    def keep(self, indexes: Iterable[VectorIndex], folder: Path) -> None:
        if collection := self._owner(folder):
            known = (index.digests.distinct() for index in indexes if isinstance(index, DatabaseIndex))
            self._table.keep(collection, {digest for digests in known for digest in digests})

    def _file(self, folder: Path) -> Path:
        return folder / STORES / f"{self.name}.json"

    def _owner(self, folder: Path) -> str:
        """Whose rows those of a collection are; "" where it never had any, or nobody can tell."""
        try:
            return str(json.loads(self._file(folder).read_bytes())["collection"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return ""
