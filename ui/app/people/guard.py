"""Decides who may speak to the page: itself, under a name of this machine, and programs.

Pages of other origins are refused.

Where nobody signs in, the page does whatever it is told: then only this machine may connect, whatever address the
server listens on.

Streamlit, which comes after it, checks less: the host of a WebSocket only, and its origin without the port. For a
foreign origin it also asks a service of the internet for this machine's address.
"""

from __future__ import annotations

import streamlit as st

from rag_core.entrypoints.http import origin
from rag_core.entrypoints.http.origin import LOCAL, NO_ACCESS, WRONG_HOST, Asgi, Message, Receive, Send
from ui.app.people import visitor

# what the page itself asks of Streamlit under CORE
OURS = frozenset({"health", "host-config", "stream", "upload_file"})
CORE = "_stcore"
CLOSED = frozenset({"component"})  # Streamlit's components, which the page has none of
LOGIN = frozenset({"auth", "oauth2callback"})  # Streamlit's login; closed where nobody can sign in
NO_PAGE = 404  # HTTP status: not found
FOREIGN = b"Refused: nobody signs in here, so only this machine may connect. docs/operate.md says how others come in."
REFUSED = {
    NO_ACCESS: b"Refused: the request comes from a page of another origin.",
    NO_PAGE: b"Not found.",
    WRONG_HOST: b"Refused: the page is not served under this name. The setting server.allowedHosts lists its names.",
}
POLICY_VIOLATION = 1008  # why a WebSocket is closed, RFC 6455


class OnlyThisPage:
    """Passes on what `refusal` has nothing against; bodies, streams and web sockets pass untouched.

    Args:
        app: that is guarded.
        proxied: whether a proxy lets others in, as whoever runs the page said in words.
    """

    def __init__(self, app: Asgi, *, proxied: bool = False) -> None:
        self._app, self._proxied = app, proxied

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        status, said = None, b""
        if scope["type"] in ("http", "websocket"):
            if not (self._proxied or origin.is_from_here(scope) or visitor.must_sign_in()):
                status, said = NO_ACCESS, FOREIGN
            elif (status := refusal(scope)) is not None:
                said = REFUSED[status]
        if status is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            # before it is accepted: the server answers with 403
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(said)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else said})


def refusal(scope: Message) -> int | None:
    """The status that refuses this connection: 421 for its host, 403 for the page behind it, 404 for its path; None to
    let it pass.
    """
    refused = origin.refusal(scope, st.get_option("server.allowedHosts") or LOCAL)
    return refused or (NO_PAGE if is_closed(scope["path"]) else None)


def is_closed(path: str) -> bool:
    """Whether a path is Streamlit's and not the page's: its metrics, its API for agents, an unused login, whatever it
    may add.
    """
    parts = [part for part in path.split("/") if part]
    after = parts[parts.index(CORE) + 1 :] if CORE in parts else None
    return bool((CLOSED if visitor.can_sign_in() else CLOSED | LOGIN) & set(parts[:1])) or (
        after is not None and (not after or after[0] not in OURS)
    )
