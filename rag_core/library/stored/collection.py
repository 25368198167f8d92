"""A collection on disk: one SQLite file, with the bytes of its sources beside it.

    <collection>/collection.sqlite     documents, pages, passages, vectors, words, and what waits to be indexed
    <collection>/sources/<digest>      the bytes as they were handed in; see stored_sources.py
    <collection>/stores/<name>.json    whose rows in a database are its own; see adapters/index/in_database.py
    <collection>/title.txt             its name as a person wrote it; see titles.py
    <collection>/lock                  held by whoever indexes
    <collection>/synced/               the files of the folder that it follows; see rag_core/work/syncing.py
    <collection>/records.sqlite        decisions, labels and feedback; see adapters/records

A document has one row for each of its forms: one that is ready, and one that is being made of it. Whatever is changed
is changed in one transaction. A deletion goes on until nothing of it stands in the log beside the file, or among the
sources: where a process is killed before, whoever opens the collection next finishes it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Several
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.domain.documents import Document
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Vectors
from rag_core.errors import Cancelled, LibraryBusy, LibraryDamaged, LibraryError
from rag_core.library.disk.database import Database, library_damaged
from rag_core.library.disk.files import REBUILD, children, damaged, storage_problems, sync
from rag_core.library.disk.private import size_of
from rag_core.library.stored import stored_sources
from rag_core.library.stored.entry import Accepted, Entry, Row, accepted, source_digest
from rag_core.library.stored.named import FILE, require_name
from rag_core.library.stored.sources import Source
from rag_core.library.stored.stored_json import (
    json_rows,
    pack,
    pack_parts,
    passages_to_json,
    sealed,
    unpack,
    unsealed,
)
from rag_core.library.stored.typed_json import reader, to_row

VERSION = 3  # the version of the tables and of what is packed in them
STORES = "stores"  # the folder in which each database that has rows of the collection has a file
# states of a document: it is being read, and its first pages may have passages; it is complete, and published with the
# next ones; it is in the library
READING, COMPLETE, READY = "reading", "complete", "ready"
OTHERS_SECONDS = 3600.0  # a source is written in seconds: a younger draft may be somebody's
# `deleting` of the library: a source that gave no document is to go; somebody deleted something, so no word of it may
# be left
LEFT_OVER, DELETED = 1, 2
# a source whose indexing was begun so often is for a person to decide on: it may be what ends the process
MAX_TRIES = 2
SCHEMA = (
    """CREATE TABLE library (version INTEGER NOT NULL, changes INTEGER NOT NULL, embedder TEXT NOT NULL,
        index_version INTEGER NOT NULL, vector_store TEXT NOT NULL, deleting INTEGER NOT NULL)""",
    "INSERT INTO library VALUES (0, 0, '', 0, '', 0)",
    """CREATE TABLE waiting (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, source BLOB NOT NULL,
        bytes INTEGER NOT NULL, begun INTEGER, settings BLOB)""",
    """CREATE TABLE document (id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL, key TEXT NOT NULL,
        state TEXT NOT NULL, place INTEGER NOT NULL, stamp INTEGER NOT NULL, language TEXT NOT NULL,
        bytes INTEGER NOT NULL, size INTEGER NOT NULL, pages INTEGER NOT NULL, options TEXT NOT NULL, reading BLOB,
        entry BLOB)""",
    "CREATE INDEX document_digest ON document (digest)",
    """CREATE TABLE page (document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE, number INTEGER NOT NULL,
        facts BLOB NOT NULL, layout BLOB NOT NULL, PRIMARY KEY (document, number))""",
    """CREATE TABLE passages (document INTEGER PRIMARY KEY REFERENCES document ON DELETE CASCADE,
        count INTEGER NOT NULL, title TEXT NOT NULL, passages BLOB NOT NULL, terms BLOB NOT NULL,
        vectors BLOB NOT NULL)""",
    """CREATE TABLE question (document INTEGER PRIMARY KEY REFERENCES document ON DELETE CASCADE,
        question TEXT NOT NULL)""",
    """CREATE TABLE words (id INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL, rows INTEGER NOT NULL,
        data BLOB NOT NULL)""",
    """CREATE TABLE recognised (digest TEXT NOT NULL REFERENCES waiting (digest) ON DELETE CASCADE,
        key TEXT NOT NULL, event BLOB NOT NULL, PRIMARY KEY (digest, key))""",
)

Values = Mapping[str, Any]  # settings by their name, as JSON has them
# deletes what databases keep of the collection in a folder, except in the vector store of a name, and raises a RagError
# where it cannot
ForgetRows = Callable[[Path, str], None]


@dataclass(frozen=True, slots=True)
class Facts:
    """A library about itself. `version` counts changes of its documents, `changes` also those of what is being made."""

    version: int
    changes: int
    embedder: str  # model@precision
    index_version: int
    vector_store: str
    deleting: int  # a deletion is under way, or was cut off: LEFT_OVER, DELETED, or 0 for none


@dataclass(frozen=True, slots=True)
class Contents:
    """A library in figures, of its documents that are ready: one at least."""

    embedder: str  # model@precision
    vector_store: str
    documents: int
    passages: int
    bytes: int = 0  # that the documents take with their sources
    languages: tuple[str, ...] = ()  # those of most documents first


@dataclass(frozen=True, slots=True)
class Cut:
    """A document, or its first pages, cut into one passage or more, with terms; its vectors are still to be made."""

    entry: Entry  # as far as it is read
    title: str  # as it is embedded with the passages
    passages: Sequence[Passage]
    terms: Sequence[Sequence[str]]
    pages: int  # that it will have
    reused: bool = False  # its pages were not read just now
    known: dict[str, Vectors] = field(default_factory=dict, repr=False)  # vectors of its earlier batches, by text


class Gone(Cancelled):
    """Somebody deleted the document that is being made."""

    def __init__(self) -> None:
        super().__init__("It was deleted.", remedy="Add the file again.")


class Collection:
    """The file of one collection below `folder`, made when written to. Threads may share it. Raises InvalidInput."""

    def __init__(self, folder: Path, collection: str) -> None:
        require_name(collection)
        self.root = folder / collection
        how: dict[str, Any] = {"damaged": library_damaged, "what": "documents", "checked": False}
        # two connections: a reader waits for no writer
        self.reader = Database(self.root / FILE, SCHEMA, VERSION, **how)
        self._writer = Database(self.root / FILE, SCHEMA, VERSION, **how)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent view; raises LibraryDamaged where there are sources and no file, as of an earlier version."""
        self.require_there()
        with self.reader.reading() as db:
            yield db

    @contextmanager
    def writing(self, wait: float | None = None) -> Iterator[sqlite3.Connection]:
        """One transaction; see `Database.writing`. Raises as `reading` does."""
        self.require_there()
        with self._writer.writing(wait) as db:
            yield db

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block nobody else changes the file, damaged or not."""
        with ExitStack() as held:
            with suppress(LibraryDamaged):
                held.enter_context(self._writer.writing())
            yield

    def require_there(self) -> None:
        """Raise LibraryDamaged where there are sources and no list of documents."""
        if not self.reader.path.exists() and children(self.root / stored_sources.FOLDER):
            raise damaged(self.reader.path, "is missing, or an earlier version made this library")

    def close(self) -> None:
        self.reader.close()
        self._writer.close()

    def move_aside(self) -> Path | None:
        """Give a damaged file another name, and begin a new one."""
        self.close()
        aside = self._writer.move_aside()
        self._writer.begin()
        return aside

    # what it holds, told without opening an index

    def facts(self) -> Facts:
        with self.reading() as db:
            return facts_of(db)

    def contents(self) -> Contents | None:
        """It in figures; None where it has no documents."""
        figures = "SELECT count(*), sum(count), sum(size) FROM document JOIN passages ON document = id WHERE state = ?"
        languages = "SELECT language FROM document WHERE state = ? GROUP BY language ORDER BY count(*) DESC, min(place)"
        with self.reading() as db:
            facts, (documents, passages, size) = facts_of(db), db.execute(figures, (READY,)).fetchone()
            known = tuple(language for (language,) in db.execute(languages, (READY,)))
        return Contents(facts.embedder, facts.vector_store, documents, passages, size, known) if documents else None

    def taken(self) -> frozenset[str]:
        """The digests of its documents' files, and of those that wait to be indexed."""
        with self.reading() as db:
            query = "SELECT digest FROM document WHERE state = ? UNION SELECT digest FROM waiting"
            return frozenset(digest for (digest,) in db.execute(query, (READY,)))

    def size_bytes(self) -> int:
        return sum(found.st_size for path in self.root.rglob("*") if (found := _stat(path)) is not None)

    def questions(self) -> dict[str, str]:
        with self.reading() as db:
            return dict(db.execute("SELECT 'sha256:' || digest, question FROM question JOIN document ON document = id"))

    def keep_question(self, document_id: str, question: str) -> None:
        insert = "INSERT OR REPLACE INTO question SELECT id, ? FROM document WHERE digest = ? AND state = ?"
        with self.writing() as db:
            db.execute(insert, (question, source_digest(document_id), READY))

    def remembers(self, document_id: str) -> bool:
        query = "SELECT 1 FROM document WHERE digest = ?1 UNION SELECT 1 FROM waiting WHERE digest = ?1"
        return self._exists(query, source_digest(document_id))

    def _exists(self, query: str, *values: object) -> bool:
        with self.reading() as db:
            return db.execute(query, values).fetchone() is not None

    def verify(self) -> None:
        """Compare the whole file, each packed part and the sources with their checksums; raises LibraryDamaged."""
        with self.reading() as db:
            if db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise self.reader.damaged()
            for row, source in db.execute("SELECT id, entry FROM document WHERE state = ?", (READY,)).fetchall():
                stored_sources.check(self.root, Accepted.from_json(unpack(source)["source"]))
                self._require_sound(db, row)
            for (data,) in db.execute("SELECT data FROM words"):
                unsealed(data)

    def _require_sound(self, db: sqlite3.Connection, document: int) -> None:
        (count,) = db.execute("SELECT pages FROM document WHERE id = ?", (document,)).fetchone()
        numbers, pages = [], "SELECT number, facts, layout FROM page WHERE document = ? ORDER BY number"
        for number, facts, layout in db.execute(pages, (document,)):
            numbers.append(number)
            unpack(facts), unpack(layout)
        cut = "SELECT count, passages, terms, vectors FROM passages WHERE document = ?"
        found = db.execute(cut, (document,)).fetchone()
        if found is None or numbers != list(range(1, count + 1)):
            raise LibraryDamaged("Pages or passages of a document are missing.", remedy=REBUILD)
        unpack_terms(found[2]), unpack_vectors(found[3], len(unpack(found[1])))

    # the list of what was accepted and is not indexed yet

    def waiting(self) -> tuple[Accepted, ...]:
        """The sources that were accepted and are not indexed, in the order in which they came."""
        with self.reading() as db:
            return tuple(
                Accepted.from_json(unpack(source)) for (source,) in db.execute("SELECT source FROM waiting ORDER BY id")
            )

    def cut_off(self) -> list[tuple[Accepted, Values]]:
        """The sources whose indexing was cut off, with their settings; not those stopped, or tried too often."""
        query = "SELECT source, settings FROM waiting WHERE begun < ? ORDER BY id"
        with self.reading() as db:
            return [
                (Accepted.from_json(unpack(source)), unpack(settings) if settings else {})
                for source, settings in db.execute(query, (MAX_TRIES,))
            ]

    def begin(self, db: sqlite3.Connection, digests: Iterable[str]) -> None:
        """Count that indexing of these is begun, of those that were handed in before their turn came."""
        db.executemany("UPDATE waiting SET begun = begun + 1 WHERE digest = ?", [(digest,) for digest in digests])

    def hold_back(self, digests: Iterable[str]) -> None:
        """Leave these to a person: somebody stopped their job."""
        with self.writing() as db:
            db.executemany(
                "UPDATE waiting SET begun = ? WHERE digest = ? AND begun IS NOT NULL",
                [(MAX_TRIES, digest) for digest in digests],
            )

    def accept(
        self,
        sources: Iterable[Source],
        note: Callable[[Iterable[Accepted]], None] = lambda rows: None,
        *,
        taken_up: Values | None = None,
    ) -> list[Row]:
        """Store the bytes of all sources, then list them; returns each with its password. Equal bytes are one source.

        `note` is told of all before they are listed; where it raises, none is. If the process ends before they are
        indexed, the next start takes them up under the settings `taken_up`; None leaves them to a person.

        Raises:
            LibraryError: the disk refused.
        """
        self.require_there()
        self._writer.begin()
        for path in (self.root / stored_sources.FOLDER).glob(f"*{stored_sources.DRAFT}"):
            if (found := _stat(path)) is not None and found.st_mtime < time.time() - OTHERS_SECONDS:
                path.unlink(missing_ok=True)  # a killed process left it
        drafts: dict[str, tuple[Path | None, int]] = {}
        listed: list[Source] = []
        with storage_problems("taking files"):
            try:
                for source in sources:
                    row = Accepted.of(source)
                    drafts[row.digest] = stored_sources.draft(self.root, row, source.data), size_of(source.data)
                    listed.append(source)
                rows = accepted(listed)
                sync([path for path, _ in drafts.values() if path is not None])
                note([row for row, _ in rows])
                with self.writing() as db:
                    for row, _ in rows:
                        stored_sources.keep(self.root, row, drafts[row.digest][0])
                        self._list(db, row, drafts[row.digest][1], taken_up)
                    if rows:
                        sync([self.root / stored_sources.FOLDER])
            except BaseException:
                for draft, _ in drafts.values():
                    if draft is not None:
                        draft.unlink(missing_ok=True)  # the room is needed for what comes next
                raise
        return rows

    def put_waiting(self, rows: Iterable[Accepted]) -> None:
        """Put these on the list, whose bytes are stored; one that is there stays as it is."""
        with self.writing() as db:
            for row in rows:
                if not db.execute("SELECT 1 FROM waiting WHERE digest = ?", (row.digest,)).fetchone():
                    path = self.root / stored_sources.name_of(row)
                    self._list(db, row, path.stat().st_size if path.exists() else 0, None)

    def drop_waiting(self, db: sqlite3.Connection, digests: Iterable[str]) -> None:
        """Take these off the list, within a transaction; bytes of one without a document go by `finish_deletion`."""
        for digest in digests:
            db.execute("DELETE FROM waiting WHERE digest = ?", (digest,))
            left = "NOT EXISTS (SELECT 1 FROM document WHERE digest = ?)"
            db.execute(f"UPDATE library SET deleting = max(deleting, ?) WHERE {left}", (LEFT_OVER, digest))

    def _list(self, db: sqlite3.Connection, row: Accepted, size: int, taken_up: Values | None) -> None:
        insert = (
            "INSERT INTO waiting (digest, source, bytes, begun, settings) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT "
            "(digest) DO UPDATE"
            " SET source = ?2, begun = coalesce(?4, begun), settings = coalesce(?5, settings)"
        )
        again = (None, None) if taken_up is None else (0, pack(dict(taken_up)))
        db.execute(insert, (row.digest, pack(to_row(row)), size, *again))

    # documents that are being made

    def is_wanted(self, digest: str) -> bool:
        return self._exists("SELECT 1 FROM waiting WHERE digest = ?", digest)

    def begin_document(self, row: Accepted, key: str, options: str) -> int:
        """The number of a new form of a source that is going to be read; raises Gone where somebody deleted it."""
        insert = (
            "INSERT INTO document (digest, key, state, place, stamp, language, bytes, size, pages, options)"
            " SELECT ?, ?, ?, 0, 0, '', bytes, 0, 0, ? FROM waiting WHERE digest = ?"
        )
        with self.writing() as db:
            cursor = db.execute(insert, (row.digest, key, READING, options, row.digest))
            if not cursor.rowcount:
                raise Gone
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def put_pages(self, document: int, pages: Sequence[tuple[int, bytes, bytes]], reading: object = None) -> None:
        """Keep pages (number, facts, layout); with the last ones what is to be known of the `reading`. Raises Gone."""
        with self.writing() as db:
            _require_form(db, document)
            db.executemany("INSERT INTO page VALUES (?, ?, ?, ?)", [(document, *page) for page in pages])
            if reading is not None:
                db.execute("UPDATE document SET reading = ? WHERE id = ?", (pack(reading), document))

    def put(self, db: sqlite3.Connection, cut: Cut, packed: bytes, vectors: Vectors, state: str) -> bool:
        """Keep a document that was cut and embedded, within a transaction, in the place of what was kept of it before
        but in the library; False where somebody deleted it.

        `packed` are its passages by `pack_passages`, `state` is READING where it has only the first pages, else
        COMPLETE.
        """
        form, sealed_vectors, terms = cut.entry, pack_vectors(vectors), pack_terms(cut.terms)
        if db.execute("SELECT 1 FROM document WHERE id = ? AND state = ?", (form.row, READING)).fetchone() is None:
            return False
        others = "DELETE FROM document WHERE digest = ? AND id != ? AND state != ?"
        db.execute(others, (form.source.digest, form.row, READY))
        db.execute("UPDATE library SET changes = changes + 1")
        pages = "(SELECT coalesce(sum(length(facts) + length(layout)), 0) FROM page WHERE document = id)"
        size = len(packed) + len(terms) + len(sealed_vectors) + form.document.size_bytes
        db.execute(
            f"UPDATE document SET state = ?, stamp = (SELECT changes FROM library), language = ?, size = {pages} + ?,"
            " pages = ?, entry = ? WHERE id = ?",
            (state, form.document.language, size, cut.pages, pack_entry(form), form.row),
        )
        row = form.row, len(cut.passages), cut.title, packed, terms, sealed_vectors
        db.execute("INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?, ?, ?)", row)
        return True

    def drop_half_read(self, db: sqlite3.Connection) -> None:
        """Nobody indexes now: what is half read is asked no longer, and read anew. A complete reading is kept."""
        if db.execute("SELECT 1 FROM document WHERE state = ?", (READING,)).fetchone():
            form = "(SELECT id FROM document WHERE state = ?)"
            db.execute(f"DELETE FROM passages WHERE document IN {form}", (READING,))
            db.execute("DELETE FROM document WHERE state = ? AND reading IS NULL", (READING,))
            db.execute("UPDATE library SET changes = changes + 1")

    def complete(self, digest: str) -> list[Entry]:
        """All forms of a source that are complete, and not in the library yet."""
        with self.reading() as db:
            return entries_of(db, "digest = ? AND state = ? ORDER BY id DESC", digest, COMPLETE)

    def is_ready(self, digest: str) -> bool:
        return self._exists("SELECT 1 FROM document WHERE digest = ? AND state = ?", digest, READY)

    def is_sound(self, document: int) -> bool:
        try:
            with self.reading() as db:
                self._require_sound(db, document)
        except LibraryError:
            return False
        return True

    def drop_forms(self, digest: str) -> None:
        """Nothing comes of a source that was being made."""
        with self.writing() as db:
            db.execute("DELETE FROM document WHERE digest = ? AND state != ?", (digest, READY))
            db.execute("UPDATE library SET changes = changes + 1")

    def has_form(self, document: int) -> bool:
        return self._exists("SELECT 1 FROM document WHERE id = ?", document)

    def read_before(self, digest: str, options: str) -> tuple[int, Any] | None:
        """A document of the source whose pages were read by these options, and what is known of it, or None."""
        query = (
            "SELECT id, reading FROM document WHERE digest = ? AND options = ? AND "
            "reading IS NOT NULL ORDER BY id DESC LIMIT 1"
        )
        with self.reading() as db:
            found = db.execute(query, (digest, options)).fetchone()
        return None if found is None else (found[0], unpack(found[1]))

    def copy_pages(self, of: int, to: int) -> None:
        """Give a document the pages of another form of it; raises Gone."""
        with self.writing() as db:
            _require_form(db, to)
            db.execute("INSERT INTO page SELECT ?, number, facts, layout FROM page WHERE document = ?", (to, of))
            db.execute(
                "UPDATE document SET reading = (SELECT reading FROM document WHERE id = ?) WHERE id = ?", (of, to)
            )

    def stored_pages(self, document: int) -> list[tuple[bytes, bytes]]:
        query = "SELECT facts, layout FROM page WHERE document = ? ORDER BY number"
        with self.reading() as db:
            return db.execute(query, (document,)).fetchall()

    def take(self, path: Path, digest: str, key: str) -> bool:
        """Take in the document of a worker's file; whether it is the one ordered. Raises LibraryDamaged, or Gone."""
        other = Database(path, SCHEMA, VERSION, damaged=library_damaged, what="documents")
        with other.reading() as made:
            found = made.execute(
                "SELECT * FROM document WHERE digest = ? AND key = ? AND state = ?", (digest, key, COMPLETE)
            ).fetchone()
            cut = made.execute("SELECT * FROM passages").fetchall()
            pages = made.execute("SELECT number, facts, layout FROM page ORDER BY number").fetchall()
        other.close()
        if found is None or len(cut) != 1 or cut[0][0] != found[0]:
            return False
        with self.writing() as db:
            if not db.execute("SELECT 1 FROM waiting WHERE digest = ?", (digest,)).fetchone():
                raise Gone
            own = db.execute(f"INSERT INTO document VALUES (NULL{', ?' * (len(found) - 1)})", found[1:]).lastrowid
            db.executemany("INSERT INTO page VALUES (?, ?, ?, ?)", [(own, *page) for page in pages])
            db.execute("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)", (own, *cut[0][1:]))
            assert own is not None
            self._require_sound(db, own)
        return True

    # deletion

    def remove(self, db: sqlite3.Connection, digests: Several[str], *, ready: bool = True) -> None:
        """Delete all that is kept of these sources; without `ready` documents of the library stay.

        Within a transaction; call `finish_deletion` when it is committed.
        """
        for digest in digests:
            db.execute(
                f"DELETE FROM document WHERE digest = ?{'' if ready else ' AND state != ' + repr(READY)}", (digest,)
            )
            db.execute("DELETE FROM waiting WHERE digest = ?", (digest,))
        db.execute("UPDATE library SET deleting = ?, changes = changes + 1", (DELETED,))

    def finish_deletion(self, clear: Callable[[], object] = lambda: None) -> None:
        """Take what was deleted out of the log beside the file, and the bytes of sources that nothing needs off the
        disk.

        `clear` does the same to databases, also where nothing was deleted; where it raises, whoever comes next does it.

        Raises:
            LibraryBusy: somebody reads the file all the time; whoever comes next empties its log.
            LibraryError: the disk refused.
        """
        if not self.facts().deleting:
            clear()
            return
        self.reader.close()  # an idle connection holds no log back, but the file may be about to go
        if not self._writer.empty_log():
            raise LibraryBusy(
                "The documents are being read, so their log would still hold what is deleted.",
                remedy="Delete it once more.",
            )
        with storage_problems("deleting a file"), self.writing() as db:
            needed = {
                digest for (digest,) in db.execute("SELECT digest FROM document UNION SELECT digest FROM waiting")
            }
            for path in children(self.root / stored_sources.FOLDER):
                if path.name not in needed and not path.name.endswith(stored_sources.DRAFT):
                    path.unlink(missing_ok=True)
            # a repair put it aside: it may hold words of what somebody deleted, and is kept as long as nobody does
            for path in self.root.glob("collection.damaged-*") if self.facts().deleting == DELETED else ():
                path.unlink(missing_ok=True)
            clear()
            db.execute("UPDATE library SET deleting = 0")


def facts_of(db: sqlite3.Connection) -> Facts:
    row = db.execute("SELECT * FROM library").fetchone()
    if row is None:
        raise LibraryDamaged("The library's file says nothing of itself.", remedy=REBUILD)
    return Facts(*row)


def entry_of_row(row: int, key: str, entry: bytes, size: int, stamp: int) -> Entry:
    """The document of a row of the table; raises LibraryDamaged where it is not what was written."""
    try:
        found = unpack(entry)
        return Entry(row, key, reader(Document)(found["document"]), Accepted.from_json(found["source"]), size, stamp)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LibraryDamaged("The list of documents cannot be read.", remedy=REBUILD) from error


def entries_of(db: sqlite3.Connection, which: str, *values: object) -> list[Entry]:
    """The documents of which a condition in SQL holds; raises as `entry_of_row` does."""
    rows = db.execute(f"SELECT id, key, entry, size, stamp FROM document WHERE {which}", values).fetchall()
    return [entry_of_row(*row) for row in rows]


def pack_entry(entry: Entry) -> bytes:
    return pack(to_row({"document": entry.document, "source": entry.source}))


def pack_passages(passages: Sequence[Passage]) -> bytes:
    return pack_parts(json_rows(passages_to_json(passages)))


def pack_vectors(vectors: Vectors) -> bytes:
    """Vectors of shape (n, dim) as little-endian float32 behind `dim` and a checksum."""
    return sealed(np.uint32(vectors.shape[1]).tobytes() + np.ascontiguousarray(vectors, dtype="<f4").tobytes())


def unpack_vectors(data: bytes, count: int) -> Vectors:
    """The `count` vectors that `pack_vectors` was given; raises LibraryDamaged where they are not."""
    view = unsealed(data)
    dim = int(np.frombuffer(view[:4], dtype=np.uint32)[0]) if len(view) >= 4 else 0
    if not dim or len(view) != 4 + 4 * dim * count:
        raise LibraryDamaged("A document has another number of vectors than of passages.", remedy=REBUILD)
    return np.frombuffer(view[4:], dtype="<f4").reshape(count, dim)


def pack_terms(rows: Sequence[Sequence[str]]) -> bytes:
    """The terms of each passage. Each stands once: a tenth of the bytes, and of the memory when read back."""
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(term, len(vocabulary)) for term in row] for row in rows]
    return pack({"vocabulary": list(vocabulary), "rows": numbers})


def unpack_terms(data: bytes) -> list[list[str]]:
    """The terms that `pack_terms` was given; raises LibraryDamaged where they are not."""
    packed = unpack(data)
    try:
        vocabulary = packed["vocabulary"]
        return [[vocabulary[number] for number in row] for row in packed["rows"]]
    except (KeyError, IndexError, TypeError) as error:
        raise LibraryDamaged("The words of a document cannot be read.", remedy=REBUILD) from error


def _require_form(db: sqlite3.Connection, document: int) -> None:
    if db.execute("SELECT 1 FROM document WHERE id = ? AND state != ?", (document, READY)).fetchone() is None:
        raise Gone


def _stat(path: Path) -> os.stat_result | None:
    with suppress(OSError):  # cleared away meanwhile
        if path.is_file() and not path.is_symlink():
            return path.stat()
    return None
