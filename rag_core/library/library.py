"""A library on disk: the documents of one collection with their indexes, read as immutable snapshots, changed in
transactions.

Readers never wait and never see half a change. A process may be killed at any moment: the library then is as it was
after the last transaction, and `resume` finishes the rest. One call at a time indexes; whoever describes or deletes
does not wait for it.
"""

from __future__ import annotations

import gc
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Several
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Required, TypedDict, Unpack

from rag_core.domain.acts import Action, Note, unnoted
from rag_core.domain.documents import Metadata
from rag_core.domain.ports import Cancel, Embedder, Progress, VectorStore
from rag_core.errors import IngestError, LibraryError, ModelMismatch, RagError, StoreMismatch
from rag_core.library.disk.database import identity
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.lock import writer, writing
from rag_core.library.disk.private import is_open, tighten
from rag_core.library.erasing import Erased, OnErase, mentions_of
from rag_core.library.indexing.adding import Adding, AddReport, Target
from rag_core.library.indexing.elsewhere import Elsewhere, WorkersOf
from rag_core.library.indexing.indexer import INDEX_VERSION, Indexer
from rag_core.library.loading import Loaded, Loader, entry_in, ready_rows
from rag_core.library.rebuilding import found_again
from rag_core.library.stored import stored_sources
from rag_core.library.stored.bounds import admitted, require_metadata
from rag_core.library.stored.collection import (
    COMPLETE,
    READY,
    Collection,
    Facts,
    ForgetRows,
    entries_of,
    facts_of,
    pack_entry,
)
from rag_core.library.stored.entry import Accepted, Entry, Row, source_digest
from rag_core.library.stored.snapshot import Snapshot, no_document
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings

__all__ = ["Accepted", "AddReport", "Library", "Uses"]

WAIT_SECONDS = 30.0  # for another call that indexes: longer than a short one takes, shorter than a user's patience
CHANGE_SECONDS = 5.0  # for another process that writes, where a document is described or deleted
# what else holds words of documents forgets them: their ids, and the last version that has them
OnDelete = Callable[[Several[str], int], None]


class Uses(TypedDict, total=False):
    """The models and stores of a library, and whom it asks and tells.

    `on_delete` and `on_erase` are called before documents go, so that what else holds their words forgets them; where
    one fails, they stay. `note` is told of each change before it is made; what it cannot keep is not changed.
    `forget_rows` deletes what other databases still keep of it, `workers` makes documents of PDFs.
    """

    embedder: Required[Embedder]
    vectors: Required[VectorStore]
    on_delete: OnDelete
    on_erase: OnErase
    note: Note
    forget_rows: ForgetRows
    workers: WorkersOf


class Library:
    """The documents of one collection. Threads may share it: `snapshot` and `view` are swapped by one assignment."""

    def __init__(self, folder: Path, collection: str, **uses: Unpack[Uses]) -> None:
        self._collection, self._embedder = Collection(folder, collection), uses["embedder"]
        self._loader = Loader(self._collection, uses["vectors"], self._embedder.name)
        self._note: Note = uses.get("note", unnoted)
        self._forget_rows: ForgetRows = uses.get("forget_rows", lambda folder, but: None)
        self._on_delete: OnDelete = uses.get("on_delete", lambda documents, version: None)
        self._on_erase: OnErase = uses.get("on_erase", lambda documents, version, mentions: Erased())
        self._workers: WorkersOf = uses.get("workers", lambda settings: None)
        self._swapping = threading.RLock()
        self._file: tuple[int, int] | None = None  # that the snapshot is of
        self._live: weakref.WeakSet[Snapshot] = weakref.WeakSet()
        self._loaded = self._loader.empty()
        self.on_version: Callable[[int], None] = lambda version: None  # told of each that this process comes to know

    @classmethod
    def open(cls, folder: Path, collection: str, **uses: Unpack[Uses]) -> Library:
        """The library in `folder`; an empty one when there is none yet.

        Writes nothing, unless a deletion was cut off: it is finished.

        Raises:
            InvalidInput: the collection's name is not `[a-z0-9_-]{1,64}`.
            LibraryDamaged: it is not what was written, or an earlier version made it.
            ModelMismatch: built with another embedding model or precision.
            StoreMismatch: built in another vector store.
            LibraryError: built by another version of this program.
        """
        library = cls(folder, collection, **uses)
        library.refresh()
        if library._loaded.facts.deleting:
            with suppress(RagError):  # somebody else will, or it may not be written here
                library._finish_deletion()
        return library

    @classmethod
    def rebuild(
        cls,
        folder: Path,
        collection: str,
        settings: Settings,
        *,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        **uses: Unpack[Uses],
    ) -> tuple[Library, AddReport]:
        """Index all documents again from their stored sources: for another embedding model or version, or after damage.

        Published at the end, as a whole; names and metadata are kept. What fails stays in `unfinished()`, except where
        the stored source is missing or was changed: that one has to be added again. Where the file itself is damaged,
        or an earlier version made it, it works from what can be read and the stored sources, and the report's problems
        say what is lost. When cancelled, the library stays as it was, and a second call goes on where the first
        stopped.

        Raises:
            LibraryBusy: another call held the library for `WAIT_SECONDS`.
            LibraryError: another version of this program wrote the library.
        """
        library = cls(folder, collection, **uses)
        file = library._collection
        with library._writing(WAIT_SECONDS, cancelled, refresh=False):
            library._note(Action.REBUILD, ())
            rows, problems = found_again(file)
            file.put_waiting(rows)
            with file.writing() as db:
                file.drop_half_read(db)
            indexer = Indexer(file, library._embedder, settings, progress, cancelled)
            report = library._adding(indexer, keep_locked=True, at_once=True).run([(row, None) for row in rows])
            with suppress(RagError):
                library._finish_deletion()
        return library, replace(report, problems=(*problems, *report.problems))

    @property
    def snapshot(self) -> Snapshot:
        """The newest version that this process knows; see `refresh`. Hold it for as long as a question takes."""
        return self._loaded.snapshot

    @property
    def view(self) -> Snapshot:
        """`snapshot`, and the documents that are still being read with their pages so far: all to be asked now."""
        return self._loaded.view

    @property
    def vector_store(self) -> str:
        return self._loader.vectors.name

    def refresh(self) -> bool:
        """Take over what was changed meanwhile, also by other processes; whether `snapshot` is another one.

        It costs one small read where nothing is new. Raises as `open`; the snapshot then stays as it was.
        """
        with self._swapping, self._collection.reading() as db:
            before, now = self._before(), facts_of(db)
            if (before.facts.version, before.facts.changes) == (now.version, now.changes) and before is self._loaded:
                return False
            if now.version:
                self._check(now, db)
            with _nothing_collected():
                return self._adopt(self._loader.load(db, before))

    def unfinished(self) -> tuple[Accepted, ...]:
        """The accepted sources that are not in the library: a process was killed or stopped, or is at it now."""
        return self._collection.waiting()

    def writer(self) -> str:
        """Who indexes in the collection now, in words; empty for nobody. Asked before `unfinished` it tells of that."""
        return writer(self._collection.root)

    def source(self, document_id: str) -> bytes:
        """The bytes of a document as handed in; raises InvalidInput, or LibraryDamaged where they were changed."""
        for entry in self.view.entries:
            if entry.document.id == document_id:
                return stored_sources.read(self._collection.root, entry.source)
        raise no_document(document_id)

    def verify(self) -> None:
        self._collection.verify()

    def remembers(self, document_id: str) -> bool:
        return self._collection.remembers(document_id)

    def questions(self) -> dict[str, str]:
        """A question to try by document, "" where none was found; none of documents that nobody looked at."""
        return self._collection.questions()

    def keep_question(self, document_id: str, question: str) -> None:
        """Keep it with the document, with which it goes. Nothing is kept for a document that is gone."""
        self._collection.keep_question(document_id, question)

    def size_bytes(self) -> int:
        return self._collection.size_bytes()

    def add(
        self,
        sources: Iterable[Source | IngestError],
        settings: Settings,
        *,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        wait: float = WAIT_SECONDS,
        listed: Several[str] = (),
    ) -> AddReport:
        """Index sources; a file that cannot be read is a problem in the report, the others go on.

        All sources are stored first, so that none is lost when the process is killed. Equal bytes under equal settings
        are one document.

        Args:
            sources: what to index, for instance from `sources_from`; errors among them go into the report.
            settings: the ingest settings.
            progress: told (what, done, total).
            cancelled: asked often; what is complete by then is kept, the rest is in `unfinished()`.
            wait: seconds to wait for another call that indexes.
            listed: digests of those that are on the list already, and noted; one that is not there any more is a
                problem.

        Raises:
            LibraryBusy: another call held the library for `wait` seconds.
            LibraryError: the disk refused; what was complete before is kept.
        """
        refused: list[tuple[str, IngestError]] = []

        def note(rows: Iterable[Accepted]) -> None:
            self._noted(row for row in rows if row.digest not in listed)

        with self._writing(wait, cancelled):
            known = self._collection.taken()

            def here() -> Iterator[Source | IngestError]:
                for one in sources:
                    if isinstance(one, Source) and one.digest in listed and one.digest not in known:
                        refused.append((one.name, _off_the_list()))
                    else:
                        yield one

            rows = self._collection.accept(admitted(here(), refused), note)
            report = self._index(rows, settings, progress, cancelled, keep_locked=False)
        return replace(report, problems=(*refused, *report.problems))

    def resume(
        self,
        settings: Settings,
        *,
        only: Several[str] | None = None,
        passwords: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
    ) -> AddReport:
        """Index what `unfinished` lists, or `only` these ids; `passwords` are by name or id, the rest as in `add`."""
        known = passwords or {}
        with self._writing(WAIT_SECONDS, cancelled):
            listed = [row for row in self.unfinished() if only is None or row.id in only]
            rows = [(row, known.get(row.id) or known.get(row.name)) for row in listed]
            self._noted(listed)
            return self._index(rows, settings, progress, cancelled, keep_locked=True)

    def reread(
        self,
        document_ids: Several[str],
        settings: Settings,
        *,
        passwords: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
    ) -> AddReport:
        """Read and cut documents of the library again, from their stored files, under these settings.

        Names and metadata are kept. A strategy other than "auto" stays with these documents when the library is
        rebuilt. A document is as it was until its new form is complete, and where that fails or is stopped. `passwords`
        are by id; other arguments as in `add`.

        Raises:
            InvalidInput: there is no such document.
            LibraryBusy: another call held the library for `WAIT_SECONDS`.
        """
        known, strategy = passwords or {}, "" if settings.strategy == "auto" else settings.strategy
        with self._writing(WAIT_SECONDS, cancelled):
            entries = {entry.document.id: entry for entry in self.snapshot.entries}
            for missing in set(document_ids) - entries.keys():
                raise no_document(missing)
            asked = [entries[id] for id in dict.fromkeys(document_ids)]
            rows = [replace(one.source, strategy=strategy, metadata=one.document.metadata) for one in asked]
            self._note(Action.REREAD, [row.id for row in rows])
            waiting = {row.digest for row in self.unfinished()}
            self._collection.put_waiting(rows)
            try:
                passworded = [(row, known.get(row.id)) for row in rows]
                return self._index(passworded, settings, progress, cancelled, keep_locked=False)
            finally:
                with self._collection.writing() as db:
                    self._collection.drop_waiting(db, {row.digest for row in rows} - waiting)

    def delete(self, *document_ids: str) -> None:
        """Take documents out, or unfinished sources off the list; all of them or none.

        No file holds a word of them when this returns.

        One that is being indexed is found no longer from now on; the thread that indexes gives it up at its next batch.

        Raises:
            InvalidInput: there is no such document.
            LibraryBusy: another process wrote for `CHANGE_SECONDS`.
            LibraryError: what else holds their words cannot be deleted; nothing was.
        """
        self.refresh()
        for missing in [id for id in document_ids if not self._collection.remembers(id)]:
            raise no_document(missing)
        self._note(Action.DELETE, document_ids)
        self._remove(document_ids, lambda version: self._on_delete(document_ids, version))
        with suppress(RagError):  # whoever deletes or opens next does it
            self._finish_deletion()

    def erase(self, *document_ids: str) -> Erased:
        """Delete documents everywhere, also those that were deleted before, with what else speaks of them.

        Raises:
            LibraryBusy: another process wrote for `CHANGE_SECONDS`, or reads all the time.
            LibraryError: something cannot be deleted. Call again: what is left goes then.
        """
        self.refresh()
        self._note(Action.ERASE, document_ids)
        mentions, erased = mentions_of(self.snapshot, document_ids, self.unfinished()), Erased()

        def forget(version: int) -> None:
            nonlocal erased
            erased = self._on_erase(document_ids, version, mentions)
            self._on_delete(document_ids, version)

        self._remove(document_ids, forget, everywhere=True)
        self._finish_deletion(everywhere=True)
        return erased

    def discard(self, document_ids: Several[str]) -> None:
        """Take unfinished sources, and what was made of them, off the list; no document goes. Raises LibraryBusy."""
        dropped = [row for row in self.unfinished() if row.id in document_ids]
        self._note(Action.DISCARD, [row.id for row in dropped])
        self._change(
            lambda db: self._collection.remove(db, {row.digest for row in dropped}, ready=False), CHANGE_SECONDS
        )
        with suppress(RagError):
            self._finish_deletion()

    def set_metadata(self, document_id: str, metadata: Metadata) -> None:
        """Replace a document's metadata; nothing is embedded again. Raises InvalidInput, or LibraryBusy."""
        require_metadata(metadata)
        self.refresh()
        if document_id not in self._ready():
            raise no_document(document_id)
        self._note(Action.DESCRIBE, (document_id,))

        def change(db: sqlite3.Connection) -> None:
            _newer(db)
            entry = _ready_in(db, source_digest(document_id))
            if entry is None:
                raise no_document(document_id)
            _describe(db, replace(entry, document=replace(entry.document, metadata=metadata)))

        self._change(change, CHANGE_SECONDS)

    def _remove(self, ids: Several[str], forget: Callable[[int], None], *, everywhere: bool = False) -> None:
        """Delete all that is kept of documents; `forget` is called last, with the last version that has them."""
        digests, version = {source_digest(id) for id in ids}, 0

        def change(db: sqlite3.Connection) -> None:
            nonlocal version
            version = facts_of(db).version
            # what was erased may come again, and be asked while it waits: of another version than what is under way now
            if any(_ready_in(db, digest) for digest in digests) or everywhere:
                _newer(db)
            self._collection.remove(db, digests)

        self._change(change, CHANGE_SECONDS, lambda: forget(version))

    @contextmanager
    def _writing(self, wait: float, cancelled: Cancel | None = None, *, refresh: bool = True) -> Iterator[None]:
        root = self._collection.root
        with storage_problems("writing to the folder"), writing(root, wait, cancelled):
            if is_open(root):  # copied here with other rights
                tighten(root)
            if refresh:
                self.refresh()
            yield

    def _change(
        self,
        change: Callable[[sqlite3.Connection], object],
        wait: float | None = None,
        last: Callable[[], None] = lambda: None,
    ) -> None:
        """Change the file and what is in memory, in one transaction; `last` is called when all else is done."""
        # in this order: whoever reads waits for no other process
        with self._collection.writing(wait) as db, self._swapping:
            before = self._before()
            if before.facts.version not in (0, facts_of(db).version):  # another process published meanwhile
                before = self._loader.load(db, before)
            change(db)
            loaded = self._loader.load(db, before, writes=True)
            last()
        self._adopt(loaded)

    def _finish_deletion(self, *, everywhere: bool = False) -> None:
        """Take what was deleted out of databases, log and sources; `everywhere` also what snapshots here still have."""
        with self._swapping:
            newest, held = self._before(), () if everywhere else tuple(self._live)
        self._collection.finish_deletion(lambda: self._loader.clear_databases(newest, held, self._forget_rows))

    def _before(self) -> Loaded:
        """The collection in memory, if it is of the file that is there now."""
        if self._file != (now := identity(self._collection.reader.path)):
            self._file = now
            return self._loader.empty()
        return self._loaded

    def _adopt(self, loaded: Loaded) -> bool:
        """Put it in the place of what was in memory; whether the snapshot is another one."""
        with self._swapping:
            before, self._loaded = self._loaded, loaded
            self._live.add(loaded.snapshot)
            self._live.add(loaded.view)
        if loaded.snapshot.version != before.snapshot.version:
            self.on_version(loaded.snapshot.version)
        return loaded.snapshot is not before.snapshot

    def _check(self, facts: Facts, db: sqlite3.Connection | None = None) -> None:
        if db is not None and not db.execute("SELECT 1 FROM document WHERE state = ?", (READY,)).fetchone():
            return  # nothing in it was made by any model
        name = self._collection.root.name
        if facts.embedder != self._embedder.name:
            raise ModelMismatch(
                f"The library {name!r} was built with {facts.embedder}, not with {self._embedder.name}.",
                remedy="Use that embedding model and precision, or rebuild the library with the new one.",
            )
        if facts.vector_store != self.vector_store:
            raise StoreMismatch(
                f"The library {name!r} was built in the vector store {facts.vector_store!r}, not in "
                f"{self.vector_store!r}.",
                remedy=f"Open it with vector_store={facts.vector_store}, or rebuild the library in the other one.",
            )
        if facts.index_version != INDEX_VERSION:
            raise LibraryError(
                f"The library {name!r} was indexed by version {facts.index_version}, not {INDEX_VERSION}.",
                remedy="Rebuild the library from its stored sources; nothing has to be uploaded again.",
            )

    def _ready(self) -> dict[str, Entry]:
        """The documents of the library by id, as they are in the file, whatever model made them."""
        known = {(entry.row, entry.stamp): entry for entry in self.snapshot.entries}
        with self._collection.reading() as db:
            entries = [known.get(row) or entry_in(db, row[0]) for row in ready_rows(db)]
        return {entry.document.id: entry for entry in entries}

    def _end(self) -> None:
        """Nothing is being read any more, or only about to be."""
        with self._collection.writing() as db:
            self._collection.drop_half_read(db)
        self.refresh()

    def _publish(
        self,
        forms: Sequence[int],
        described: Sequence[Entry],
        settled: Several[str],
        at_once: Several[int] | None,
    ) -> frozenset[int]:
        """Put complete documents into the library that nobody deleted, and describe others anew; the numbers of those
        put in.

        `settled` are digests that need not stay on the list. Only the documents of the numbers `at_once` stay; None for
        all.
        """
        found: set[int] = set()

        def change(db: sqlite3.Connection) -> None:
            _newer(db)
            places: dict[str, int] = {}
            if at_once is not None:
                places.update(db.execute("SELECT digest, place FROM document WHERE state = ?", (READY,)))
                stay = ", ".join(map(str, [*at_once, *forms]))
                db.execute(f"DELETE FROM document WHERE state = ? AND id NOT IN ({stay})", (READY,))
            found.update(form for form in forms if _put_in(db, form, places))
            for entry in described:
                _describe(db, entry)
            self._collection.drop_waiting(db, settled)
            self._built_with(db)

        if forms or described or at_once is not None:
            self._change(change)
        elif settled:
            with self._collection.writing() as db:
                self._collection.drop_waiting(db, settled)
        return frozenset(found)

    def _built_with(self, db: sqlite3.Connection) -> None:
        made = self._embedder.name, INDEX_VERSION, self.vector_store
        db.execute("UPDATE library SET embedder = ?, index_version = ?, vector_store = ?", made)

    def _adding(self, indexer: Indexer, *, keep_locked: bool, at_once: bool = False) -> Adding:
        workers = self._workers(indexer.settings)
        elsewhere = None if workers is None else Elsewhere(workers, indexer)
        target = Target(self._ready, self._publish, self._change, self.refresh, self._end)
        return Adding(target, indexer, keep_locked=keep_locked, at_once=at_once, elsewhere=elsewhere)

    def _noted(self, rows: Iterable[Accepted]) -> None:
        if ids := [row.id for row in rows]:
            self._note(Action.INDEX, ids)

    def _index(
        self,
        rows: Sequence[Row],
        settings: Settings,
        progress: Progress | None,
        cancelled: Cancel | None,
        keep_locked: bool,
    ) -> AddReport:
        with self._collection.writing() as db:
            if not (cancelled and cancelled()):  # what was stopped before its turn was not tried
                self._collection.begin(db, {row.digest for row, _ in rows})
            self._collection.drop_half_read(db)
            if not ready_rows(db):  # the first pages are asked of this model
                self._built_with(db)
        indexer = Indexer(self._collection, self._embedder, settings, progress, cancelled)
        report = self._adding(indexer, keep_locked=keep_locked).run(rows)
        with suppress(RagError):  # whoever opens or deletes next does it
            self._finish_deletion()
        return report


def _newer(db: sqlite3.Connection) -> None:
    db.execute("UPDATE library SET version = version + 1, changes = changes + 1")


def _ready_in(db: sqlite3.Connection, digest: str) -> Entry | None:
    return next(iter(entries_of(db, "digest = ? AND state = ?", digest, READY)), None)


def _describe(db: sqlite3.Connection, entry: Entry) -> None:
    db.execute(
        "UPDATE document SET entry = ?, stamp = (SELECT changes FROM library) WHERE id = ?",
        (pack_entry(entry), entry.row),
    )


def _put_in(db: sqlite3.Connection, form: int, places: Mapping[str, int]) -> bool:
    """Put a complete document in the place of an earlier form of it; False where somebody deleted it."""
    found = entries_of(db, "id = ? AND state = ?", form, COMPLETE)
    if not found:
        return False
    entry, digest = found[0], found[0].source.digest
    (place,) = db.execute("SELECT coalesce(max(place), 0) + 1 FROM document").fetchone()
    place = places.get(digest, place)
    # indexed anew with other settings: what the user wrote about it stays
    if (old := _ready_in(db, digest)) is not None:
        entry = old.handed_in(entry.source).reindexed(entry)
        (place,) = db.execute("SELECT place FROM document WHERE id = ?", (old.row,)).fetchone()
    db.execute("DELETE FROM document WHERE digest = ? AND id != ?", (digest, form))
    db.execute("UPDATE document SET state = ?, place = ? WHERE id = ?", (READY, place, form))
    _describe(db, entry)
    return True


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Within the block Python looks for no garbage: that took a third of the time to open a million passages."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _off_the_list() -> IngestError:
    return IngestError(
        "It was taken off the list before its turn: somebody deleted it, or an earlier job could not read it.",
        remedy="Add it again if it is still wanted.",
    )
