"""The guards before the routes: who calls, and how large a body may be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from ipaddress import ip_address, ip_network
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Path, Query, Request

from rag_core.entrypoints.http import problems
from rag_core.entrypoints.http.origin import (
    Asgi,
    Message,
    Receive,
    Send,
    client_of,
    headers,
    is_here,
    network_of,
    refusal,
)
from rag_core.errors import RagError
from rag_core.service import request_models
from rag_core.service.collection import Collection
from rag_core.service.principal import FORBIDDEN, TOO_LARGE, Principal, TooOften, Unauthenticated
from rag_core.service.service import Service
from rag_core.settings.request_context import REQUEST

# where a client of MCP that nobody knows reads who vouches for callers (RFC 9728)
METADATA = "/.well-known/oauth-protected-resource"
OPEN = frozenset({"/healthz", "/readyz", f"{METADATA}/mcp"})  # anybody may ask, who knows a name of the service
PRINCIPAL = "plumbline_principal"  # in the state of a request
# by HTTP status
_WHY = {421: "The service is not served under this name.", 403: "The request comes from a page of another origin."}
PREFIX, CHAT_PREFIX = "/api", "/v1"  # before each path; clients of OpenAI's protocol look under /v1
MAX_HEADER_CHARS = 16 << 10  # an Authorization header: a provider's token with two hundred groups has 10,000


class OnlyFrom:
    """Passes on what comes from one of these addresses or networks, and refuses every other connection."""

    def __init__(self, app: Asgi, places: Sequence[str]) -> None:
        self._app, self._places = app, [ip_network(place) for place in places]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._knows(client_of(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # RFC 6455: against the rules
        else:
            said = problems.body(FORBIDDEN, "Only the proxy may connect.", "Name its address: --proxy-address ADDRESS.")
            await problems.send(send, FORBIDDEN, said)

    def _knows(self, client: str) -> bool:
        return bool(client) and any(ip_address(client) in place for place in self._places)


class Guarded:
    """Passes on requests under a name of ours, from no foreign page, of a known caller who is not too quick."""

    def __init__(self, app: Asgi, service: Service, names: tuple[str, ...]) -> None:
        self._app, self._service, self._names = app, service, names
        known = urlsplit(service.login.resource) if service.login else None
        self._challenge = (
            f'Bearer resource_metadata="{known.scheme}://{known.netloc}{METADATA}{known.path}"' if known else "Bearer"
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection. There are no web sockets here."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # RFC 6455: against the rules
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = refusal(scope, self._names)
        if status is not None:
            await problems.send(send, status, problems.body(status, _WHY[status]))
            return
        if scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        try:
            found = await self._caller(scope)
        except RagError as error:
            await problems.send(send, *problems.of(error), self._challenge)
            return
        scope.setdefault("state", {})[PRINCIPAL] = found
        if request := REQUEST.get():
            request.caller = found.id  # work in lanes is counted for them
        await self._app(scope, receive, send)

    async def _caller(self, scope: Message) -> Principal:
        given, client = headers(scope, b"authorization"), network_of(client_of(scope))
        try:
            found = await self._service.known(_token(given), here=is_here(scope), address=client)
        except RagError as error:
            if not isinstance(error, TooOften):
                self._service.rate.take(f"?{client}")  # so that nobody asks for ever
            raise
        self._service.rate.take(found.id)
        return found


def _token(given: list[str]) -> str | None:
    if not given:
        return None
    scheme, _, token = given[0].partition(" ")
    if len(given) > 1 or len(given[0]) > MAX_HEADER_CHARS or scheme.lower() != "bearer":
        raise Unauthenticated(
            "The Authorization header is not a bearer token.", remedy="Send Authorization: Bearer …, once."
        )
    return token.strip()


async def known(request: Request) -> Principal:
    """The caller of a request that `Guarded` passed on."""
    found = request.scope["state"][PRINCIPAL]
    assert isinstance(found, Principal)
    return found


async def entered(service: TheService, caller: Caller, name: Annotated[str, Path(examples=["default"])]) -> Collection:
    """The collection that the path names, where it is the caller's."""
    return await service.looks.run(lambda: service.enter(caller, name))


async def the_service(request: Request) -> Service:
    """The service."""
    found: Service = request.app.state.service
    return found


def after(found: Sequence[object], limit: int, offset: int) -> int | None:
    """The `offset` of the next page; None where there is none."""
    return offset + limit if offset + limit < len(found) else None


Limit = Annotated[int, Query(ge=1, le=request_models.MAX_PAGE_ITEMS)]
Offset = Annotated[int, Query(ge=0, le=request_models.MAX_PAGE, description="`next` of the page before.")]
Caller = Annotated[Principal, Depends(known)]
Entered = Annotated[Collection, Depends(entered)]
TheService = Annotated[Service, Depends(the_service)]


BAD, TOO_SLOW = 400, 408  # HTTP statuses
PART_SECONDS = 30.0  # for the next part of a body: longer than any link stalls that still works
WHOLE_SECONDS = 60.0  # waited for all parts of a body, and a second more for each `BYTES_PER_SECOND` that came
# a slow line at home sends more; a sender who drips a byte at a time holds no place for long
BYTES_PER_SECOND = 16 << 10
FORGOTTEN_BYTES = 24 << 20  # read after a body was refused as too large, and not kept: as much again


class BodyLimit:
    """Refuses larger bodies: by their stated length before a byte is read, else as soon as they pass the limit."""

    def __init__(self, app: Asgi, limit: Callable[[Message], int]) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, stated = self._limit(scope), headers(scope, b"content-length")
        if len(stated) > 1 or any(not one.isascii() or not one.isdecimal() for one in stated):
            await problems.send(send, BAD, problems.body(BAD, "The length of the body is not a number."))
            return
        if stated and int(stated[0][:20]) > most:
            await _refuse(receive, send, TOO_LARGE, _too_large(most))
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
            await _refuse(reading.left, send, *reading.refused)


async def _refuse(receive: Receive, send: Send, status: int, content: bytes) -> None:
    """Send a problem, then take in what still comes, within bounds: who sends all before reading got a reset else."""
    made, rest = problems.response(status, content), _Reading(receive, FORGOTTEN_BYTES)
    await send({"type": "http.response.start", "status": status, "headers": made.raw_headers})
    await send({"type": "http.response.body", "body": content, "more_body": True})
    while status == TOO_LARGE and (await rest.receive()).get("more_body"):
        pass
    await send({"type": "http.response.body"})


class _Reading:
    """A body on its way; `refused` is the status and body of the problem with it."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left, self._whole, self._most = receive, most, False, most
        self._patience = WHOLE_SECONDS  # what is left of it; our own work between two parts takes nothing away
        self.refused: tuple[int, bytes] | None = None

    async def left(self) -> Message:
        """The next part of what was refused."""
        return {"type": "http.disconnect"} if self._whole else await self._receive()

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
