"""A lock that is given in the order in which it was asked for, and to who can wait when nobody else comes.

Python's own goes to whoever is quickest. A thread that indexes lets go of it for a moment between two batches and has
it again before a question that waits is awake: questions waited a minute beside a file of 300 pages. And a question
comes with some six short requests, one after the other: where a batch begins between any two of them, each waits for a
batch. So who can wait lets a moment pass after each short one of somebody else, as an anticipatory scheduler of a disk
does (Iyer and Druschel, 2001).
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# seconds that a long request lets short ones by: a batch of passages takes a tenth of that, so questions lose little;
# chosen
PATIENCE = 1.0
# seconds without a short request after which a long one may begin; a question's next one comes within; chosen
MOMENT = 0.05


@dataclass(eq=False, slots=True)
class _Wait:
    """One who waits: since when, and in which thread."""

    since: float
    thread: int


class InTurn:
    """The lock. `with lock.held():`, and with `behind` for what can wait while others do.

    Not to be taken twice by one thread.

    Args:
        clock: seconds, from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed, self._taken = threading.Condition(), False
        self._waiting: deque[_Wait] = deque()
        self._behind: deque[_Wait] = deque()
        self._last = _Wait(-math.inf, 0)  # the short request that was done last, and when

    def locked(self) -> bool:
        """Whether somebody has it."""
        return self._taken

    @contextmanager
    def held(self, behind: bool = False) -> Iterator[None]:
        """Have it within the block. One that stands behind lets all others by, for `PATIENCE` seconds at most."""
        self._take(self._behind if behind else self._waiting)
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._last = self._last if behind else _Wait(self._clock(), threading.get_ident())
                self._changed.notify_all()

    def _take(self, line: deque[_Wait]) -> None:
        with self._changed:
            mine = _Wait(self._clock(), threading.get_ident())
            line.append(mine)
            try:
                while self._taken or self._next() is not mine:
                    self._changed.wait(MOMENT if line is self._behind else None)
                self._taken = True
            finally:  # a signal may end the wait
                line.remove(mine)
                self._changed.notify_all()

    def _next(self) -> _Wait | None:
        """Whose turn it is once the lock is free; None where who can wait lets a moment pass."""
        now = self._clock()
        if self._behind and now - self._behind[0].since >= PATIENCE:
            return self._behind[0]
        if self._waiting:
            return self._waiting[0]
        first = self._behind[0] if self._behind else None
        quiet = first is None or first.thread == self._last.thread or now - self._last.since >= MOMENT
        return first if quiet else None
