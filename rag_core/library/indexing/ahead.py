"""Has the sources of one call read and cut before their turn, in their order, while vectors of those before them are made.

Two threads do it, as one file is read while the one before it is cut: so the words of all files of an upload can be asked long before
their vectors are there, and a core that would wait has work. What they made stands in a line of bounded length, and is taken from there
when its turn comes. After the files of the call come those of uploads whose jobs wait for their turn (`behind`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from types import MappingProxyType

from rag_core.domain.ports import Cancel
from rag_core.library.indexing.behind import Behind, Offer, Row, Task, Upload
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
MakeBehind = Callable[[Upload, Row, Cancel, Callable[[], None]], Offer | None]


class Ahead:
    """The sources of one call that are made ahead. Use it in a `with`: nothing of it runs afterwards.

    Args:
        make: makes something of a source with its password, until it is told to stop, and says when it has read the source and only cuts
            what it read. It is called by two threads, and let go of at the end.
        rows: each with its password, in their order; none where nothing is made ahead.
        ready: what was made of further sources, while their call waited for its turn.
        behind: uploads that wait for their turn, and what makes a file of theirs; it raises nothing.
        made: ids of files of theirs that an earlier call made, with their upload.
    """

    def __init__(
        self,
        make: Make | None = None,
        rows: Sequence[Row] = (),
        ready: Mapping[str, Prepared] = MappingProxyType({}),
        behind: tuple[Behind, MakeBehind] | None = None,
        made: Mapping[str, Upload] = MappingProxyType({}),
    ) -> None:
        self._make, self._rows = make, rows
        self._behind = behind[0] if behind is not None else Behind()
        self._make_behind: MakeBehind | None = behind[1] if behind is not None else None
        self._left = {row.id for row, _ in rows} | set(ready)  # neither taken nor given up
        self._line: dict[str, Found | BaseException] = {**ready}
        self._own, self._of_uploads = frozenset(self._left), dict(made)  # no file is made both for the call and for an upload
        self._next = deque(rows)
        self._in_work, self._reading, self._taken = set[str](), "", 0
        self._awaited = ""  # the id of the source that is waited for
        self._held = self._closed = False
        self._changed = self._behind.changed
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Ahead:
        if self._make is not None:
            for _ in range(THREADS) if self._make_behind else self._rows[:THREADS]:
                thread = threading.Thread(target=partial(copy_context().run, self._run), daemon=True, name=THREAD)
                try:
                    thread.start()
                except RuntimeError:  # the system gives no more threads: those that began do it, or the call itself makes all of them
                    break
                self._threads.append(thread)
            if not self._threads:
                self._left &= self._line.keys()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._make = self._make_behind = None  # what makes may hold this, and a version of the library that is to be deleted
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
                    self._awaited = ""
                    self._left.discard(row.id)
                    found = self._line.pop(row.id)
                    self._taken += _passages(found)
                    self._changed.notify_all()
                    break
                if self._awaited != row.id:
                    self._awaited = row.id
                    self._changed.notify_all()  # it may be begun, however long the line is
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
            self._behind.forget(ids)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._in_work.isdisjoint(ids))

    def let_go_stopped(self, withdraw: Callable[[str], None]) -> None:
        """Let go of the files of uploads whose jobs were stopped while they waited, once nobody works on any of them.

        `withdraw` takes one out of sight, by its id. It is called before the same file may be made for another upload, which shows it.
        """
        with self._changed:
            stopped = {id for id, upload in self._of_uploads.items() if upload.is_gone}
            self._changed.wait_for(lambda: self._in_work.isdisjoint(stopped))
            for id in stopped:
                withdraw(id)
                self._of_uploads.pop(id).leave()

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
        """Whether the next source may be begun: one of any length always may, where nothing waits; one of the call itself, of its own.

        So may the one that is waited for, whatever of those after it was made before their turn.
        """
        if self._waiting() + self._behind.passages < max(MAX_PASSAGES, 1):
            return True
        return bool(self._next) and (not self._line or any(row.id == self._awaited for row, _ in self._next))

    def _waiting(self) -> int:
        return sum(map(_passages, self._line.values()))

    def _run(self) -> None:
        while (task := self._begun()) is not None:
            stops, was_read = self._stops(task), partial(self._was_read, task.row.id)
            made: Found | Offer | BaseException | None
            try:
                made = self._made(task, stops, was_read)
            except BaseException as error:  # whoever takes it says what it means
                made = error
            with self._changed:
                if task.upload is not None:
                    task.upload.made(task.row, made if isinstance(made, Offer) else None, stopped=stops())
                elif task.row.id in self._left and made is not None and not isinstance(made, Offer):
                    self._line[task.row.id] = made
                self._in_work.discard(task.row.id)
                self._changed.notify_all()
            self._was_read(task.row.id)
            del made  # the line alone holds it

    def _made(self, task: Task, stops: Cancel, was_read: Callable[[], None]) -> Found | Offer | None:
        if task.upload is None:
            assert self._make is not None
            return self._make(task.row, task.password, stops, was_read)
        assert self._make_behind is not None
        return self._make_behind(task.upload, (task.row, task.password), stops, was_read)

    def _begun(self) -> Task | None:
        """The next source, which is in work from now on; None where there is none, or nobody wants it."""
        found: Task | None = None

        def is_there() -> bool:
            nonlocal found
            if not self._closed and not self._held and not self._reading and self._has_room():
                found = self._picked()
                return found is not None or self._make_behind is None
            return self._closed

        with self._changed:
            self._changed.wait_for(is_there)
            if found is not None:
                self._in_work.add(found.row.id)
                self._reading = found.row.id
        return found

    def _picked(self) -> Task | None:
        """The next source of the call, and after them those of the uploads that wait; none twice."""
        while self._next:
            row, password = self._next.popleft()
            if row.id in self._left:
                return Task(row, password)
        if self._make_behind is None:
            return None
        found = self._behind.next(self._own | self._of_uploads.keys())
        if found is not None and found.upload is not None:
            self._of_uploads[found.row.id] = found.upload
        return found

    def _was_read(self, id: str) -> None:
        """The next source may be read beside the cutting of this one."""
        with self._changed:
            if self._reading == id:
                self._reading = ""
                self._changed.notify_all()

    def _stops(self, task: Task) -> Cancel:
        upload, id = task.upload, task.row.id
        if upload is None:
            return lambda: self._closed or id not in self._left
        return lambda: self._closed or upload.cancelled() or id not in upload.left


def _passages(found: Found | BaseException) -> int:
    """How many of its passages wait for vectors."""
    return len(found.passages) if isinstance(found, Prepared) else 0
