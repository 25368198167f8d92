"""The part that stores share which keep their rows in a database, apart from the library's folder.

A vector is stored once, under the SHA-256 of its bytes, guarded by its collection. The folder of a version keeps the
digests of its rows in their order. So a version sends only what is new in it, equal vectors are one row, and a row that
was changed in the database is found.

The database only proposes candidates. Their cosines are computed here, from the stored vectors and by the code of the
exact store on local disk: equal numbers, equal decisions.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_core.adapters.index.flat import DIM, FaissStore
from rag_core.domain.ports import VectorIndex, Vectors
from rag_core.errors import LibraryDamaged, StoreUnavailable
from rag_core.library.disk.files import write_atomically
from rag_core.library.disk.private import write

DIGEST = 32  # bytes of a SHA-256
SLACK = 1e-5  # cosines of a database and of this machine differ by rounding, by about 1e-7; this is on the safe side
SPARE = 16  # candidates beyond those wanted, so that one search is enough where nothing is that near
FETCHED = 64  # where no more rows are to choose from, all of them are fetched; chosen
INDEXES = ("vectors", "words")
Found = dict[bytes, Vectors]  # vectors by their digests


class Table(Protocol):
    """Vectors in a database.

    Every method raises `StoreUnavailable` where it cannot be asked; a change is made as a whole or not at all.
    """

    def put(self, collection: str, vectors: Found, dim: int) -> None:
        """Store what is not there yet."""
        ...

    def held(self, collection: str, digests: Sequence[bytes], dim: int) -> int:
        """How many of these distinct digests are there."""
        ...

    def fetch(self, collection: str, digests: Sequence[bytes], dim: int) -> Found:
        """The vectors of these digests, as far as they are there."""
        ...

    def nearest(self, collection: str, vector: Vectors, k: int, among: Sequence[bytes] | None) -> Found:
        """The k of the collection with the largest product with `vector`, of its length; only of `among` where that is
        given.
        """
        ...

    def drop(self, collection: str, digests: Sequence[bytes]) -> None:
        """Delete the vectors of these digests."""
        ...

    def keep(self, collection: str, digests: Iterable[bytes]) -> None:
        """Delete all other vectors of the collection."""
        ...


def damaged(what: str) -> LibraryDamaged:
    """An index that does not hold what its folder says."""
    return LibraryDamaged(
        f"The {what} index cannot be read.",
        remedy="Run: python -m rag_core index --rebuild. It makes the index anew from the stored documents.",
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
        """Those of these vectors."""
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


class ApartIndex:
    """A `VectorIndex` whose vectors are in a database; until it is saved they are here. Threads may share it."""

    def __init__(
        self, digests: Digests, dim: int, table: Table, collection: str = "", vectors: Vectors | None = None
    ) -> None:
        self.digests, self.dim, self._table, self._collection = digests, dim, table, collection
        self._unsaved = None if vectors is None else FaissStore(dim).build(vectors)

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, cosine), best first, equal cosines by row; only rows in `allowed` when given."""
        if (unsaved := self._unsaved) is not None:
            return unsaved.search(vector, k, allowed)
        mine = None if allowed is None else {self.digests[row]: 0 for row in set(allowed)}
        total = len(self.digests) if allowed is None else len(set(allowed))
        if total == 0 or k < 1:
            return []
        wanted = min(k, total)
        if mine is not None and len(mine) <= FETCHED:
            ranked, _ = self._ranked(self._table.fetch(self._collection, list(mine), self.dim), vector, allowed)
            if len(ranked) < total:
                raise damaged("vector")
            return ranked[:wanted]
        asked = wanted + SPARE
        while True:
            found = self._table.nearest(self._collection, vector, asked, None if mine is None else list(mine))
            ranked, worst = self._ranked(found, vector, allowed)
            if len(found) < asked or (len(ranked) >= wanted and worst < ranked[wanted - 1][1] - SLACK):
                if len(ranked) < wanted:
                    raise damaged("vector")  # the database has lost some
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
        """The stored vectors of these rows, shape (len(rows), dim)."""
        if (unsaved := self._unsaved) is not None:
            return unsaved.vectors(rows)
        wanted = [self.digests[row] for row in rows]
        found = self._table.fetch(self._collection, list(dict.fromkeys(wanted)), self.dim) if wanted else {}
        self._check(found)
        if not found.keys() >= set(wanted):
            raise damaged("vector")
        return np.array([found[digest] for digest in wanted], dtype=np.float32).reshape(-1, self.dim)

    def _check(self, found: Found) -> None:
        if changed := [digest for digest, vector in found.items() if digest_of(vector) != digest]:
            with suppress(StoreUnavailable):
                self._table.drop(self._collection, changed)  # worth nothing, and in the way of the right ones
            raise damaged("vector")

    def save(self, collection: str) -> None:
        """Store the vectors that are not in the database yet; from then on it is asked."""
        if self._unsaved is None and self._collection == collection:
            return
        at = {self.digests[row]: row for row in reversed(range(len(self.digests)))}
        self._table.put(collection, dict(zip(at, self.vectors(list(at.values())), strict=True)), self.dim)
        self._collection, self._unsaved = collection, None


class ApartStore:
    """A `VectorStore` whose vectors are in a database. Its folder has `vectors.<name>.json` and the rows' digests."""

    def __init__(self, name: str, table: Table) -> None:
        self.name, self._table = name, table

    def build(self, vectors: Vectors) -> ApartIndex:
        """An index over unit vectors of shape (n, dim)."""
        return ApartIndex(
            Digests.of(vectors),
            vectors.shape[1] or DIM,
            self._table,
            vectors=np.ascontiguousarray(vectors, dtype=np.float32),
        )

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> None:
        """Its digests are made of all vectors: it is built anew."""
        return None

    def save(self, index: VectorIndex, folder: Path) -> None:
        """Store the vectors in one transaction.

        The folder says whose they are before, so that those of a killed process are found again.

        Raises:
            OSError: the disk or the permissions refused.
            StoreUnavailable: the database did; nothing of them is in it then.
        """
        if not isinstance(index, ApartIndex):
            raise TypeError(f"The vector store {self.name!r} saves an ApartIndex, got {type(index).__name__}")
        head = {"collection": owner(folder, self.name), "rows": len(index.digests), "dim": index.dim}
        write(folder / f"vectors.{self.name}.digests", index.digests.rows.tobytes())
        write_head(folder, "vectors", self.name, head)
        index.save(str(head["collection"]))

    def load(self, folder: Path) -> ApartIndex:
        """Read it back, and ask whether all of its vectors are there.

        Raises:
            LibraryDamaged: a file is missing or cut short, or the database lacks a vector.
            StoreUnavailable: the database cannot be asked.
        """
        head, digests = read_head(folder, "vectors", self.name), self._digests(folder)
        collection, rows, dim = str(head.get("collection")), head.get("rows"), head.get("dim")
        if digests is None or len(digests) != rows or not isinstance(dim, int):
            raise damaged("vector")
        distinct = digests.distinct()
        if distinct and self._table.held(collection, distinct, dim) != len(distinct):
            raise damaged("vector")
        return ApartIndex(digests, dim, self._table, collection)

    def forget(self, folder: Path) -> None:
        """Delete the vectors of this version that no other version of the library has, before the folder itself goes.

        Raises:
            StoreUnavailable: the database cannot be asked; nothing is deleted then.
        """
        with suppress(LibraryDamaged):  # without its head it names nobody's rows
            head = read_head(folder, "vectors", self.name)
            kept = (self._digests(other) for other in others(folder))
            self._table.keep(
                str(head["collection"]), {digest for digests in kept if digests for digest in digests.distinct()}
            )

    def _digests(self, folder: Path) -> Digests | None:
        """None where there are none, or half of them."""
        try:
            data = (folder / f"vectors.{self.name}.digests").read_bytes()
        except OSError:
            return None
        return None if len(data) % DIGEST else Digests(np.frombuffer(data, dtype=np.uint8).reshape(-1, DIGEST))


def owner(folder: Path, store: str) -> str:
    """Whose rows a version's are: the collection's name, and a number drawn with its first version.

    Two libraries that share a database have other numbers, and never see each other's rows. `folder` is
    `<collection>/indexes/<version>`.
    """
    for version in (folder, *others(folder)):
        for index in INDEXES:
            with suppress(LibraryDamaged):
                return str(read_head(version, index, store)["collection"])
    return f"{folder.parent.parent.name}-{secrets.token_hex(16)}"


def others(folder: Path) -> Iterator[Path]:
    """The folders of the other versions."""
    if folder.parent.name == "indexes" and folder.parent.is_dir():
        yield from (path for path in sorted(folder.parent.iterdir()) if path.is_dir() and path != folder)


def write_head(folder: Path, index: str, store: str, head: dict[str, Any]) -> None:
    """Write what an index in a database has to be found by.

    Raises:
        OSError: the disk or the permissions refused.
    """
    write_atomically(folder / f"{index}.{store}.json", json.dumps(head).encode())


def read_head(folder: Path, index: str, store: str) -> dict[str, Any]:
    """Read it back.

    Raises:
        LibraryDamaged: it is missing or cut short.
    """
    try:
        head = json.loads((folder / f"{index}.{store}.json").read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise damaged("vector" if index == "vectors" else "word") from error
    if not isinstance(head, dict) or not isinstance(head.get("collection"), str):
        raise damaged("vector" if index == "vectors" else "word")
    return head


def named_in(folder: Path, stores: Collection[str]) -> set[str]:
    """Those of these stores that a version has rows in."""
    return {store for store in stores for index in INDEXES if (folder / f"{index}.{store}.json").exists()}
