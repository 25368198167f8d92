"""Bounded work beside the event loop: a few threads each for short and for long calls, and a short queue before them.

One caller has two thirds of a lane at most, so that a burst of theirs leaves room for others.

Streamlit gives the whole process 28 threads of AnyIO's, which pages and uploads need. No call of the service uses
those.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from rag_core.service.callers.refusals import Stopping
from rag_core.service.queues.places import CALLER, Places

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
        most = threads + waiting
        self.places = Places(f"{name} calls", most, max(1, most * 2 // 3), RETRY_SECONDS)
        self._closed = False

    @property
    def most(self) -> int:
        """Calls that it takes at once."""
        return self.places.most

    @property
    def taken(self) -> int:
        """Calls that are worked on or wait."""
        return self.places.taken

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, which runs in a thread of this lane.

        Raises:
            ShareTaken: the caller has as many calls in it as one may have.
            Overloaded: the queue is full, or the service stops.
        """
        stopping = Stopping(
            "The service is stopping.", remedy="Call again when it runs again.", retry_after=RETRY_SECONDS
        )
        if self._closed:
            raise stopping
        caller = CALLER.get()
        self.places.take(caller)
        try:
            future = self._pool.submit(work)
        except RuntimeError:  # it was closed meanwhile
            self.places.free(caller)
            raise stopping from None
        # also of one that nobody waits for any more, and never began
        future.add_done_callback(lambda _: self.places.free(caller))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Take no more work. What runs goes to its end; what waits is dropped."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
