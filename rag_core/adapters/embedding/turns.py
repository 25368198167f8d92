"""A lock that is given in the order in which it was asked for, and to who can wait after the others.

Python's own goes to whoever is quickest. A thread that indexes lets go of it for a moment between two batches and has it again before a
question that waits is awake: questions waited a minute beside a file of 300 pages. And where each of a question's few short requests waits
for one long batch, twenty people wait half a minute.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PATIENCE = (
    1.0  # seconds that a long request lets short ones by: a batch of passages takes a tenth of that, so questions lose little; chosen
)


@dataclass(eq=False, slots=True)
class _Wait:
    """One who waits, since when."""

    since: float
    turn: threading.Lock = field(default_factory=threading.Lock)


class InTurn:
    """The lock. `with lock.held():`, and with `behind` for what can wait while others do. Not to be taken twice by one thread.

    Args:
        clock: seconds, from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard, self._taken = threading.Lock(), False
        self._waiting: deque[_Wait] = deque()
        self._behind: deque[_Wait] = deque()

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
            self._hand_on()

    def _take(self, line: deque[_Wait]) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            mine = _Wait(self._clock())
            mine.turn.acquire()
            line.append(mine)
        try:
            mine.turn.acquire()  # until whoever has the lock hands it on
        except BaseException:  # a signal ended the wait: nobody may hand it to who is gone
            with self._guard:
                if mine in line:
                    line.remove(mine)
                    raise
            self._hand_on()
            raise

    def _hand_on(self) -> None:
        with self._guard:
            patient = not self._behind or self._clock() - self._behind[0].since < PATIENCE
            line = self._waiting if self._waiting and patient else self._behind or self._waiting
            if line:
                line.popleft().turn.release()
            else:
                self._taken = False
