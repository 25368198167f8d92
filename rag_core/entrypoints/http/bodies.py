"""Limits on what a request may send: its size, and how long the service waits for the next part of it, and for all
parts together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rag_core.entrypoints.http import problems
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send, headers
from rag_core.service.callers.refusals import TOO_LARGE

BAD, TOO_SLOW = 400, 408  # HTTP statuses
PART_SECONDS = 30.0  # for the next part of a body: longer than any link stalls that still works
WHOLE_SECONDS = 60.0  # waited for all parts of a body, and a second more for each `BYTES_PER_SECOND` that came
# a slow line at home sends more; a sender who drips a byte at a time holds no place for long
BYTES_PER_SECOND = 16 << 10


class BodyLimit:
    """Refuses larger bodies: by their stated length before a byte is read, else as soon as they pass the limit.

    Args:
        app: that reads the bodies.
        limit: bytes that the body of a request may have.
    """

    def __init__(self, app: Asgi, limit: Callable[[Message], int]) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, stated = self._limit(scope), headers(scope, b"content-length")
        if len(stated) > 1 or any(not one.isascii() or not one.isdecimal() for one in stated):
            await problems.send(send, BAD, problems.body(BAD, "The length of the body is not a number."))
            return
        if stated and int(stated[0][:20]) > most:
            await problems.send(send, TOO_LARGE, _too_large(most))
            return
        reading = _Reading(receive, most)
        started = False

        async def unless_refused(message: Message) -> None:
            nonlocal started
            if reading.refused is None:
                started = started or message["type"] == "http.response.start"
                await send(message)

        try:
            await self._app(scope, reading.receive, unless_refused)
        except Exception:
            if reading.refused is None:
                raise
        if reading.refused is not None and not started:
            await problems.send(send, *reading.refused)


class _Reading:
    """A body on its way; `refused` is the status and body of the problem with it."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left, self._whole, self._most = receive, most, False, most
        self._patience = WHOLE_SECONDS  # what is left of it; our own work between two parts takes nothing away
        self.refused: tuple[int, bytes] | None = None

    async def receive(self) -> Message:
        """The next part; after one that is refused, as if the sender had gone."""
        if self.refused is not None:
            return {"type": "http.disconnect"}
        if self._whole:  # what comes now is the end of the connection, whenever that is
            return await self._receive()
        clock, limit = asyncio.get_running_loop().time, min(PART_SECONDS, self._patience)
        since = clock()
        try:
            message = await asyncio.wait_for(self._receive(), limit)
        except TimeoutError:
            slow = (
                f"Nothing came for {PART_SECONDS:.0f} seconds."
                if limit == PART_SECONDS
                else "The body comes too slowly."
            )
            self.refused = TOO_SLOW, problems.body(TOO_SLOW, slow)
            return {"type": "http.disconnect"}
        if message["type"] == "http.request":
            self._patience += len(message.get("body", b"")) / BYTES_PER_SECOND - (clock() - since)
            self._left -= len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._left < 0:
                self.refused = TOO_LARGE, _too_large(self._most)
                return {"type": "http.disconnect"}
        return message


def _too_large(most: int) -> bytes:
    return problems.body(TOO_LARGE, f"The body has more than {most:,} bytes.")
