"""Vectors in PostgreSQL with pgvector. One address, in RAG_PGVECTOR_URL, names the database.

Values go to the database as parameters, never as SQL. A connection tells the server which collection it serves, whose
row security then shows and takes no row of another one: a second guard behind the condition that every statement has.
Vectors are compared with all others of the collection, which is exact.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

import numpy as np

from rag_core.adapters.index.in_database import Found, unavailable
from rag_core.domain.ports import Vectors
from rag_core.errors import InvalidSetting, StoreUnavailable
from rag_core.settings.endpoints import store_url

if TYPE_CHECKING:
    from psycopg import Connection

NAME, VARIABLE, EXAMPLE = "pgvector", "RAG_PGVECTOR_URL", "postgresql://user:password@host/database"
# Seconds and milliseconds: a server that is gone is noticed within half a minute. An address may say otherwise.
PATIENCE = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
KEPT_OPEN = 4  # connections, between two questions
LOCK = 0x506C756D  # "Plum": two processes must not make the table at once
SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE plumbline_vectors (
    collection text NOT NULL, dim integer NOT NULL, digest bytea NOT NULL, embedding vector NOT NULL,
    PRIMARY KEY (collection, dim, digest));
ALTER TABLE plumbline_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE plumbline_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY own_collection ON plumbline_vectors USING (collection = current_setting('plumbline.collection', true));
"""
# what a server says where it lets nobody in, without a code; its text may name users and databases
TURNED_AWAY = {
    "authentication failed": "it does not accept the user or the password",
    "no password supplied": "it asks for a password",
    "does not exist": "it has no such user or database",
    "too many": "it has no connection left",
    "FATAL:": "it turns the connection away",
}
ABOVE = "SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"
T = TypeVar("T")
_log = logging.getLogger("rag_core.stores")


class Postgres:
    """A `Table`. Keeps a few connections open; threads may share it. No message holds a part of the address."""

    def __init__(self, url: Callable[[], str]) -> None:
        self._url = url
        self._free: list[_Link] = []
        self._lock = threading.Lock()

    def put(self, collection: str, vectors: Found, dim: int) -> None:
        def work(connection: Connection[Any]) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                there = set(_held(connection, collection, list(vectors), dim))
                new = ((collection, dim, digest, vector) for digest, vector in vectors.items() if digest not in there)
                # not COPY, which the server refuses where rows are guarded
                cursor.executemany(
                    "INSERT INTO plumbline_vectors (collection, dim, digest, embedding) VALUES (%s, %s, %s, %b)", new
                )

        self._run(collection, work)

    def held(self, collection: str, digests: Sequence[bytes], dim: int) -> int:
        return len(self._run(collection, lambda connection: _held(connection, collection, digests, dim)))

    def fetch(self, collection: str, digests: Sequence[bytes], dim: int) -> Found:
        query = (
            "SELECT digest, embedding FROM plumbline_vectors WHERE collection = %s AND dim = %s AND digest = ANY(%s)"
        )
        return _vectors(self._rows(collection, query, (collection, dim, list(digests))))

    def nearest(self, collection: str, vector: Vectors, k: int, among: Sequence[bytes] | None) -> Found:
        asked = np.asarray(vector, dtype=np.float32)
        chosen, parameters = ("", ()) if among is None else (" AND digest = ANY(%s)", (list(among),))
        query = (
            f"SELECT digest, embedding FROM plumbline_vectors WHERE collection = %s AND dim = "
            f"%s{chosen} ORDER BY embedding <#> %b LIMIT %s"
        )
        return _vectors(self._rows(collection, query, (collection, len(asked), *parameters, asked, k)))

    def drop(self, collection: str, digests: Sequence[bytes]) -> None:
        query = "DELETE FROM plumbline_vectors WHERE collection = %s AND digest = ANY(%s)"
        self._run(collection, lambda connection: connection.execute(query, (collection, list(digests))))

    def keep(self, collection: str, digests: Iterable[bytes]) -> None:
        query = "DELETE FROM plumbline_vectors WHERE collection = %s AND digest <> ALL(%s)"
        self._run(collection, lambda connection: connection.execute(query, (collection, list(digests))))

    def close(self) -> None:
        """End the connections that are not in use; the next call makes a new one."""
        while (link := self._taken()) is not None:
            link.connection.close()

    def _rows(self, collection: str, query: LiteralString, parameters: Sequence[Any]) -> list[Any]:
        return self._run(collection, lambda connection: connection.execute(query, parameters, binary=True).fetchall())

    def _run(self, collection: str, work: Callable[[Connection[Any]], T]) -> T:
        """Do the work over a connection of the collection; once more over a new one where that was lost."""
        import psycopg

        link = self._taken()
        for again in (link is not None, False):
            try:
                link = link or _Link(self._connect())
                done = work(link.serving(collection))
            except BaseException as error:
                if link is not None:
                    link.connection.close()
                    link = None
                lost = isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
                if not isinstance(error, psycopg.Error):
                    raise
                if not (lost and again):
                    raise _refused(error) from error
            else:
                self._put_back(link)
                return done
        raise AssertionError("the second try returns or raises")

    def _taken(self) -> _Link | None:
        with self._lock:
            return self._free.pop() if self._free else None

    def _put_back(self, link: _Link) -> None:
        with self._lock:
            if len(self._free) < KEPT_OPEN:
                self._free.append(link)
                return
        link.connection.close()

    def _connect(self) -> Connection[Any]:
        import psycopg
        from pgvector.psycopg import register_vector
        from psycopg.conninfo import conninfo_to_dict

        url = self._url()
        try:
            asked: dict[str, Any] = {**PATIENCE, **conninfo_to_dict(url)}
        except psycopg.Error:  # from None: it may quote what is secret
            raise InvalidSetting(
                f"{VARIABLE} is not the address of a database.", remedy=f"Write it like {EXAMPLE}."
            ) from None
        connection: Connection[Any] = psycopg.connect(**asked, autocommit=True)
        try:
            _make_table(connection)
            register_vector(connection)
            if connection.execute(ABOVE).fetchone():
                _log.warning(
                    "the user in %s is above row security: give collections one that is no superuser", VARIABLE
                )
        except BaseException:
            connection.close()
            raise
        return connection


class _Link:
    def __init__(self, connection: Connection[Any]) -> None:
        self.connection, self._collection = connection, ""

    def serving(self, collection: str) -> Connection[Any]:
        """The connection, whose server shows it no row of another collection from now on."""
        if self._collection != collection:
            self.connection.execute("SELECT set_config('plumbline.collection', %s, false)", (collection,))
            self._collection = collection
        return self.connection


def _held(connection: Connection[Any], collection: str, digests: Sequence[bytes], dim: int) -> list[bytes]:
    query = "SELECT digest FROM plumbline_vectors WHERE collection = %s AND dim = %s AND digest = ANY(%s)"
    return [digest for (digest,) in connection.execute(query, (collection, dim, list(digests)), binary=True)]


def _vectors(rows: Iterable[tuple[bytes, Any]]) -> Found:
    return {digest: np.asarray(vector.to_numpy(), dtype=np.float32) for digest, vector in rows}


def _make_table(connection: Connection[Any]) -> None:
    """Make the table and its guard where they are not there yet, both or none."""

    def there() -> bool:
        found = connection.execute("SELECT to_regclass('plumbline_vectors')").fetchone()
        return found is not None and found[0] is not None

    if not there():
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            if not there():
                connection.execute(SCHEMA)


def _refused(error: Exception) -> StoreUnavailable:
    """The error that a user reads: what the database called it, and no word of the address."""
    import psycopg

    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        if why := next((why for said, why in TURNED_AWAY.items() if said in str(error)), ""):
            return unavailable(NAME, why, f"Correct {VARIABLE}, or what its user may do there, and try again.")
        why = type(error).__name__ if error.sqlstate else "it does not answer"
        return unavailable(NAME, why, f"Start it, or correct {VARIABLE}, and try again.")
    return StoreUnavailable(
        f"The database of the vector store {NAME!r} refused ({type(error).__name__}).",
        remedy="Install pgvector there, let an administrator run CREATE EXTENSION vector in it once, and let its user "
        "make tables.",
    )


@lru_cache(maxsize=1)
def database() -> Postgres:
    """The database of the environment; one in the process, since its connections are shared."""
    return Postgres(lambda: store_url(VARIABLE, NAME, EXAMPLE))
