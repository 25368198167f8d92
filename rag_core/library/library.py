"""A library on disk: the documents of one collection with their indexes, read as immutable snapshots, changed by one writer at a time.

Readers never wait and never see half a change. A process may be killed at any moment: the library then is as it was after the last
published document, and `resume` finishes the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from rag_core.domain.acts import Action, Note, unnoted
from rag_core.domain.documents import Metadata
from rag_core.domain.ports import Cancel, Embedder, LexicalStore, Progress, VectorStore
from rag_core.errors import Cancelled, IngestError, InvalidInput
from rag_core.library.disk.lock import sweep
from rag_core.library.disk.room import NOTED_FIRST, OWN_BYTES, MakingRoom, give_up_reserve
from rag_core.library.erasing import Erased, OnErase, mentions_of, nothing_else
from rag_core.library.indexing.adding import Adding, AddReport
from rag_core.library.indexing.behind import Offer, Row, Upload
from rag_core.library.indexing.elsewhere import Elsewhere, WorkersOf, none_elsewhere
from rag_core.library.indexing.indexer import INDEX_VERSION, Indexer
from rag_core.library.opened import OnDelete, Opened, no_document
from rag_core.library.quota import QuotaOf, Room, no_quota, taken
from rag_core.library.salvage import salvage
from rag_core.library.stored import stored_sources
from rag_core.library.stored.bounds import require_metadata
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.manifest import Entry, Manifest
from rag_core.library.stored.sources import Source
from rag_core.library.stored.store import ForgetRows, Store, nothing_outside
from rag_core.settings import Settings

__all__ = ["Accepted", "AddReport", "Library"]

WAIT_SECONDS = 30.0  # for another writer: longer than publishing takes, shorter than a user's patience


class Library(Opened):
    """The documents of one collection. Safe to share between threads; `snapshot` is swapped by one assignment."""

    @classmethod
    def open(
        cls,
        folder: Path,
        collection: str,
        *,
        embedder: Embedder,
        vectors: VectorStore,
        lexical: LexicalStore,
        on_delete: OnDelete = lambda documents, version: None,
        note: Note = unnoted,
        on_erase: OnErase = nothing_else,
        forget_rows: ForgetRows = nothing_outside,
        quota: QuotaOf = no_quota,
        workers: WorkersOf = none_elsewhere,
    ) -> Library:
        """The library in `folder`, compared with its checksums; an empty one when there is none yet.

        Writes nothing, unless a deletion was cut off: it is finished (`rag_core.library.deletion`).

        `on_delete` and `on_erase` are called before documents go, so that what else holds their words forgets them; where one fails, they
        stay. `note` is told of each change before it is made; what it cannot keep is not changed. `forget_rows` is called before a
        version's indexes are deleted, for what they keep outside of the folder. `quota` says how much may be added, `workers` who makes
        documents of PDFs.

        Raises:
            InvalidInput: the collection's name is not `[a-z0-9_-]{1,64}`.
            LibraryDamaged: a file is missing or was changed.
            ModelMismatch: built with another embedding model or precision.
            StoreMismatch: built in another vector store.
            LibraryError: built by another version of this program.
        """
        library = cls(Store(folder, collection, vectors, lexical, forget_rows), embedder, on_delete, note, on_erase, quota, workers)
        library.refresh()
        library._finish_cut_off()
        return library

    @classmethod
    def rebuild(
        cls,
        folder: Path,
        collection: str,
        settings: Settings,
        *,
        embedder: Embedder,
        vectors: VectorStore,
        lexical: LexicalStore,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        note: Note = unnoted,
        forget_rows: ForgetRows = nothing_outside,
        workers: WorkersOf = none_elsewhere,
    ) -> tuple[Library, AddReport]:
        """Index all documents again from their stored sources: for another embedding model, a newer version, or after damage.

        Published at the end, as a whole; names and metadata are kept. What fails stays in `unfinished()`, except where the stored source
        is missing or was changed: that one has to be added again. Where the manifest itself is damaged, it works from what is whole, and
        the report's problems say what is lost; see `rag_core.library.salvage`. When cancelled, the old version stays, and a second call
        goes on where the first stopped.

        Raises:
            LibraryBusy: another writer held the library for `WAIT_SECONDS`.
            LibraryError: a newer version of this program wrote the library.
        """
        library = cls(Store(folder, collection, vectors, lexical, forget_rows), embedder, note=note, workers=workers)
        with library._writing(WAIT_SECONDS, cancelled, refresh=False):
            note(Action.REBUILD, ())
            with library._inbox.held():
                saved = salvage(library._store, library._inbox)
                library._inbox.replace([*saved.rows, *saved.unfinished])
                sweep(library._store.root, library._inbox.rows())
            writer = library._writer(Manifest(saved.version, embedder.name, INDEX_VERSION))
            indexer = Indexer(library._store, embedder, settings, progress, cancelled)
            adding = Adding(
                writer, indexer, library._inbox, keep_locked=True, at_once=True, progress=progress, cancelled=cancelled,
                elsewhere=library._elsewhere(indexer, settings, progress, cancelled),
            )  # fmt: skip
            report = adding.run([(row, None) for row in saved.rows])
            left = saved.keep_aside({entry.source.digest for entry in writer.entries.values()})
            library._deletions.finish_cut_off(())
        return library, replace(report, problems=(*saved.problems, *report.problems, *left))

    @classmethod
    def move(
        cls,
        folder: Path,
        collection: str,
        *,
        embedder: Embedder,
        vectors: VectorStore,
        lexical: LexicalStore,
        note: Note = unnoted,
        forget_rows: ForgetRows = nothing_outside,
    ) -> Library:
        """Publish the newest version's documents as they are in another store; both indexes are made of the parts in the folder.

        Raises:
            InvalidInput: it has no documents.
            LibraryBusy: another writer held the library for `WAIT_SECONDS`.
            LibraryError: it was built with another model or version, a file is damaged, or a store refused; it stays where it was.
        """
        library = cls(Store(folder, collection, vectors, lexical, forget_rows), embedder, note=note)
        with library._writing(WAIT_SECONDS, refresh=False):
            manifest = library._store.manifest()
            if manifest is None or not manifest.entries:
                raise InvalidInput("The library has no documents.", remedy="Choose the store when documents are added.")
            library._check(replace(manifest, vector_store=vectors.name))
            note(Action.REBUILD, ())
            library._writer(replace(manifest, index="", files={})).publish(anyhow=True)
        return library

    def add(
        self,
        sources: Iterable[Source | IngestError],
        settings: Settings,
        *,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        wait: float = WAIT_SECONDS,
        listed: Collection[str] = (),
        upload: Upload | None = None,
    ) -> AddReport:
        """Index sources; a file that cannot be read is a problem in the report, the others go on.

        All sources are stored first, so that none is lost when the process is killed. Equal bytes under equal settings are one document.

        Args:
            sources: what to index, for instance from `sources_from`; errors among them go into the report.
            settings: the ingest settings.
            progress: told (what, done, total).
            cancelled: asked often; what is complete by then is kept, the rest is in `unfinished()`.
            wait: seconds to wait for another writer.
            listed: digests of those that are on the list already, and noted (`rag_core.library.handing_in`); who was deleted since, is not.
            upload: the same sources, where they were expected.

        Raises:
            LibraryBusy: another writer held the library for `wait` seconds.
            LibraryError: the disk refused; the last version stays as it was.
        """
        refused: list[tuple[str, IngestError]] = []

        def note(rows: Iterable[Accepted]) -> None:
            self._noted(row for row in rows if row.digest not in listed)

        with self._writing(wait, cancelled):
            ready = upload.leave() if upload is not None else {}
            waiting = self._inbox.rows()
            gone = set(listed) - waiting.keys() - {entry.source.digest for entry in self._snapshot.entries}
            here = (one for one in sources if not (gone and isinstance(one, Source) and one.digest in gone))
            room = Room(self._quota(), taken(self._store.root, self._snapshot.entries, waiting.values()))
            rows = self._inbox.accept(room.admitted(here, refused), partial(stored_sources.write, self._store.root), note)
            report = self._index(rows, settings, progress, cancelled, keep_locked=False, ready=ready)
        return AddReport(report.added, report.unchanged, (*refused, *report.problems), report.cancelled)

    def expect(self, rows: Sequence[Row], settings: Settings, progress: Progress, cancelled: Cancel) -> Upload:
        """Have these sources, which are on the list, read, cut and asked by whatever is added meanwhile; see `library.indexing.behind`.

        `add` takes them in their turn. Whoever never comes to it calls `leave`. The arguments are those of `add`, each source with its
        password; `progress` is told while another call runs, from a thread of that.
        """
        upload = Upload(rows, Indexer(self._store, self._embedder, settings, progress, cancelled), progress, cancelled, self._behind)
        if self._workers(settings) is None:  # with workers no file is read ahead
            self._behind.expect(upload)
        return upload

    def resume(
        self,
        settings: Settings,
        *,
        only: Collection[str] | None = None,
        passwords: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        wait: float = WAIT_SECONDS,
    ) -> AddReport:
        """Index what `unfinished` lists, or `only` these ids of it; other arguments as in `add`.

        `passwords` are by name or id, for sources that need one.
        """
        known = passwords or {}
        with self._writing(wait, cancelled):
            listed = [row for row in self._inbox.rows().values() if only is None or row.id in only]
            rows = [(row, known.get(row.id) or known.get(row.name)) for row in listed]
            self._noted(listed)
            return self._index(rows, settings, progress, cancelled, keep_locked=True)

    def reread(
        self,
        document_ids: Collection[str],
        settings: Settings,
        *,
        passwords: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        wait: float = WAIT_SECONDS,
    ) -> AddReport:
        """Read and cut documents of the library again, from their stored files, under these settings.

        Names and metadata are kept. A strategy other than "auto" stays with these documents when the library is rebuilt. A document is as
        it was until its new form is complete, and where that fails or is stopped. `passwords` are by id; other arguments as in `add`.

        Raises:
            InvalidInput: there is no such document.
            LibraryBusy: another writer held the library for `wait` seconds.
        """
        known, strategy = passwords or {}, "" if settings.strategy == "auto" else settings.strategy
        with self._writing(wait, cancelled):
            entries = {entry.document.id: entry for entry in self._snapshot.entries}
            for missing in set(document_ids) - entries.keys():
                raise no_document(missing)
            stored = [entries[id] for id in dict.fromkeys(document_ids)]
            rows = [replace(row, strategy=strategy) for row in _described(stored)]
            self._note(Action.REREAD, [row.id for row in rows])
            waiting = set(self._inbox.rows())
            self._inbox.put([row for row in rows if row.digest not in waiting])  # keeps their half-made files from being cleared away
            try:
                passworded = [(row, known.get(row.id)) for row in rows]
                return self._index(passworded, settings, progress, cancelled, keep_locked=False)
            finally:
                self._inbox.drop({row.digest for row in rows} - waiting)

    def delete(self, *document_ids: str, wait: float = WAIT_SECONDS) -> None:
        """Take documents out, or unfinished sources off the list; all of them or none. Files go when no kept version needs them.

        Those that can be asked before their vectors are there are found no longer from now on; the thread that indexes gives them up at its
        next batch, and goes on with its other files.

        Raises:
            InvalidInput: there is no such document.
            LibraryBusy: another writer held the library for `wait` seconds.
            LibraryError: what else holds their words cannot be deleted; nothing was.
        """
        given_up = set[str]()

        def gone() -> bool:
            given_up.update(self._give_up(set(document_ids) - given_up, wait))
            return given_up.issuperset(document_ids)

        if gone():
            return
        with suppress(Cancelled), self._deleting(wait, gone) as with_room:
            writer = self._writer()
            listed = {row.id: row.digest for row in self._inbox.rows().values() if row.id in document_ids}
            for missing in set(document_ids) - writer.entries.keys() - listed.keys() - given_up:
                raise no_document(missing)
            with_room(lambda: self._note(Action.DELETE, document_ids))
            with_room(self._deletions.begin)

            def forget() -> None:
                self._on_delete(document_ids, self._snapshot.version)
                self._inbox.drop(listed.values())

            for id in writer.entries.keys() & set(document_ids):
                writer.remove(id)
            with_room(lambda: writer.publish(last=forget))
            if listed:  # what was published was cleared away after already, and nothing may have been
                self._deletions.clear(self._held())

    def _give_up(self, document_ids: Collection[str], wait: float) -> frozenset[str]:
        """Those of these documents that waited for their vectors and are gone now, without a trace on disk."""
        waiting = {one.id for one in self._waiting.all()} & set(document_ids)
        if not waiting:
            return frozenset()
        known = {entry.document.id for entry in self._snapshot.entries} | waiting
        if set(document_ids) - known - {row.id for row in self._inbox.rows().values()}:
            return frozenset()
        # another thread holds the lock: of the room that can be made, the reserve alone can be given up without it
        with_room = MakingRoom([partial(give_up_reserve, self._store.root)], OWN_BYTES, NOTED_FIRST)
        with_room(lambda: self._note(Action.DELETE, sorted(waiting)))
        with_room(lambda: self._on_delete(sorted(waiting), self._snapshot.version))
        if not self._waiting.give_up(waiting, wait):
            return frozenset()
        # one may have been published meanwhile, or stand on the list of a call that was stopped before it looked
        there = {entry.document.id for entry in self._snapshot.entries} | {row.id for row in self._inbox.rows().values()}
        return frozenset(waiting - there)

    def erase(self, *document_ids: str, wait: float = WAIT_SECONDS) -> Erased:
        """Delete documents everywhere, also those that were deleted before: with them go all older versions, and what else speaks of them.

        A question that is being asked of an older version at that moment fails where it needs them.

        Raises:
            LibraryBusy: another writer held the library for `wait` seconds.
            LibraryError: something cannot be deleted. Call again: what is left goes then.
        """
        erased, waited = Erased(), set[str]()

        def give_up() -> bool:
            waited.update(self._give_up(document_ids, wait))
            return False  # older versions may have them, too

        give_up()
        with self._deleting(wait, give_up, everywhere=True) as with_room:
            with_room(lambda: self._note(Action.ERASE, document_ids))
            with_room(lambda: self._deletions.begin([id.removeprefix("sha256:") for id in document_ids]))
            writer, waiting = self._writer(), list(self._inbox.rows().values())
            waited.update(row.id for row in waiting if row.id in document_ids)
            mentions = mentions_of(self._snapshot, document_ids, waiting)

            def forget() -> None:
                nonlocal erased
                erased = self._on_erase(document_ids, self._snapshot.version, mentions)
                self._on_delete(document_ids, self._snapshot.version)
                self._inbox.drop({row.digest for row in waiting if row.id in document_ids})

            for id in writer.entries.keys() & set(document_ids):
                writer.remove(id)
            # it may come again, and be asked while it waits: of another version than what is under way now
            with_room(lambda: writer.publish(anyhow=bool(waited or self._snapshot.version), last=forget))
        return erased

    def discard(self, document_ids: Collection[str], *, wait: float = WAIT_SECONDS) -> None:
        """Take unfinished sources off the list, and what was made of them; documents of the library stay as they are.

        Raises:
            LibraryBusy: another writer held the library for `wait` seconds.
        """
        with self._deleting(wait) as with_room:
            dropped = [row for row in self.unfinished() if row.id in document_ids]
            with_room(lambda: self._note(Action.DISCARD, [row.id for row in dropped]))
            with_room(self._deletions.begin)
            with_room(lambda: self._inbox.drop({row.digest for row in dropped}))
            self._deletions.clear(self._held())

    def set_metadata(self, document_id: str, metadata: Metadata, *, wait: float = WAIT_SECONDS) -> None:
        """Replace a document's metadata; nothing is embedded again.

        Raises:
            InvalidInput: there is no such document, or a value is too long.
            LibraryBusy: another writer held the library for `wait` seconds.
        """
        require_metadata(metadata)
        with self._writing(wait):
            writer = self._writer()
            if document_id not in writer.entries:
                raise no_document(document_id)
            self._note(Action.DESCRIBE, (document_id,))
            writer.entries[document_id] = writer.entries[document_id].described(metadata)
            writer.publish()

    @contextmanager
    def _deleting(self, wait: float, gone: Cancel | None = None, *, everywhere: bool = False) -> Iterator[MakingRoom]:
        """Hold the lock to delete; see `Deletions.under_way`.

        `gone` is asked while another writer is waited for: that may have begun after the documents were to be given up, and between two
        calls nobody can give up what waits. It says whether nothing is left to do, which is Cancelled.
        """
        with self._writing(wait, gone), self._deletions.under_way(everywhere=everywhere) as with_room:
            yield with_room

    def _elsewhere(self, indexer: Indexer, settings: Settings, progress: Progress | None, cancelled: Cancel | None) -> Elsewhere | None:
        workers = self._workers(settings)
        return Elsewhere(workers, indexer, self._embedder, settings, progress, cancelled) if workers is not None else None

    def _noted(self, rows: Iterable[Accepted]) -> None:
        if ids := [row.id for row in rows]:
            self._note(Action.INDEX, ids)

    def _index(
        self,
        rows: list[tuple[Accepted, str | None]],
        settings: Settings,
        progress: Progress | None,
        cancelled: Cancel | None,
        keep_locked: bool,
        ready: Mapping[str, Offer] = MappingProxyType({}),
    ) -> AddReport:
        if not (cancelled and cancelled()):  # what was stopped before its turn was not tried
            self._inbox.begin({row.digest for row, _ in rows})
        self._store.keep_reserve(self._newest())  # for whoever deletes one of them while the disk fills
        indexer = Indexer(self._store, self._embedder, settings, progress, cancelled)
        adding = Adding(
            self._writer(), indexer, self._inbox, keep_locked=keep_locked, progress=progress, cancelled=cancelled, waiting=self._waiting,
            elsewhere=self._elsewhere(indexer, settings, progress, cancelled), behind=self._behind, ready=ready,
            forget=self._deletions.forget_waiting,
        )  # fmt: skip
        report = adding.run(rows)
        self._deletions.clear(self._held())
        return report


def _described(entries: Iterable[Entry]) -> list[Accepted]:
    """The sources of these documents, described as they are now."""
    return [entry.source.knowing(entry.document.metadata) for entry in entries]
