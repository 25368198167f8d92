"""Whether a connection comes under a name of ours and from no page of another origin, and the headers of a response."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

LOCAL = ("127.0.0.1", "localhost", "::1")
NO_ACCESS, WRONG_HOST = 403, 421  # HTTP statuses: forbidden, misdirected request
# as proxies send them
_FORWARDED = {b"forwarded", b"via", b"x-real-ip", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto"}
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE | re.ASCII)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/]+)", re.IGNORECASE | re.ASCII)
_SECURE = {"http": "http", "ws": "http", "https": "https", "wss": "https"}
_PORTS = {"http": 80, "https": 443}  # where an address names none
_IPV6_BITS = 64  # the part of an address that is the network that a customer gets at least (RFC 6177)


def refusal(scope: Message, names: Sequence[str]) -> int | None:
    """The status that refuses a connection: 421 for a host that is none of `names`, 403 for a foreign page, or None."""
    hosts, origins = headers(scope, b"host"), headers(scope, b"origin")
    scheme = _SECURE.get(scope.get("scheme", "http"), "http")
    if len(hosts) != 1 or not is_allowed(hosts[0], names):
        return WRONG_HOST
    if origins and [place(origin) for origin in origins] != [place(f"{scheme}://{hosts[0]}")]:
        return NO_ACCESS
    if not origins and _is_foreign(scope):
        return NO_ACCESS
    return None


def is_here(scope: Message) -> bool:
    """Whether a connection comes from this machine under one of its own names, and from no proxy."""
    hosts = headers(scope, b"host")
    return len(hosts) == 1 and is_allowed(hosts[0], LOCAL) and is_from_here(scope)


def is_from_here(scope: Message) -> bool:
    """Whether a connection comes from this machine and from no proxy. A Host header proves nothing."""
    client = scope.get("client")
    return (
        client is not None
        and is_loopback(client[0])
        and not _FORWARDED & {name.lower() for name, _ in scope["headers"]}
    )


def client_of(scope: Message) -> str:
    """The address that a connection comes from, or "" where the server names none."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def network_of(address: str) -> str:
    """The address, or the network that one IPv6 customer has: they choose the rest as they like."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, _IPV6_BITS), strict=False))


def is_loopback(address: str) -> bool:
    """Whether an address, or `localhost`, is this machine's alone."""
    try:
        found = "127.0.0.1" if address == "localhost" else address
        place = ipaddress.ip_address(found)
        # ::ffff:127.0.0.1, where one socket takes both versions
        return (getattr(place, "ipv4_mapped", None) or place).is_loopback
    except ValueError:
        return False


def is_allowed(host: str, names: Sequence[str]) -> bool:
    """Whether a Host header names one of these; `*.name` stands for every name below it, `*` for all."""
    found = place(f"http://{host}")
    if found is None:
        return False
    allowed = [name.strip().lower().rstrip(".") for name in names]
    return any(name in ("*", found[1]) or (name.startswith("*.") and found[1].endswith(name[1:])) for name in allowed)


def place(origin: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin; None where it is none, such as the `null` of a sandbox."""
    parts = _ORIGIN.fullmatch(origin)
    host = parts and _HOST.fullmatch(parts["host"])
    if not parts or not host:
        return None
    scheme = parts["scheme"].lower()
    return scheme, host["name"].lower().strip("[]").rstrip("."), int(host["port"] or _PORTS[scheme])


def headers(scope: Message, name: bytes) -> list[str]:
    """The values of a header, by its name in lower case."""
    return [value.decode("latin-1").strip() for key, value in scope["headers"] if key == name]


def _is_foreign(scope: Message) -> bool:
    """Whether a browser says that another site, or another port, had it sent. A link to the page may be followed."""
    site, mode, kind = (headers(scope, name) for name in (b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest"))
    if not set(site) & {"cross-site", "same-site"}:
        return False
    follows_a_link = (
        scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and mode == ["navigate"] and kind == ["document"]
    )
    return not follows_a_link


# 'unsafe-inline' and 'unsafe-eval' are what Streamlit's own scripts and its charts need; nothing may be loaded from or
# sent to elsewhere
PAGE_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
API_POLICY = "default-src 'none'; frame-ancestors 'none'"  # what the API sends is data: nothing in it is loaded or run


class SecurityHeaders:
    """Adds the headers to every HTTP response; `kept` says whether a browser may keep it. Web sockets pass."""

    def __init__(self, app: Asgi, policy: str = PAGE_POLICY, *, kept: bool = True) -> None:
        self._app = app
        self._headers = (
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"no-referrer"),
            # a page that opens this one in a window cannot send it messages
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            *(() if kept else ((b"cache-control", b"no-store"),)),
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
