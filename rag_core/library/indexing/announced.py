"""The documents of one call that are asked before they are indexed: who announces them, who gives them up, and which get vectors.

Two threads use it: one announces what it has read, the other one embeds. So nothing is announced again that was given up meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from rag_core.domain.ports import Vectors
from rag_core.errors import Cancelled
from rag_core.library.indexing.waiting import WaitingDocument, WaitingDocuments


class Announced:
    """The documents of one call. Safe to share between threads.

    Args:
        waiting: those of the collection; None where nothing is asked early.
    """

    def __init__(self, waiting: WaitingDocuments | None) -> None:
        self._waiting = waiting
        self._ids = set[str]()
        self._open = dict[str, WaitingDocument]()  # those that lack vectors
        self._given_up = set[str]()
        self._lock = threading.Lock()

    @property
    def possible(self) -> bool:
        """Whether anything is asked early."""
        return self._waiting is not None

    def announce(self, documents: Sequence[WaitingDocument]) -> None:
        """Let these be asked, each in the place of the one of its id.

        Raises:
            Cancelled: somebody deleted one of them.
        """
        assert self._waiting is not None
        with self._lock:
            if any(one.id in self._given_up for one in documents):
                raise Cancelled("It was deleted.", remedy="Add the file again.")
            self._ids |= {one.id for one in documents}
            self._open |= {one.id: one for one in documents}
            self._waiting.announce(documents)

    def has(self, id: str, *, whole: bool = False) -> bool:
        """Whether a document is asked early; `whole`, with all of its pages."""
        with self._lock:
            return id in self._ids and not (whole and id in self._open and self._open[id].pages)

    def put(self, id: str, place: int, vector: Vectors) -> None:
        """Hand a passage's vector on, shape (1, dim), where its document is asked early."""
        if (document := self._open.get(id)) is not None:
            document.put([place], vector)

    def embedded(self, id: str) -> None:
        """All vectors of a document are there: it waits to be published, and nothing of it is held here."""
        with self._lock:
            self._open.pop(id, None)

    def withdraw(self, id: str) -> None:
        """A document cannot be indexed: what was read of it is out of sight."""
        with self._lock:
            known = id in self._ids
            self._ids.discard(id)
            self._open.pop(id, None)
            if known and self._waiting is not None:
                self._waiting.withdraw([id])

    def unwanted(self) -> frozenset[str]:
        """Ids of those that somebody deleted, and that are to be given up."""
        return self._waiting.unwanted() if self._waiting is not None else frozenset()

    def give_up(self, but: Collection[str] = ()) -> frozenset[str]:
        """Those that somebody deleted, `but` these; none of them can be announced any more. Whoever deleted them waits for `given_up`."""
        with self._lock:
            gone = (self.unwanted() & self._ids).difference(but)
            self._given_up |= gone
            for id in gone:
                self._open.pop(id, None)
        return gone

    def given_up(self, ids: Collection[str]) -> None:
        """Nothing is left of these."""
        if self._waiting is not None:
            self._waiting.withdraw(ids)

    def is_given_up(self, id: str) -> bool:
        """Whether somebody deleted a document during this call, and it was given up."""
        with self._lock:
            return id in self._given_up

    def end(self) -> None:
        """The call has ended: none of its documents waits any longer."""
        if self._waiting is not None:
            self._waiting.withdraw(self._ids)
