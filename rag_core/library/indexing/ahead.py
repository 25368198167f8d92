"""Has the sources of one call read and cut before their turn, in their order, while vectors of those before them are made.

Two threads do it, as one file is read while the one before it is cut: so the words of all files of an upload can be asked long before
their vectors are there, and a core that would wait has work. What they made stands in a line of bounded length, and is taken from there
when its turn comes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial

from rag_core.domain.ports import Cancel
from rag_core.library.indexing.indexer import Prepared
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.manifest import Entry

MAX_PASSAGES = 8_192  # in the line, beyond which no further file is begun
THREADS = 2  # one file is cut in this process while the next one is read, mostly by others
LOOK_SECONDS = 0.1  # between two looks at whether to stop, while a source is waited for
WAY_SECONDS = 0.5  # at most between two batches of vectors, while sources are read; a stop waits for it
THREAD = "reading ahead"

Found = Prepared | Entry  # what was read and cut of a source, or its complete document, which stood on disk already
Make = Callable[[Accepted, str | None, Cancel, Callable[[], None]], Found]


class Ahead:
    """The sources of one call that are made ahead. Use it in a `with`: nothing of it runs afterwards.

    Args:
        make: makes something of a source with its password, until it is told to stop, and says when it has read the source and only cuts
            what it read. It is called by two threads, and let go of at the end.
        rows: each with its password, in their order; none where nothing is made ahead.
    """

    def __init__(self, make: Make | None = None, rows: Sequence[tuple[Accepted, str | None]] = ()) -> None:
        self._make, self._rows = make, rows
        self._left = {row.id for row, _ in rows}  # neither taken nor given up
        self._line: dict[str, Found | BaseException] = {}
        self._next = iter(self._rows)
        self._in_work, self._reading, self._taken = set[str](), "", 0
        self._held = self._closed = False
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Ahead:
        if self._make is not None and self._rows:
            for _ in self._rows[:THREADS]:
                run = partial(copy_context().run, self._run, self._make)
                self._threads.append(threading.Thread(target=run, daemon=True, name=THREAD))
                self._threads[-1].start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._make = None  # what makes may hold this, and a version of the library that is to be deleted
        self._line.clear()

    @property
    def passages(self) -> int:
        """Those that wait for vectors: in the line, and taken from it since `embedded`."""
        with self._changed:
            return self._taken + self._waiting()

    def makes(self, row: Accepted) -> bool:
        """Whether a source is made here, or was, and is still to be taken."""
        with self._changed:
            return row.id in self._left

    def take(self, row: Accepted, look: Callable[[], None]) -> Found | None:
        """Wait for what was made of a source; None where it was given up. What its making raised is raised here.

        `look` is called about ten times a second while it is waited for; what that raises ends the waiting.
        """
        while True:
            look()
            with self._changed:
                if row.id not in self._left:
                    return None
                if row.id in self._line:
                    self._left.discard(row.id)
                    found = self._line.pop(row.id)
                    self._taken += _passages(found)
                    self._changed.notify_all()
                    break
                self._changed.wait(LOOK_SECONDS)
        if isinstance(found, BaseException):
            try:
                raise found
            finally:
                del found  # it knows this frame
        return found

    def embedded(self) -> None:
        """All that was taken so far has its vectors, or needs none."""
        with self._changed:
            self._taken = 0

    def give_up(self, ids: Collection[str]) -> None:
        """Forget these sources: they are not made, and when this returns nobody works on any of them."""
        with self._changed:
            self._left -= set(ids)
            for id in ids:
                self._line.pop(id, None)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._in_work.isdisjoint(ids))

    def give_way(self, seconds: float) -> None:
        """Wait so long, and `WAY_SECONDS` at most, while sources are read or cut: that they can be asked comes before vectors."""
        with self._changed:
            self._changed.wait_for(lambda: not self._in_work, min(seconds, WAY_SECONDS))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within the block no further source is begun: who waits in it lets others have the machine."""
        self._hold(True)
        try:
            yield
        finally:
            self._hold(False)

    def _hold(self, held: bool) -> None:
        with self._changed:
            self._held = held
            self._changed.notify_all()

    def _has_room(self) -> bool:
        """Whether the next source may be begun: one of any length always may, where nothing waits."""
        return self._waiting() < max(MAX_PASSAGES, 1)

    def _waiting(self) -> int:
        return sum(map(_passages, self._line.values()))

    def _run(self, make: Make) -> None:
        while (begun := self._begun()) is not None:
            row, password = begun
            try:
                made: Found | BaseException = make(row, password, self._stops(row.id), partial(self._was_read, row.id))
            except BaseException as error:  # whoever takes it says what it means
                made = error
            with self._changed:
                self._in_work.discard(row.id)
                if row.id in self._left:
                    self._line[row.id] = made
                self._changed.notify_all()
            self._was_read(row.id)
            del made  # the line alone holds it

    def _begun(self) -> tuple[Accepted, str | None] | None:
        """The next source, which is in work from now on; None where there is none, or nobody wants it."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or (not self._held and not self._reading and self._has_room()))
            if self._closed:
                return None
            for row, password in self._next:
                if row.id in self._left:
                    self._in_work.add(row.id)
                    self._reading = row.id
                    return row, password
        return None

    def _was_read(self, id: str) -> None:
        """The next source may be read beside the cutting of this one."""
        with self._changed:
            if self._reading == id:
                self._reading = ""
                self._changed.notify_all()

    def _stops(self, id: str) -> Cancel:
        return lambda: self._closed or id not in self._left


def _passages(found: Found | BaseException) -> int:
    """How many of its passages wait for vectors."""
    return len(found.passages) if isinstance(found, Prepared) else 0
