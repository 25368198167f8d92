"""Works on what comes next while something else is done with what came before; what comes of it keeps its order."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

from rag_core.domain.ports import Cancel

MOST = 4  # sources that are read at once: each may hold 64 MiB here, and its child process more
Item = TypeVar("Item")
T = TypeVar("T")


def readers() -> int:
    """How many sources are read at once: as many as there are cores that this process may use, and at most `MOST`."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, allowed)


@contextmanager
def ahead(items: Iterable[Item], work: Callable[[Item, Cancel], T], most: int) -> Iterator[Iterator[tuple[Item, Callable[[], T]]]]:
    """Each item with a function that waits for what comes of it, in order; the next `most` are worked on meanwhile, in threads.

    Args:
        items: what to work on.
        work: gets an item and a function that says whether nobody waits for it any more. What it raises, the waiting function raises.
        most: at least 1.

    Nothing is worked on any more once the block is left.
    """
    left = threading.Event()
    pool = ThreadPoolExecutor(most, thread_name_prefix="reading ahead")

    def begun() -> Iterator[tuple[Item, Callable[[], T]]]:
        waiting: deque[tuple[Item, Future[T]]] = deque()
        for item in items:
            waiting.append((item, pool.submit(copy_context().run, work, item, left.is_set)))
            if len(waiting) > most:
                first, future = waiting.popleft()
                yield first, future.result
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result

    try:
        yield begun()
    finally:
        left.set()
        pool.shutdown(cancel_futures=True)
