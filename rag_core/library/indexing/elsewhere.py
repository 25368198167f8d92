"""Documents that other processes make of PDFs, taken in by the one process that writes the library.

A worker gets a source's bytes and hands back a file that holds the complete document. It is taken into the library's
file as soon as it comes, compared with its checksums, and published in the order in which the sources were handed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from rag_core.domain.ports import Cancel, Embedder
from rag_core.errors import Cancelled, IngestError, StoredFileDamaged
from rag_core.library.disk.private import write
from rag_core.library.indexing.indexer import Indexer
from rag_core.library.stored.collection import Collection, Gone
from rag_core.library.stored.entry import Accepted, Entry
from rag_core.library.stored.named import FILE
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings

# PDFs that are worth the start of the workers; one by itself is made here, where its first pages can be asked early
MIN_FILES = 2
LOOK_SECONDS = 0.1  # between two looks at whether to stop


class Workers(Protocol):
    """Processes that make documents of PDFs for one call, from `begin` to `end`."""

    def begin(self, embedder: Embedder, settings: Settings, cancelled: Cancel) -> int:
        """Start them with this model; how many sources they take at once. Raises WorkersUnavailable, Cancelled."""

    def order(self, row: Accepted, data: bytes) -> Future[bytes]:
        """The bytes of a file with the document made of a source; raises IngestError, or another RagError."""

    def end(self) -> None:
        """End them; what is still being made is not wanted."""


WorkersOf = Callable[[Settings], Workers | None]  # the workers that the settings name


class Elsewhere:
    """The PDFs of one call that workers make, with the indexer's model and progress. Use it in a `with`."""

    def __init__(self, workers: Workers, indexer: Indexer) -> None:
        self._workers, self._indexer = workers, indexer
        self._wanted: dict[str, Accepted] = {}
        self._left: deque[Accepted] = deque()
        self._out: dict[str, Future[bytes]] = {}
        self._came: dict[str, Entry | IngestError | Gone] = {}
        self._room, self._is_begun = 0, False

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_begun:
            self._workers.end()

    def begin(self, rows: Sequence[Accepted]) -> None:
        """Have documents made of these PDFs, in their order, unless they are too few; errors as `Workers.begin`."""
        if len(rows) < MIN_FILES:
            return
        self._indexer.progress("workers: starting", 0, 1)
        self._wanted = {row.digest: row for row in rows}
        self._left.extend(self._wanted.values())
        self._is_begun = True
        self._room = self._workers.begin(self._indexer.embedder, self._indexer.settings, self._indexer.stopped)
        self._order()

    def entry(self, row: Accepted) -> Entry | None:
        """The complete document of a source, None where it is to be made here; raises why it cannot be made."""
        while row.digest in self._wanted and row.digest not in self._came:
            if self._indexer.stopped():
                raise Cancelled("Stopped while workers made documents.", remedy="Resume to index the rest.")
            wait(self._out.values(), LOOK_SECONDS, FIRST_COMPLETED)
            self._take()
        found = self._came.pop(row.digest, None)
        if isinstance(found, (IngestError, Gone)):
            raise found
        return found

    def _order(self) -> None:
        while self._left and len(self._out) < self._room:
            row = self._left.popleft()
            try:
                self._out[row.digest] = self._workers.order(row, self._indexer.source(row))
            except StoredFileDamaged:  # what was read from it before may do, and is here
                del self._wanted[row.digest]

    def _take(self) -> None:
        done = [digest for digest, future in self._out.items() if future.done()]
        # what came is kept, whatever else failed
        for digest in sorted(done, key=lambda digest: self._out[digest].exception() is not None):
            try:
                with TemporaryDirectory(prefix="plumbline-made-") as folder:
                    write(path := Path(folder) / FILE, self._out.pop(digest).result())
                    self._came[digest] = self._indexer.take(self._wanted[digest], path)
            except (IngestError, Gone) as error:
                self._came[digest] = error
        self._order()


def make(row: Accepted, data: bytes, settings: Settings, embedder: Embedder, folder: Path) -> bytes:
    """The bytes of a file that holds the document of a PDF, made in an empty `folder`; raises as `Indexer`."""
    collection = Collection(folder, "made")
    collection.accept(
        [Source(row.name, data, row.kind, row.caller_id, row.language, row.metadata, strategy=row.strategy)]
    )
    indexer = Indexer(collection, embedder, settings, None, None)
    indexer.finish([indexer.prepare(row, None)])
    collection.close()  # the log beside the file is folded into it
    return (collection.root / FILE).read_bytes()
