"""The guards before the page: who may speak to it, and who gets what of a library.

Pages of other origins are refused. Where nobody signs in, the page does whatever it is told: then only this machine may
connect, whatever address the server listens on.

Streamlit, which comes after it, checks less: the host of a WebSocket only, and its origin without the port. For a
foreign origin it also asks a service of the internet for this machine's address.
"""

from __future__ import annotations

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from rag_core.domain.acts import Action, acting
from rag_core.entrypoints.http import origin
from rag_core.entrypoints.http.origin import WRONG_HOST, Asgi, Message, Receive, Send
from ui.app import downloads
from ui.app.people import visitor

# what the page itself asks of Streamlit under CORE
OURS = frozenset({"health", "host-config", "stream", "upload_file"})
CORE = "_stcore"
CLOSED = frozenset({"component"})  # Streamlit's components, which the page has none of
LOGIN = frozenset({"auth", "oauth2callback"})  # Streamlit's login; closed where nobody can sign in
STRANGER, NO_PAGE = 401, 404  # HTTP statuses
FOREIGN = "Refused: nobody signs in here, so only this machine may connect. docs/operate.md says how others come in."
REFUSED = {
    origin.NO_ACCESS: "Refused: the request comes from a page of another origin.",
    NO_PAGE: "Not found.",
    WRONG_HOST: "Refused: the page is not served under this name. The setting server.allowedHosts lists its names.",
    STRANGER: "Sign in on the page first.",
}
POLICY_VIOLATION = 1008  # why a WebSocket is closed, RFC 6455
MEDIA = "media"  # where Streamlit serves downloads
FOLDERS = frozenset({MEDIA, "original"})  # and a document's PDF
UPLOADS = "upload_file"  # in an address of Streamlit's own; settings and labels are uploaded too
SECURE = b"; Secure"


class Layer:
    """A layer around an app."""

    def __init__(self, app: Asgi) -> None:
        self._app = app


async def _refuse(scope: Message, receive: Receive, send: Send, status: int, said: str = "") -> None:
    response = PlainTextResponse(said or REFUSED[status], status)
    if scope["method"] == "HEAD":
        response.body = b""
    await response(scope, receive, send)


class OnlyThisPage(Layer):
    """Passes on what `refusal` has nothing against; bodies, streams and web sockets pass untouched.

    Args:
        app: that is guarded.
        proxied: whether a proxy lets others in, as whoever runs the page said in words.
    """

    def __init__(self, app: Asgi, *, proxied: bool = False) -> None:
        super().__init__(app)
        self._proxied = proxied

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        status, said = None, ""
        if scope["type"] in ("http", "websocket"):
            if not (self._proxied or origin.is_from_here(scope) or visitor.must_sign_in()):
                status, said = origin.NO_ACCESS, FOREIGN
            else:
                status = refusal(scope)
        if status is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            # before it is accepted: the server answers with 403
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await _refuse(scope, receive, send, status, said)


def refusal(scope: Message) -> int | None:
    """The status that refuses a connection: 421 for its host, 403 for the page behind it, 404 for its path; or None."""
    refused = origin.refusal(scope, st.get_option("server.allowedHosts") or origin.LOCAL)
    return refused or (NO_PAGE if is_closed(scope["path"]) else None)


def is_closed(path: str) -> bool:
    """Whether a path is Streamlit's and not the page's: metrics, its API for agents, an unused login."""
    parts = [part for part in path.split("/") if part]
    after = parts[parts.index(CORE) + 1 :] if CORE in parts else None
    return bool((CLOSED if visitor.can_sign_in() else CLOSED | LOGIN) & set(parts[:1])) or (
        after is not None and (not after or after[0] not in OURS)
    )


class SignedIn(Layer):
    """Passes on what the visitor may have; web sockets, and requests for nothing of a library, pass untouched."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not visitor.must_sign_in():
            await self._app(scope, receive, send)
            return

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start" and scope.get("scheme") == "https":
                message["headers"] = [
                    (name, _secure(value) if name.lower() == b"set-cookie" else value)
                    for name, value in message["headers"]
                ]
            await send(message)

        parts = [part for part in scope["path"].split("/") if part]
        if not (FOLDERS & set(parts[:1])) and UPLOADS not in parts:
            await self._app(scope, receive, secured)
            return
        who = visitor.of_request(Request(scope).cookies)
        if not who.may_somewhere(Action.ASK) or (parts[0] == MEDIA and not downloads.is_theirs(parts[-1], who)):
            await _refuse(scope, receive, send, STRANGER)
            return
        with acting(who):
            await self._app(scope, receive, secured)


def _secure(cookie: bytes) -> bytes:
    """A cookie that browsers send over TLS only."""
    return cookie if SECURE.lower() in cookie.lower() else cookie + SECURE
