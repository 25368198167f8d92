"""Bounded work beside the event loop: a few threads each for short and for long calls, and a short queue before them.

Streamlit gives the whole process 28 threads of AnyIO's, which pages and uploads need. No call of the service uses those.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from rag_core.service.refusals import Overloaded

T = TypeVar("T")
RETRY_SECONDS = 5  # a question takes less than one; those before it in a full queue take a few


class Lane:
    """`threads` that work, and at most `waiting` calls before them.

    Args:
        name: of its threads.
        threads: calls that are worked on at once.
        waiting: calls that may wait for a thread.
    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self.name = name
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most, self._taken, self._lock = threads + waiting, 0, threading.Lock()
        self._closed = False

    @property
    def most(self) -> int:
        """Calls that it takes at once."""
        return self._most

    @property
    def taken(self) -> int:
        """Calls that are worked on or wait."""
        return self._taken

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, which runs in a thread of this lane.

        Raises:
            Overloaded: the queue is full, or the service stops.
        """
        with self._lock:
            if self._closed:
                raise Overloaded("The service is stopping.", remedy="Call again when it runs again.", retry_after=RETRY_SECONDS)
            if self._taken >= self._most:
                raise Overloaded(
                    "The service has as much work as it takes at once.", remedy=f"Call again in {RETRY_SECONDS} seconds.",
                    retry_after=RETRY_SECONDS,
                )  # fmt: skip
            self._taken += 1
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._free())  # also of one that nobody waits for any more, and never began
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Take no more work. What runs goes to its end; what waits is dropped."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _free(self) -> None:
        with self._lock:
            self._taken -= 1
