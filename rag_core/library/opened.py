"""A collection in one process: the newest version in memory, swapped as a whole, all that can be read of it, and the lock of its writer."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from rag_core.domain.acts import Note, unnoted
from rag_core.domain.ports import Cancel, Embedder
from rag_core.errors import InvalidInput, LibraryDamaged, LibraryError, ModelMismatch, RagError, StoreMismatch
from rag_core.library.deletion import Deletions
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.lock import sweep, writer, writing
from rag_core.library.disk.private import is_open, tighten
from rag_core.library.early import early
from rag_core.library.erasing import OnErase, nothing_else
from rag_core.library.indexing.behind import Behind
from rag_core.library.indexing.elsewhere import WorkersOf, none_elsewhere
from rag_core.library.indexing.indexer import INDEX_VERSION
from rag_core.library.indexing.waiting import WaitingDocument, WaitingDocuments
from rag_core.library.quota import QuotaOf, no_quota, taken
from rag_core.library.stored import stored_sources
from rag_core.library.stored.inbox import Accepted, Inbox
from rag_core.library.stored.manifest import Manifest
from rag_core.library.stored.packed import Passages
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.store import Store
from rag_core.library.stored.writer import Writer

# what else holds words of documents forgets them: their ids, and the last version that has them
OnDelete = Callable[[Collection[str], int], None]
LOAD_ATTEMPTS = 5  # a version may be cleared away by another process while it is read; the next one is then tried


class Opened:
    """Safe to share between threads; `snapshot` is swapped by one assignment."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        on_delete: OnDelete = lambda documents, version: None,
        note: Note = unnoted,
        on_erase: OnErase = nothing_else,
        quota: QuotaOf = no_quota,
        workers: WorkersOf = none_elsewhere,
    ) -> None:
        self._store, self._note, self._on_erase, self._quota, self._workers = store, note, on_erase, quota, workers
        self._embedder = embedder
        self._on_delete = on_delete
        self._inbox = Inbox(store.root)
        self._deletions = Deletions(store, self._inbox, self._newest, self._held)
        self._swapping = threading.RLock()
        self._seen = (0, "")  # what CURRENT said when the snapshot was taken
        self._live: weakref.WeakSet[Snapshot] = weakref.WeakSet()
        self._snapshot = self._empty()
        self._waiting, self._viewing, self._behind = WaitingDocuments(store.reader), threading.Lock(), Behind()
        self._joined: tuple[Snapshot, tuple[WaitingDocument, ...], Snapshot] | None = None  # the last `view`, and what it was made of

    @property
    def snapshot(self) -> Snapshot:
        """The newest version that this process knows; see `refresh`. Hold it for as long as a question takes."""
        return self._snapshot

    @property
    def view(self) -> Snapshot:
        """All that can be asked now: `snapshot`, and behind it the documents that this process still makes vectors for."""
        waiting = self._waiting.all()  # first: what is withdrawn from here on is in the snapshot already
        published = self._snapshot
        if waiting:
            known = {entry.document.id for entry in published.entries}
            waiting = tuple(one for one in waiting if one.id not in known)
        with self._viewing:
            if not waiting:
                self._joined = None
                return published
            if self._joined is None or self._joined[:2] != (published, waiting):
                made = early(published, waiting, self._store.lexical, self._embedder) or published
                self._joined = published, waiting, made
            return self._joined[2]

    @property
    def vector_store(self) -> str:
        """The name of the store that its vectors are in."""
        return self._store.vectors.name

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

    def unfinished(self) -> tuple[Accepted, ...]:
        """The sources that were accepted and are not in the library, because a process was killed or stopped, or is at it now."""
        return tuple(self._inbox.rows().values())

    def writer(self) -> str:
        """Who writes to the collection at this moment, in words; empty where nobody does. Asked before `unfinished` it tells of that."""
        return writer(self._store.root)

    def source(self, document_id: str) -> bytes:
        """The bytes of a document as they were handed in.

        Raises:
            InvalidInput: there is no such document.
            LibraryDamaged: they are missing or were changed.
        """
        for entry in self.view.entries:
            if entry.document.id == document_id:
                return stored_sources.read(self._store.root, entry.source)[0]
        raise no_document(document_id)

    def verify(self) -> None:
        """Compare every file of the newest version with its checksum, pages and sources included.

        Raises:
            LibraryDamaged: one is missing or was changed.
        """
        manifest = self._store.manifest()
        if manifest is not None:
            self._store.verify(manifest)

    def remembers(self, document_id: str) -> bool:
        """Whether a document is in the newest version, or in an older one that is kept for readers."""
        return self._store.remembers(document_id)

    def size_bytes(self) -> int:
        """The bytes that the collection takes on disk: indexes, pages, sources, unfinished files, and the older versions that are kept."""
        return self._store.disk_size.bytes()

    def room_taken(self) -> tuple[int, int]:
        """How many documents the quota counts, with those that wait to be indexed, and the bytes of their files."""
        found = taken(self._store.root, self._snapshot.entries, self._inbox.rows().values())
        return len(found), sum(found.values())

    @contextmanager
    def _writing(self, wait: float, cancelled: Cancel | None = None, *, refresh: bool = True) -> Iterator[None]:
        with storage_problems("writing to the folder"), writing(self._store.root, wait, cancelled):
            if is_open(self._store.root):  # copied here with other rights
                tighten(self._store.root)
            if refresh:
                self.refresh()
                with self._inbox.held():
                    sweep(self._store.root, self._inbox.rows())
                self._deletions.finish_cut_off(self._held())
            yield

    def _finish_cut_off(self) -> None:
        """Finish a deletion that was cut off, unless somebody else writes, who will, or it may not be written here."""
        if self._deletions.cut_off:
            with suppress(RagError), self._writing(0.0):
                pass  # a writer begins with it

    def _writer(self, base: Manifest | None = None) -> Writer:
        newest = base or self._newest()
        newest = replace(newest, embedder=self._embedder.name, index_version=INDEX_VERSION, vector_store=self._store.vectors.name)
        return Writer(self._store, newest, self._snapshot, self._adopt, self._inbox)

    def _newest(self) -> Manifest:
        return self._store.manifest(known=True) or Manifest(0, self._embedder.name, INDEX_VERSION)

    def _adopt(self, snapshot: Snapshot) -> Collection[int]:
        with self._swapping:  # so that a reader which was loading an older one does not put it in the place of this
            self._live.add(snapshot)
            self._snapshot, self._seen = snapshot, self._store.pointer()
            self._waiting.withdraw([entry.document.id for entry in snapshot.entries])
            return self._held()

    def _held(self) -> set[int]:
        with self._swapping:
            return {held.version for held in self._live}

    def _load(self, newest: tuple[int, str]) -> bool:
        if newest == self._seen:
            return False
        with _nothing_collected():
            manifest = self._store.manifest()
            if manifest is not None:
                self._check(manifest)
            snapshot = self._store.load(manifest, self._snapshot.passages_by_key()) if manifest else self._empty()
        self._adopt(snapshot)
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
        if manifest.vector_store != self._store.vectors.name:
            raise StoreMismatch(
                f"The library {self._store.root.name!r} was built in the vector store {manifest.vector_store!r}, "
                f"not in {self._store.vectors.name!r}.",
                remedy=f"Open it with vector_store={manifest.vector_store}, or rebuild the library in the other one.",
            )
        if manifest.index_version != INDEX_VERSION:
            raise LibraryError(
                f"The library {self._store.root.name!r} was indexed by version {manifest.index_version}, not {INDEX_VERSION}.",
                remedy="Rebuild the library from its stored sources; nothing has to be uploaded again.",
            )

    def _empty(self) -> Snapshot:
        return Snapshot(0, Passages(()), self._store.no_vectors(), self._store.lexical.build([]), (), self._store.reader)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Within the block Python does not look for garbage: all that is made there stays.

    To go through it again and again took a third of the processor time in which a million passages were opened.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def no_document(document_id: str) -> InvalidInput:
    """The error for a document that is not there."""
    return InvalidInput(f"There is no document {document_id!r} in the library.", remedy="List the documents to see their ids.")
