"""Server-sent events: a stream that holds one of its caller's places, and how an event is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse

from rag_core.entrypoints.http.origin import Message, Receive, Send
from rag_core.service.queues.places import Places

EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}, "required": ["event", "data"]}
# 200: HTTP's status of success
EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {"schema": EVENT}}}}


class Streamed(StreamingResponse):
    """A stream of events. Its place is taken here, where a refusal is still a status, and given back however the stream ends.

    Raises:
        ShareTaken, Overloaded: there is no place.
    """

    def __init__(self, events: AsyncIterator[str], places: Places, caller: str) -> None:
        super().__init__(events, media_type="text/event-stream")
        places.take(caller)
        self._places, self._caller = places, caller

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._places.free(self._caller)


def event(name: str, data: str) -> str:
    """An event; `data` is one line of JSON."""
    return f"event: {name}\ndata: {data}\n\n"
