"""Decides who may speak to the page: itself, under a name of this machine, and programs. Pages of other origins are refused.

Streamlit, which comes after it, checks less: the host of a WebSocket only, and its origin without the port. For a foreign origin it also
asks a service of the internet for this machine's address.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

import streamlit as st

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

LOCAL = ("127.0.0.1", "localhost", "::1")
OURS = frozenset({"health", "host-config", "stream", "upload_file"})  # what the page itself asks of Streamlit under CORE
CORE = "_stcore"
CLOSED = frozenset({"auth", "oauth2callback", "component"})  # Streamlit's login and components, which the page has none of
NO_ACCESS, NO_PAGE, WRONG_HOST = 403, 404, 421  # HTTP statuses: forbidden, not found, misdirected request
REFUSED = {
    NO_ACCESS: b"Refused: the request comes from a page of another origin.",
    NO_PAGE: b"Not found.",
    WRONG_HOST: b"Refused: the page is not served under this name. The setting server.allowedHosts lists its names.",
}
POLICY_VIOLATION = 1008  # why a WebSocket is closed, RFC 6455
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE | re.ASCII)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/]+)", re.IGNORECASE | re.ASCII)
_SECURE = {"http": "http", "ws": "http", "https": "https", "wss": "https"}
_PORTS = {"http": 80, "https": 443}  # where an address names none


class OnlyThisPage:
    """Passes on what `refusal` has nothing against; bodies, streams and web sockets pass untouched."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        status = refusal(scope) if scope["type"] in ("http", "websocket") else None
        if status is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})  # before it is accepted: the server answers with 403
        else:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(REFUSED[status])).encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else REFUSED[status]})


def refusal(scope: Message) -> int | None:
    """The status that refuses this connection: 421 for its host, 403 for the page behind it, 404 for its path; None to let it pass."""
    hosts, origins = _all(scope, b"host"), _all(scope, b"origin")
    scheme = _SECURE.get(scope.get("scheme", "http"), "http")
    if len(hosts) != 1 or not is_allowed(hosts[0], st.get_option("server.allowedHosts") or LOCAL):
        return WRONG_HOST
    if origins and [place(origin) for origin in origins] != [place(f"{scheme}://{hosts[0]}")]:
        return NO_ACCESS
    if not origins and _is_foreign(scope):
        return NO_ACCESS
    return NO_PAGE if is_closed(scope["path"]) else None


def is_allowed(host: str, names: Sequence[str]) -> bool:
    """Whether a Host header names one of these; `*.name` stands for every name below it, `*` for all."""
    found = place(f"http://{host}")
    if found is None:
        return False
    allowed = [name.strip().lower().rstrip(".") for name in names]
    return any(name in ("*", found[1]) or (name.startswith("*.") and found[1].endswith(name[1:])) for name in allowed)


def place(origin: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin, all that tells two origins apart; None where it is none, such as the `null` of a sandbox."""
    parts = _ORIGIN.fullmatch(origin)
    host = parts and _HOST.fullmatch(parts["host"])
    if not parts or not host:
        return None
    scheme = parts["scheme"].lower()
    return scheme, host["name"].lower().strip("[]").rstrip("."), int(host["port"] or _PORTS[scheme])


def is_closed(path: str) -> bool:
    """Whether a path is Streamlit's and not the page's: its metrics, its API for agents, its login and whatever it may add."""
    parts = [part for part in path.split("/") if part]
    after = parts[parts.index(CORE) + 1 :] if CORE in parts else None
    return bool(CLOSED & set(parts[:1])) or (after is not None and (not after or after[0] not in OURS))


def _is_foreign(scope: Message) -> bool:
    """Whether a browser says that another site, or another port of this machine, had it sent. A link to the page may be followed."""
    site, mode, kind = (_all(scope, name) for name in (b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest"))
    if not set(site) & {"cross-site", "same-site"}:
        return False
    follows_a_link = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and mode == ["navigate"] and kind == ["document"]
    return not follows_a_link


def _all(scope: Message, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in scope["headers"] if key == name]
