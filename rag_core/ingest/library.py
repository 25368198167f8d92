"""A library on disk: the documents of one namespace with their indexes, read as immutable snapshots, changed by one writer at a time.

Readers never wait and never see half a change. A process may be killed at any moment: the library then is as it was after the last
published document, and `resume` finishes the rest.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rag_core.domain import Metadata
from rag_core.errors import IngestError, InvalidInput, LibraryDamaged, LibraryError, ModelMismatch
from rag_core.ingest.adding import Adding, AddReport
from rag_core.ingest.files import storage_problems
from rag_core.ingest.inbox import Accepted, Inbox
from rag_core.ingest.indexing import INDEX_VERSION, Indexer
from rag_core.ingest.lock import writing
from rag_core.ingest.manifest import Manifest
from rag_core.ingest.snapshot import Snapshot
from rag_core.ingest.sources import Source
from rag_core.ingest.store import Store
from rag_core.ingest.writer import Writer
from rag_core.ports import Cancel, Embedder, LexicalStore, Progress, VectorStore
from rag_core.settings import Settings

__all__ = ["Accepted", "AddReport", "Library"]

WAIT_SECONDS = 30.0  # for another writer: longer than publishing takes, shorter than a user's patience
LOAD_ATTEMPTS = 5  # a generation may be cleared away by another process while it is read; the next one is then tried


class Library:
    """The documents of one namespace. Safe to share between threads; `snapshot` is swapped by one assignment."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._inbox = Inbox(store.root / "inbox.json")
        self._swapping = threading.RLock()
        self._seen = (0, "")  # what CURRENT said when the snapshot was taken
        self._live: weakref.WeakSet[Snapshot] = weakref.WeakSet()
        self._snapshot = self._empty()

    @classmethod
    def open(cls, folder: Path, namespace: str, *, embedder: Embedder, vectors: VectorStore, lexical: LexicalStore) -> Library:
        """The library in `folder`, compared with its checksums; an empty one when there is none yet. Writes nothing.

        Raises:
            InvalidInput: the namespace's name is not `[a-z0-9_-]{1,64}`.
            LibraryDamaged: a file is missing or was changed.
            ModelMismatch: built with another embedding model or precision.
            LibraryError: built by another version of this program.
        """
        library = cls(Store(folder, namespace, vectors, lexical), embedder)
        library.refresh()
        return library

    @classmethod
    def rebuild(
        cls,
        folder: Path,
        namespace: str,
        settings: Settings,
        *,
        embedder: Embedder,
        vectors: VectorStore,
        lexical: LexicalStore,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
    ) -> tuple[Library, AddReport]:
        """Index all documents again from their stored sources: for another embedding model, a newer version, or after damage.

        Published at the end, as a whole; names and metadata are kept. What fails stays in `unfinished()`. When cancelled, the old
        generation stays, and a second call goes on where the first stopped.

        Raises:
            LibraryBusy: another writer held the library for `WAIT_SECONDS`.
            LibraryDamaged: the manifest itself cannot be read.
        """
        library = cls(Store(folder, namespace, vectors, lexical), embedder)
        with library._writing(WAIT_SECONDS, cancelled, refresh=False):
            old = library._store.manifest()
            # the metadata as they are now, the user's changes included
            rows = [entry.source.knowing(entry.document.metadata) for entry in old.entries] if old else []
            library._inbox.put(rows)
            generation = old.generation if old else 0
            writer = library._writer(Manifest(generation, embedder.name, INDEX_VERSION))
            indexer = Indexer(library._store, embedder, settings, progress, cancelled)
            adding = Adding(writer, indexer, library._inbox, keep_locked=True, at_once=True, progress=progress, cancelled=cancelled)
            report = adding.run([(row, None) for row in rows])
        return library, report

    @property
    def snapshot(self) -> Snapshot:
        """The newest generation that this process knows; see `refresh`. Hold it for as long as a question takes."""
        return self._snapshot

    def refresh(self) -> bool:
        """Take over what another process published meanwhile; costs one small read when there is nothing new. True if there was.

        Raises:
            LibraryError: as `open`; the snapshot stays as it was.
        """
        if self._store.pointer() == self._seen:
            return False
        with self._swapping:
            for attempt in range(LOAD_ATTEMPTS):
                newest = self._store.pointer()
                try:
                    return self._load(newest)
                except LibraryDamaged:
                    if attempt + 1 == LOAD_ATTEMPTS or self._store.pointer() == newest:
                        raise
        return False

    def add(
        self,
        sources: Iterable[Source | IngestError],
        settings: Settings,
        *,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        wait: float = WAIT_SECONDS,
    ) -> AddReport:
        """Index sources; a file that cannot be read is a problem in the report, the others go on.

        All sources are stored first, so that none is lost when the process is killed. Equal bytes under equal settings are one document.

        Args:
            sources: what to index, for instance from `sources_from`; errors among them go into the report.
            settings: the ingest settings.
            progress: told (what, done, total).
            cancelled: asked often; what is complete by then is kept, the rest is in `unfinished()`.
            wait: seconds to wait for another writer.

        Raises:
            LibraryBusy: another writer held the library for `wait` seconds.
            LibraryError: the disk refused; the last generation stays as it was.
        """
        refused: list[tuple[str, IngestError]] = []
        with self._writing(wait, cancelled):
            rows = self._inbox.accept(_only_sources(sources, refused), self._store.write_source)
            report = self._index(rows, settings, progress, cancelled, keep_locked=False)
        return AddReport(report.added, report.unchanged, (*refused, *report.problems), report.cancelled)

    def resume(
        self,
        settings: Settings,
        *,
        passwords: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        wait: float = WAIT_SECONDS,
    ) -> AddReport:
        """Index what `unfinished` lists; arguments as in `add`. `passwords` are by name or id, for sources that need one."""
        known = passwords or {}
        with self._writing(wait, cancelled):
            rows = [(row, known.get(row.id) or known.get(row.name)) for row in self._inbox.rows().values()]
            return self._index(rows, settings, progress, cancelled, keep_locked=True)

    def unfinished(self) -> tuple[Accepted, ...]:
        """The sources that were accepted and are not in the library, because a process was killed or stopped, or is at it now."""
        return tuple(self._inbox.rows().values())

    def delete(self, document_id: str, *, wait: float = WAIT_SECONDS) -> None:
        """Take a document out, or an unfinished source off the list. Its files go when no kept generation needs them.

        Raises:
            InvalidInput: there is no such document.
            LibraryBusy: another writer held the library for `wait` seconds.
        """
        with self._writing(wait):
            writer = self._writer()
            listed = [row.digest for row in self._inbox.rows().values() if row.id == document_id]
            if document_id not in writer.entries and not listed:
                raise _unknown(document_id)
            self._inbox.drop(listed)
            if document_id in writer.entries:
                writer.remove(document_id)
                writer.publish()

    def set_metadata(self, document_id: str, metadata: Metadata, *, wait: float = WAIT_SECONDS) -> None:
        """Replace a document's metadata; nothing is embedded again.

        Raises:
            InvalidInput: there is no such document.
            LibraryBusy: another writer held the library for `wait` seconds.
        """
        with self._writing(wait):
            writer = self._writer()
            if document_id not in writer.entries:
                raise _unknown(document_id)
            writer.entries[document_id] = writer.entries[document_id].described(metadata)
            writer.publish()

    def source(self, document_id: str) -> bytes:
        """The bytes of a document as they were handed in.

        Raises:
            InvalidInput: there is no such document.
            LibraryDamaged: they are missing or were changed.
        """
        for entry in self._snapshot.entries:
            if entry.document.id == document_id:
                name = f"sources/{entry.source.digest}"
                return self._store.read(name, entry.files[name])
        raise _unknown(document_id)

    def verify(self) -> None:
        """Compare every file of the newest generation with its checksum, pages and sources included.

        Raises:
            LibraryDamaged: one is missing or was changed.
        """
        manifest = self._store.manifest()
        if manifest is not None:
            self._store.verify(manifest)

    def _index(
        self,
        rows: list[tuple[Accepted, str | None]],
        settings: Settings,
        progress: Progress | None,
        cancelled: Cancel | None,
        keep_locked: bool,
    ) -> AddReport:
        indexer = Indexer(self._store, self._embedder, settings, progress, cancelled)
        adding = Adding(self._writer(), indexer, self._inbox, keep_locked=keep_locked, progress=progress, cancelled=cancelled)
        report = adding.run(rows)
        self._store.clear(self._snapshot.generation, self._held(), self._inbox.rows())
        return report

    @contextmanager
    def _writing(self, wait: float, cancelled: Cancel | None = None, *, refresh: bool = True) -> Iterator[None]:
        with storage_problems("writing to the folder"), writing(self._store.root, wait, cancelled):
            if refresh:
                self.refresh()
            yield

    def _writer(self, base: Manifest | None = None) -> Writer:
        newest = base or self._store.manifest() or Manifest(0, self._embedder.name, INDEX_VERSION)
        newest = Manifest(newest.generation, self._embedder.name, INDEX_VERSION, newest.index, newest.entries, newest.files)
        return Writer(self._store, newest, self._snapshot, self._adopt, lambda: self._inbox.rows())

    def _adopt(self, snapshot: Snapshot) -> Collection[int]:
        with self._swapping:  # so that a reader which was loading an older one does not put it in the place of this
            self._live.add(snapshot)
            self._snapshot, self._seen = snapshot, self._store.pointer()
            return self._held()

    def _held(self) -> set[int]:
        with self._swapping:
            return {held.generation for held in self._live}

    def _load(self, newest: tuple[int, str]) -> bool:
        if newest == self._seen:
            return False
        manifest = self._store.manifest()
        if manifest is not None:
            self._check(manifest)
        self._adopt(self._store.load(manifest, self._snapshot.passages_by_key()) if manifest else self._empty())
        self._seen = newest
        return True

    def _check(self, manifest: Manifest) -> None:
        if not manifest.entries:
            return  # nothing in it was made by any model
        if manifest.embedder != self._embedder.name:
            raise ModelMismatch(
                f"The library {self._store.root.name!r} was built with {manifest.embedder}, not with {self._embedder.name}.",
                remedy="Use that embedding model and precision, or rebuild the library with the new one.",
            )
        if manifest.index_version != INDEX_VERSION:
            raise LibraryError(
                f"The library {self._store.root.name!r} was indexed by version {manifest.index_version}, not {INDEX_VERSION}.",
                remedy="Rebuild the library from its stored sources; nothing has to be uploaded again.",
            )

    def _empty(self) -> Snapshot:
        vectors = self._store.vectors.build(np.zeros((0, 0), dtype=np.float32))
        return Snapshot(0, (), vectors, self._store.lexical.build([]), (), self._store.reader)


def _only_sources(sources: Iterable[Source | IngestError], refused: list[tuple[str, IngestError]]) -> Iterator[Source]:
    for source in sources:
        if isinstance(source, Source):
            yield source
        else:
            refused.append(("input", source))


def _unknown(document_id: str) -> InvalidInput:
    return InvalidInput(f"There is no document {document_id!r} in the library.", remedy="List the documents to see their ids.")
