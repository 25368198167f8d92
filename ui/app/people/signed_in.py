"""Lets pictures, downloads and uploads through for people who signed in, where people do, and for visitors; what is noted names them.

The page itself is drawn for everybody, and shows a stranger the way to sign in and nothing else (`ui.app.people.sign_in`).
"""

from __future__ import annotations

from starlette.requests import Request

from rag_core.domain.acts import Action, acting
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send
from ui.app import media
from ui.app.people import visitor

MEDIA = "media"
FOLDERS = frozenset({MEDIA, "original"})  # pictures and downloads; a document's PDF
UPLOADS = "upload_file"  # in an address of Streamlit's own; settings and labels are uploaded too
STRANGER = 401  # HTTP status: not authenticated
REFUSED = b"Sign in on the page first, or open it anew: a visit that is over opens nothing."
SECURE = b"; Secure"


class SignedIn:
    """Passes on what the visitor may have; web sockets, and requests for nothing of a library, pass untouched."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not visitor.is_known_by_cookie():
            await self._app(scope, receive, send)
            return

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start" and scope.get("scheme") == "https":
                message["headers"] = [
                    (name, _secure(value) if name.lower() == b"set-cookie" else value) for name, value in message["headers"]
                ]
            await send(message)

        parts = [part for part in scope["path"].split("/") if part]
        if not (FOLDERS & set(parts[:1])) and UPLOADS not in parts:
            await self._app(scope, receive, secured)
            return
        who = visitor.of_request(Request(scope).cookies)
        if not who.may_somewhere(Action.ASK) or (parts[0] == MEDIA and not media.is_theirs(parts[-1], who)):
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(REFUSED)).encode())]
            await send({"type": "http.response.start", "status": STRANGER, "headers": headers})
            await send({"type": "http.response.body", "body": REFUSED})
            return
        with acting(who):
            await self._app(scope, receive, secured)


def _secure(cookie: bytes) -> bytes:
    """A cookie that browsers send over TLS only."""
    return cookie if SECURE.lower() in cookie.lower() else cookie + SECURE
