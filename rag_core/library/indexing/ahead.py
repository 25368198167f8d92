"""Files that are read and cut before their turn, by threads beside the one that makes vectors: they can be asked by
their words meanwhile.

So are the files of a job that waits for its turn. What is made of them is kept in the library's file; here stands only
how far they are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack, suppress
from contextvars import copy_context
from itertools import takewhile

from rag_core.errors import Cancelled, IngestError
from rag_core.library.indexing.indexer import Indexer
from rag_core.library.stored.collection import Form
from rag_core.library.stored.entry import Accepted, Row

THREADS = 2  # one file is cut in this process while the next one is read, mostly by others
THREAD = "reading ahead"
LOOK_SECONDS = 0.1  # between two looks at whether to stop, while a source is waited for
# that wait for vectors, where a document of the call is asked before it has its own; about two seconds
EARLY_PASSAGES = 64
WAY_SECONDS = 0.5  # at most between two batches of vectors, while sources are read; a stop waits for it


class Upload:
    """The files of one call of `add`, or of a job that waits for its turn.

    Args:
        rows: in their order; they are on the library's list.
        indexer: makes them, tells the job, and stops with it.
        pool: of threads.
        reading: held while a file is read: one after the other, since each may take much memory.
        made_known: called where there is more to be asked than before.
        early: how many passages wait for their vectors where a file is asked before it has its own; None where none is.
        elsewhere: says of an id whether another one makes that file already: then it is made in its turn.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        indexer: Indexer,
        pool: ThreadPoolExecutor,
        reading: threading.Lock,
        made_known: Callable[[], object],
        *,
        early: int | None = None,
        elsewhere: Callable[[str], bool] = lambda id: False,
    ) -> None:
        self._indexer, self._reading, self._made_known, self._early = indexer, reading, made_known, early
        self._left = threading.Event()
        self._rows = [row for row, _ in rows]
        self.ids = frozenset(row.id for row in self._rows)
        self._passages = 0  # those of files that were read and have no vectors
        self._over: set[str] = set()  # ids of those that were made, or cannot be
        self._lock = threading.Lock()
        self._futures: dict[str, Future[Form]] = {}
        for row, password in [(row, password) for row, password in rows if not elsewhere(row.id)]:
            with suppress(RuntimeError):  # the system gives no more threads: the call itself makes it
                self._futures[row.id] = pool.submit(copy_context().run, self._make, row, password)

    @property
    def is_over(self) -> bool:
        """Whether its turn is over, or never comes."""
        return self._left.is_set()

    def makes(self, id: str) -> bool:
        """Whether a source is made here, or was, and is still to be taken."""
        return id in self._futures

    def take(self, row: Accepted, look: Callable[[], None]) -> Form:
        """Wait for what was made of a source. What its making raised is raised here.

        `look` is called about ten times a second while it is waited for; what that raises ends the waiting.
        """
        future = self._futures[row.id]
        while True:
            look()
            with suppress(NotYet):
                future.exception(LOOK_SECONDS)
                break
        del self._futures[row.id]
        return future.result()

    def embedded(self, form: Form) -> None:
        """The vectors of a file are there."""
        if form.entry.document.id in self.ids:
            with self._lock:
                self._passages -= form.count

    def give_way(self, seconds: float) -> None:
        """Wait so long, and `WAY_SECONDS` at most, while sources are read or cut: that they can be asked comes before
        vectors.
        """
        if running := [one for one in self._futures.values() if one.running()]:
            wait(running, min(seconds, WAY_SECONDS))

    def leave(self) -> None:
        """Its turn is over, or never comes: none of it is made from now on, and what is not in the library is asked no
        longer.
        """
        self._left.set()
        for future in self._futures.values():
            future.cancel()
        wait(self._futures.values())
        self._futures.clear()
        if self._early is not None:
            self._indexer.collection.hide([row.digest for row in self._rows])
            self._made_known()

    def _stops(self) -> bool:
        return self._left.is_set() or self._indexer.stopped()

    def _least(self, id: str) -> int:
        """How many passages a file has that is asked before it has vectors."""
        before = takewhile(lambda one: one != id, list(self._futures))
        # behind one that is still being read it waits for as many passages at least
        if self._early is None or any(one not in self._over for one in before):
            return 0
        return max(0, self._early - self._passages)

    def _make(self, row: Accepted, password: str | None) -> Form:
        with ExitStack() as turn:
            while not self._reading.acquire(timeout=LOOK_SECONDS):
                self._require_going()
            turn.callback(self._reading.release)
            self._require_going()
            made_known = self._made_known if self._early is not None else None
            try:
                form = self._indexer.prepare(
                    row, password, made_known, self._stops, lambda: self._least(row.id), turn.close
                )
                with self._lock:
                    self._passages += form.count
            except IngestError:
                self._indexer.tell_problem(row)
                raise
            finally:
                self._over.add(row.id)
        return form

    def _require_going(self) -> None:
        if self._stops():
            raise Cancelled("Stopped between two files.", remedy="Resume to index the rest.")
