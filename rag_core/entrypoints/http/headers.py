"""Headers by which a browser refuses anything that does not come from here, on every response."""

from __future__ import annotations

from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send

# 'unsafe-inline' and 'unsafe-eval' are what Streamlit's own scripts and its charts need; nothing may be loaded from or
# sent to elsewhere
PAGE_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
API_POLICY = "default-src 'none'; frame-ancestors 'none'"  # what the API sends is data: nothing in it is loaded or run


class SecurityHeaders:
    """Adds the headers to every HTTP response; web sockets pass untouched.

    Args:
        app: that responds.
        policy: its content security policy.
        kept: whether a browser may keep the response.
    """

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
        """Handle one connection."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
