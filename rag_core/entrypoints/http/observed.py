"""Each request as an operator sees it: ids in and out, a line in the access log, figures, and a span."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from prometheus_client import Counter, Histogram, disable_created_metrics
from starlette.routing import Match, Route

from rag_core.decision.summary import SECONDS
from rag_core.entrypoints.http.guards import CHAT_PREFIX, PRINCIPAL
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send, headers
from rag_core.entrypoints.http.problems import METHODS
from rag_core.settings.logs import noted
from rag_core.settings.request_context import REQUEST, RequestContext, received
from rag_core.wiring import Traces

CONTEXT = "plumbline_request"  # in the state of a request
GONE = 499  # the status of a request whose caller left before the response began, as nginx has it
OTHER = "other"  # as a label: a path of no route, or a method of none; whoever calls may not make up new series
# when a series began is of no use, and would be told for each
disable_created_metrics()  # type: ignore[no-untyped-call]
REQUESTS = Counter(
    "plumbline_http_requests", "Requests by route and status.", ["method", "route", "status"], registry=None
)
DURATIONS = Histogram(
    "plumbline_http_request_duration_seconds",
    "Seconds from a request to the end of its response.",
    ["method", "route"],
    buckets=SECONDS,
    registry=None,
)
_log = logging.getLogger(__name__)


class Observed:
    """Passes everything on. `routes` have the whole path of each address; `traces` gets a span of each request."""

    def __init__(self, app: Asgi, routes: Sequence[Route], traces: Traces | None) -> None:
        self._app, self._routes, self._traces = app, routes, traces

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), GONE
        request = received(headers(scope, b"traceparent"), headers(scope, b"x-request-id"))
        request.is_chat = scope["path"].startswith(f"{CHAT_PREFIX}/")
        span = self._traces.begin(request) if self._traces else None
        scope.setdefault("state", {})[CONTEXT] = request
        before = REQUEST.set(request)
        ids = [(b"x-request-id", request.id.encode()), (b"traceparent", request.traceparent.encode())]

        async def with_ids(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *ids]
            await send(message)

        try:
            await self._app(scope, receive, with_ids)
        finally:
            fields = self._seen(scope, request, status, time.perf_counter() - began)
            if self._traces and span:
                self._traces.end(span, fields)
            REQUEST.reset(before)

    def _seen(
        self, scope: Message, request: RequestContext, status: int, seconds: float
    ) -> dict[str, str | int | float]:
        """Count a request and log it; the fields of its line, which its span has too."""
        method = scope["method"] if scope["method"] in METHODS else OTHER
        route = next((one.path for one in self._routes if one.matches(scope)[0] is not Match.NONE), OTHER)
        REQUESTS.labels(method, route, str(status)).inc()
        DURATIONS.labels(method, route).observe(seconds)
        caller = scope["state"].get(PRINCIPAL)
        fields: dict[str, str | int | float] = {
            "method": method,
            "route": route,
            "status": status,
            "duration_ms": round(seconds * 1000, 1),
            "caller": caller.name if caller else "",
            "collection": ",".join(request.collections),
            "decision": request.decision,
        }
        said = " ".join(f"{name}={value}" for name, value in fields.items() if value != "")
        _log.info("request %s", said, extra=noted("request", **fields))
        return fields
