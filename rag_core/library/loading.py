"""Brings a collection's file into memory: passages, vectors and words as one snapshot, of which what is there already
is used again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from rag_core.domain.passages import Passage
from rag_core.domain.ports import VectorIndex, Vectors, VectorsInDatabase, VectorStore
from rag_core.errors import LibraryDamaged, StoreUnavailable
from rag_core.library.disk.files import REBUILD, children
from rag_core.library.stored.collection import (
    COMPLETE,
    READING,
    READY,
    STORES,
    Collection,
    Facts,
    ForgetRows,
    entries_of,
    facts_of,
    unpack_terms,
    unpack_vectors,
)
from rag_core.library.stored.entry import Entry
from rag_core.library.stored.packed import Packed, Passages
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.stored_json import sealed, unsealed
from rag_core.retrieval.bm25 import Bm25Index, WordSegment

Piece = range | int  # rows that are in memory, or the number of a document that is not


@dataclass(frozen=True, eq=False)
class Loaded:
    """A collection in memory: what is in the library, and with what else can be asked."""

    facts: Facts
    snapshot: Snapshot
    view: Snapshot


class Loader:
    """Of one collection; `vectors` makes its index of vectors, and `embedder` names the model that is here."""

    def __init__(self, collection: Collection, vectors: VectorStore, embedder: str) -> None:
        self._collection, self.vectors, self._embedder = collection, vectors, embedder

    def empty(self) -> Loaded:
        nothing = Snapshot(0, Passages(()), self._no_vectors(), Bm25Index([]), (), self._collection.reader)
        return Loaded(Facts(0, 0, "", 0, "", 0), nothing, nothing)

    def load(self, db: sqlite3.Connection, before: Loaded, *, writes: bool = False) -> Loaded:
        """The collection as it is in the file, or within a transaction that `writes` and keeps the index of words, too.

        `before` is in memory; where it `writes`, the ready documents may be others than those that the file's indexes
        are of.

        Raises:
            LibraryDamaged: something is missing or was changed.
            StoreUnavailable: the vector store's database cannot be asked.
        """
        facts, known = facts_of(db), before.snapshot
        there = {
            entry.row: (entry, group, rows)
            for entry, group, rows in zip(known.entries, known.passages.groups, known.passages.ranges, strict=True)
        }
        entries: list[Entry] = []
        groups: list[Sequence[Passage]] = []
        pieces: list[Piece] = []
        for row, stamp in ready_rows(db):
            entry, group, rows = there.get(row, (None, None, None))
            entries.append(entry if entry is not None and entry.stamp == stamp else entry_in(db, row))
            groups.append(group if group is not None else _group(db, entries[-1]))
            pieces.append(rows if rows is not None else row)
        joined = list(_joined(pieces))
        passages = (
            known.passages
            if joined == [range(len(known.passages))] or not (writes or joined or known.passages)
            else Passages(groups)
        )
        vectors, lexical = known.vectors, known.lexical
        if passages is not known.passages:
            vectors = self._vectors(db, known, joined)
            if isinstance(self.vectors, VectorsInDatabase):
                (self.vectors.send if writes else self.vectors.require)(vectors, self._collection.root)
            lexical = self._words(db, known, joined if writes else None)
            _require_rows(db, len(passages))
        snapshot = Snapshot(facts.version, passages, vectors, lexical, tuple(entries), self._collection.reader)
        if snapshot.version == known.version and snapshot.entries == known.entries and vectors is known.vectors:
            snapshot = known
        view = self._with_read(db, facts, snapshot, before)
        if view is not snapshot and isinstance(self.vectors, VectorsInDatabase):
            try:
                self.vectors.send(view.vectors, self._collection.root)  # a database that was gone may not have them yet
            except StoreUnavailable:  # no reason to undo a change; they are asked once it answers
                view = snapshot
        return Loaded(facts, snapshot, view)

    def _read_rows(self, db: sqlite3.Connection, facts: Facts) -> list[tuple[int, int, int, str]]:
        """Number, stamp, pages and state of what can be asked before it is in the library, by the model here."""
        if (facts.embedder, facts.vector_store) != (self._embedder, self.vectors.name):
            return []
        query = (
            "SELECT id, stamp, pages, state FROM document JOIN passages ON document = id WHERE state IN (?, ?)"
            " AND digest NOT IN (SELECT digest FROM document WHERE state = ?) ORDER BY id"
        )
        return db.execute(query, (READING, COMPLETE, READY)).fetchall()

    def _with_read(self, db: sqlite3.Connection, facts: Facts, snapshot: Snapshot, before: Loaded) -> Snapshot:
        """The snapshot with the documents that are being read, or are published soon, behind it."""
        rows = self._read_rows(db, facts)
        known = [(entry.row, entry.stamp) for entry in before.view.entries[len(snapshot.entries) :]]
        if not rows:
            return snapshot
        if before.snapshot is snapshot and known == [row[:2] for row in rows]:
            return before.view
        entries = [entry_in(db, row) for row, *_ in rows]
        pieces: list[Piece] = [*_joined([range(len(snapshot.passages))]), *(entry.row for entry in entries)]
        terms = [piece if isinstance(piece, range) else _terms_of(db, piece) for piece in pieces]
        return Snapshot(
            snapshot.version,
            Passages([*snapshot.passages.groups, *(_group(db, entry) for entry in entries)]),
            self._vectors(db, snapshot, pieces),
            snapshot.lexical.spliced(terms),
            (*snapshot.entries, *entries),
            snapshot.file,
            {entry.document.id: row[2] for entry, row in zip(entries, rows, strict=True) if row[3] == READING},
        )

    def clear_databases(self, newest: Loaded | None, held: Iterable[Snapshot], forget_rows: ForgetRows) -> None:
        """Delete what databases hold of the collection, except the vectors of its documents and of the `held`
        snapshots.

        Nobody changes the file meanwhile: whoever does may have sent vectors that it does not have yet. `newest` is in
        memory, and used again if the file still has it; `forget_rows` deletes what other stores have. Raises RagError.
        """
        root, store = self._collection.root, self.vectors
        if not children(root / STORES):
            return
        with self._collection.writing() as db:
            facts = facts_of(db)
            forget_rows(root, facts.vector_store)
            if isinstance(store, VectorsInDatabase) and store.name == facts.vector_store:
                is_newest = newest is not None and newest.facts.changes == facts.changes
                rows = [*(row for row, _ in ready_rows(db)), *(row for row, *_ in self._read_rows(db, facts))]
                stay = newest.view.vectors if newest and is_newest else store.build(_matrix(db, rows))
                store.keep([stay, *(one.vectors for one in held)], root)

    def _no_vectors(self) -> VectorIndex:
        return self.vectors.build(np.zeros((0, 0), dtype=np.float32))

    def _vectors(self, db: sqlite3.Connection, known: Snapshot, pieces: Sequence[Piece]) -> VectorIndex:
        if not pieces:
            return self._no_vectors()
        blocks: list[range | Vectors] = []
        for is_range, group in groupby(pieces, lambda piece: isinstance(piece, range)):
            same = list(group)
            blocks += [piece for piece in same if isinstance(piece, range)]
            if not is_range:
                blocks.append(_matrix(db, [piece for piece in same if isinstance(piece, int)]))
        made = self.vectors.spliced(known.vectors, blocks)
        if made is None:
            made = self.vectors.build(
                np.concatenate([known.vectors.vectors(one) if isinstance(one, range) else one for one in blocks])
            )
        return made

    def _words(self, db: sqlite3.Connection, known: Snapshot, pieces: Sequence[Piece] | None) -> Bm25Index:
        """The index of words: that of the file, or made of these pieces and kept there."""
        there = {part.kept: part for part in known.lexical.segments if part.kept is not None}
        if pieces is None:
            rows = db.execute("SELECT id FROM words ORDER BY place").fetchall()
            return Bm25Index([there.get(id) or _part(db, id) for (id,) in rows])
        made = known.lexical.spliced([piece if isinstance(piece, range) else _terms_of(db, piece) for piece in pieces])
        parts = [part for part in made.segments if len(part)]
        kept = [part.kept for part in parts if part.kept is not None]
        db.execute(f"DELETE FROM words WHERE id NOT IN ({', '.join('?' * len(kept))})", kept)
        for place, part in enumerate(parts):
            if part.kept is None:
                data = sealed(part.packed())
                part.kept = db.execute(
                    "INSERT INTO words (place, rows, data) VALUES (?, ?, ?)", (place, len(part), data)
                ).lastrowid
            else:
                # only where it is another: SQLite writes the whole row anew, several megabytes
                db.execute("UPDATE words SET place = ?1 WHERE id = ?2 AND place != ?1", (place, part.kept))
        return made


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same pieces, of which rows that adjoin are one."""
    rows = range(0)
    for piece in pieces:
        if isinstance(piece, range) and rows and rows.stop == piece.start:
            rows = range(rows.start, piece.stop)
            continue
        if rows:
            yield rows
        rows = piece if isinstance(piece, range) else range(0)
        if not isinstance(piece, range):
            yield piece
    if rows:
        yield rows


def ready_rows(db: sqlite3.Connection) -> list[tuple[int, int]]:
    """The numbers and stamps of the documents that are ready, in the order of the library."""
    return db.execute("SELECT id, stamp FROM document WHERE state = ? ORDER BY place, id", (READY,)).fetchall()


def entry_in(db: sqlite3.Connection, row: int) -> Entry:
    return entries_of(db, "id = ?", row)[0]


def _group(db: sqlite3.Connection, entry: Entry) -> Packed:
    count, data = _cut(db, entry.row, "count, passages")
    return Packed(data, count, entry.document.id)


def _matrix(db: sqlite3.Connection, rows: Sequence[int]) -> Vectors:
    """The vectors of these documents. One large piece of memory is given back whole; many small ones were not."""
    counts = [_cut(db, row, "count")[0] for row in rows]
    made, at = np.empty((0, 0), dtype=np.float32), 0
    for row, count in zip(rows, counts, strict=True):
        found = unpack_vectors(_cut(db, row, "vectors")[0], count)
        if not at:
            made = np.empty((sum(counts), found.shape[1]), dtype=np.float32)
        if found.shape[1] != made.shape[1]:
            raise LibraryDamaged("Documents have vectors of different lengths.", remedy=REBUILD)
        made[at : at + count] = found
        at += count
    return made


def _terms_of(db: sqlite3.Connection, row: int) -> list[list[str]]:
    return unpack_terms(_cut(db, row, "terms")[0])


def _cut(db: sqlite3.Connection, row: int, columns: str) -> Sequence[Any]:
    found: Sequence[Any] | None = db.execute(f"SELECT {columns} FROM passages WHERE document = ?", (row,)).fetchone()
    if found is None:
        raise LibraryDamaged("The passages of a document are missing.", remedy=REBUILD)
    return found


def _part(db: sqlite3.Connection, id: int) -> WordSegment:
    rows, data = db.execute("SELECT rows, data FROM words WHERE id = ?", (id,)).fetchone()
    part = WordSegment.unpacked(unsealed(data))
    if len(part) != rows:
        raise LibraryDamaged("The word index has another number of passages than it says.", remedy=REBUILD)
    part.kept = id
    return part


def _require_rows(db: sqlite3.Connection, passages: int) -> None:
    (rows,) = db.execute("SELECT coalesce(sum(rows), 0) FROM words").fetchone()
    if rows != passages:
        raise LibraryDamaged(
            f"The word index is of {rows} passages, and the documents have {passages}.", remedy=REBUILD
        )
