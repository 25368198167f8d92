"""Work in a lane that ends with its caller, and server-sent events: a stream that holds one of its caller's places."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import StreamingResponse

from rag_core.domain.ports import Cancel
from rag_core.entrypoints.http.origin import Message, Receive, Send
from rag_core.service.limits import Lane, Places

T = TypeVar("T")
Step = TypeVar("Step")
LOOK_SECONDS = 0.5  # between two looks whether the caller is still there
EVENT = {"type": "object", "properties": {name: {"type": "string"} for name in ("event", "data")}}
# `itemSchema` is of OpenAPI 3.2: of each event; the whole has no type, which generators and testers see differently
TEXT = {"description": "Server-sent events; the data of each is one line of JSON."}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": TEXT, "itemSchema": EVENT}}}
}


class Streamed(StreamingResponse):
    """A stream of events.

    Its place is taken here, where a refusal is still a status, and given back however the stream ends.

    Raises:
        ShareTaken, Overloaded: there is no place.
    """

    def __init__(self, events: AsyncIterator[str], places: Places, caller: str) -> None:
        super().__init__(events, media_type="text/event-stream")
        places.take(caller)
        self._places, self._caller = places, caller

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._places.free(self._caller)


def event(name: str, data: str) -> str:
    """An event; `data` is one line of JSON."""
    return f"event: {name}\ndata: {data}\n\n"


@asynccontextmanager
async def followed(
    request: Request, lane: Lane, work: Callable[[Callable[[Step], None], Cancel], T]
) -> AsyncIterator[tuple[AsyncIterator[Step], asyncio.Future[T]]]:
    """The steps that `work` tells of, and its result, which is there when they end; leaving the block ends the work."""
    steps, loop = asyncio.Queue[Step | None](), asyncio.get_running_loop()

    def tell(step: Step) -> None:  # from the thread that works
        loop.call_soon_threadsafe(steps.put_nowait, step)

    async def told() -> AsyncIterator[Step]:
        while (step := await steps.get()) is not None:
            yield step

    task = asyncio.ensure_future(waited(request, lane, lambda gone: work(tell, gone)))
    task.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        yield told(), task
    finally:
        task.cancel()


async def waited(request: Request, lane: Lane, work: Callable[[Cancel], T]) -> T:
    """The result of `work`, which gets a function that says whether the caller has gone."""
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
