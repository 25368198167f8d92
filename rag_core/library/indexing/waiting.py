"""The documents of a collection that wait for their vectors, or of which only the first pages are read.

They are known to this process alone, and to no disk.

The thread that indexes announces them and hands in vectors as they are made; questions read. Whoever deletes such a document takes it out
of sight at once, and the thread that indexes gives it up at its next look.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_core.domain.passages import Passage
from rag_core.domain.ports import Vectors
from rag_core.library.stored.manifest import Entry
from rag_core.library.stored.stored_pages import PageReader, PagesSoFar


class WaitingDocument:
    """One such document. Safe to share between threads: a vector never changes once it is there.

    Args:
        entry: the document as it will be published; of its files those of its pages alone.
        title: as it is embedded with the passages.
        passages: at least one.
        terms: of each passage.
        folder: where its pages lie.
        so_far: its first pages, where it is still being read; another one takes its place when more are there.
        pages: how many it has in all, where it is still being read.
    """

    def __init__(
        self,
        entry: Entry,
        title: str,
        passages: Sequence[Passage],
        terms: Sequence[Sequence[str]],
        folder: Path,
        so_far: PagesSoFar | None = None,
        pages: int = 0,
    ) -> None:
        self.entry, self.title, self.passages, self.terms, self.folder = entry, title, tuple(passages), terms, folder
        self.so_far, self.pages = so_far, pages
        self._vectors: Vectors | None = None
        self._known = np.zeros(len(self.passages), dtype=bool)
        self._lock = threading.Lock()

    @property
    def id(self) -> str:
        """The document's id."""
        return self.entry.document.id

    def put(self, places: Sequence[int], vectors: Vectors) -> None:
        """Take the vectors of the passages at these places; those that are there stay."""
        with self._lock:
            if self._vectors is None:
                self._vectors = np.zeros((len(self.passages), vectors.shape[1]), dtype=np.float32)
            new = [(at, place) for at, place in enumerate(places) if not self._known[place]]
            for at, place in new:
                self._vectors[place] = vectors[at]
                self._known[place] = True

    def known(self) -> NDArray[np.bool_]:
        """For each passage whether its vector is there."""
        with self._lock:
            return self._known.copy()

    def vectors(self, places: Sequence[int]) -> Vectors:
        """The vectors at these places, which are there."""
        assert self._vectors is not None
        return self._vectors[list(places)]


class WaitingDocuments:
    """Those of one collection, in the order in which they were announced. Safe to share between threads.

    `reader` reads their pages, for as long as anybody may ask for them.
    """

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self._documents: dict[str, WaitingDocument] = {}
        self._unwanted: set[str] = set()
        self._changed = threading.Condition()

    def announce(self, documents: Sequence[WaitingDocument]) -> None:
        """Let these be asked, each in the place of the one of its id."""
        for one in documents:
            self._reader.lend(one.entry.key, one.folder)
        with self._changed:
            self._documents |= {one.id: one for one in documents}

    def withdraw(self, ids: Collection[str]) -> None:
        """They wait no longer: they were published, failed or were given up."""
        with self._changed:
            for id in ids:
                self._documents.pop(id, None)
                self._unwanted.discard(id)
            self._changed.notify_all()

    def all(self) -> tuple[WaitingDocument, ...]:
        """Those that can be asked."""
        with self._changed:
            return tuple(one for id, one in self._documents.items() if id not in self._unwanted)

    def unwanted(self) -> frozenset[str]:
        """Ids of those that somebody deleted, and that the thread that indexes has to give up."""
        with self._changed:
            return frozenset(self._unwanted)

    def give_up(self, ids: Collection[str], seconds: float) -> bool:
        """Take these out of sight at once, and wait until none of them is being indexed any more; whether that came about in time."""
        with self._changed:
            self._unwanted |= self._documents.keys() & set(ids)
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._documents.keys() & set(ids), seconds)
