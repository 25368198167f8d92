"""Waits for work in a lane without holding the event loop, and stops the work of a caller who has gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request

from rag_core.domain.ports import Cancel
from rag_core.service.queues.lanes import Lane

T = TypeVar("T")
LOOK_SECONDS = 0.5  # between two looks whether the caller is still there


async def waited(request: Request, lane: Lane, work: Callable[[Cancel], T]) -> T:
    """The result of `work`, which gets a function that says whether the caller has gone.

    Raises:
        Overloaded: the lane is full.
    """
    gone = threading.Event()
    task = asyncio.ensure_future(lane.run(lambda: work(gone.is_set)))
    try:
        while True:
            done, _ = await asyncio.wait({task}, timeout=LOOK_SECONDS)
            if done:
                return task.result()
            if await request.is_disconnected():
                gone.set()
    finally:
        gone.set()
        task.cancel()
