"""Limits on what a request may send: its size, and how long the service waits for the next part of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rag_core.entrypoints.http import problems
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send, headers
from rag_core.service.refusals import TOO_LARGE

BAD, TOO_SLOW = 400, 408  # HTTP statuses
PART_SECONDS = 30.0  # for the next part of a body: longer than any link stalls that still works


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
        self.refused: tuple[int, bytes] | None = None

    async def receive(self) -> Message:
        """The next part; after one that is refused, as if the sender had gone."""
        if self.refused is not None:
            return {"type": "http.disconnect"}
        if self._whole:  # what comes now is the end of the connection, whenever that is
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), PART_SECONDS)
        except TimeoutError:
            self.refused = TOO_SLOW, problems.body(TOO_SLOW, f"Nothing came for {PART_SECONDS:.0f} seconds.")
            return {"type": "http.disconnect"}
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._left < 0:
                self.refused = TOO_LARGE, _too_large(self._most)
                return {"type": "http.disconnect"}
        return message


def _too_large(most: int) -> bytes:
    return problems.body(TOO_LARGE, f"The body has more than {most:,} bytes.")
