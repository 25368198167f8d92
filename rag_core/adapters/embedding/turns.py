"""A lock that is given in the order in which it was asked for.

Python's own goes to whoever is quickest. A thread that indexes lets go of it for a moment between two batches and has it again before a
question that waits is awake: questions waited a minute beside a file of 300 pages.
"""

from __future__ import annotations

import threading
from collections import deque


class InTurn:
    """The lock; for `with`. Not to be taken twice by one thread."""

    def __init__(self) -> None:
        self._guard, self._taken = threading.Lock(), False
        self._waiting: deque[threading.Lock] = deque()

    def locked(self) -> bool:
        """Whether somebody has it."""
        return self._taken

    def __enter__(self) -> None:
        mine = threading.Lock()
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            mine.acquire()
            self._waiting.append(mine)
        try:
            mine.acquire()  # until whoever has the lock hands it on
        except BaseException:  # a signal ended the wait: nobody may hand it to who is gone
            with self._guard:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    raise
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
