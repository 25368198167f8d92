"""Bounds the pages that one address holds open on a shared demo: each is a connection, of which the server has a few hundred in all."""

from __future__ import annotations

from collections import Counter

from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send, client_of
from rag_core.service.callers.visits import network_of
from ui.app.people import visitor

MAX_SOCKETS = 100  # web sockets of one address: a class of sixty with some tabs more; a quarter of the connections that `serve` takes
TRY_LATER = 1013  # why a web socket is closed, by the registry of RFC 6455


class Crowds:
    """Passes everything on but the web sockets of an address that has as many as it may. It lives in one event loop."""

    def __init__(self, app: Asgi) -> None:
        self._app = app
        self._open = Counter[str]()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "websocket" or visitor.visits() is None:
            await self._app(scope, receive, send)
            return
        address = network_of(client_of(scope))
        if self._open[address] >= MAX_SOCKETS:
            await send({"type": "websocket.close", "code": TRY_LATER})  # before it is accepted: the server answers with 403
            return
        self._open[address] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[address] -= 1
            self._open = +self._open  # whoever holds none is forgotten
