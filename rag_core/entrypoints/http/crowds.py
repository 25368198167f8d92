"""How many connections one address may hold, and all of them: those that wait, those with a call, open pages.

The page imports this with its start, and nothing else of the service.
"""

from __future__ import annotations

from asyncio import Transport
from collections import Counter

from uvicorn.protocols.http.h11_impl import H11Protocol

from rag_core.entrypoints.http import problems
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send, client_of, network_of
from rag_core.errors import RagError
from rag_core.service.limits import RETRY_SECONDS, Places

# connections without a request; a proxy keeps some dozens, and twice serve.BACKLOG may come before any is read
MAX_WAITING = 256
# pages of one address: a class of sixty with some tabs more; calls: what their browsers load together
MAX_SOCKETS, SOCKETS_EACH = 250, 100
MAX_CALLS, CALLS_EACH = 250, 150
TRY_LATER = 1013  # why a web socket is closed, by the registry of RFC 6455


class Patient(H11Protocol):
    """A connection that is closed unless its next request is whole after `timeout_keep_alive` seconds.

    Where more than `MAX_WAITING` have no request, the oldest gives way, of the address that has most of them.
    """

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Handle a new connection."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
        waiting = [
            (network_of(one.client[0]) if one.client else "", one.timeout_keep_alive_task.when(), one)
            for one in self.connections
            if isinstance(one, Patient) and one.timeout_keep_alive_task and not one.transport.is_closing()
        ]
        if len(waiting) > MAX_WAITING:
            most = Counter(address for address, _, _ in waiting)
            max(waiting, key=lambda one: (most[one[0]], -one[1]))[2].timeout_keep_alive_handler()

    def data_received(self, data: bytes) -> None:
        """Handle bytes as uvicorn does, whose clock each byte would stop; here only a whole head does."""
        self.conn.receive_data(data)
        self.handle_events()


class Crowds:
    """Passes everything on but what an address opens beyond its share of calls and web sockets."""

    def __init__(self, app: Asgi) -> None:
        self._app = app
        self._places = {
            "http": Places("calls", MAX_CALLS, CALLS_EACH, RETRY_SECONDS),
            "websocket": Places("open pages", MAX_SOCKETS, SOCKETS_EACH, RETRY_SECONDS),
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        places, address = self._places.get(scope["type"]), network_of(client_of(scope))
        if places is None:
            await self._app(scope, receive, send)
            return
        try:
            places.take(address)
        except RagError as error:
            if scope["type"] == "http":
                await problems.send(send, *problems.of(error))
            else:
                # before it is accepted: the server answers with 403
                await send({"type": "websocket.close", "code": TRY_LATER})
            return
        try:
            await self._app(scope, receive, send)
        finally:
            places.free(address)
