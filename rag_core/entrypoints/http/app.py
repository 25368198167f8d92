"""The API as an ASGI app: routes, and before them sizes, callers and headers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from pydantic.json_schema import models_json_schema
from starlette.routing import BaseRoute, Route

from rag_core import __version__
from rag_core.entrypoints.http import document_routes, job_routes, problems, question_routes
from rag_core.entrypoints.http.crowds import Crowds
from rag_core.entrypoints.http.document_routes import FormIn
from rag_core.entrypoints.http.guards import PREFIX, BodyLimit, Guarded, TheService
from rag_core.entrypoints.http.metrics import metrics
from rag_core.entrypoints.http.observed import Observed
from rag_core.entrypoints.http.origin import API_POLICY, Asgi, Message, Receive, SecurityHeaders, Send, headers
from rag_core.library.stored.bounds import MAX_BYTES
from rag_core.service import models, request_models
from rag_core.service.principal import BUSY
from rag_core.service.service import Service
from rag_core.wiring import traces

# first parts of paths that are never the page's
API_PATHS = frozenset({"api", "mcp", "v1", "docs", "redoc", "openapi.json", ".well-known"})
MAX_BODY_BYTES = 24 << 20  # 24 MiB: 200 passages of 100,000 characters, which is the largest call without files
MAX_FORM_BYTES = MAX_BYTES + (1 << 20)  # the files that the page takes at once, and a form around them
ABOUT = (
    "Answers from documents with page-accurate citations, or a truthful refusal. Every "
    "error is a problem (RFC 9457) with a remedy."
)
PARTS = "#/components/schemas/{model}"
PROBLEM = {"description": "A problem", "content": {problems.MEDIA: {"schema": {"$ref": PARTS.format(model="Problem")}}}}

ROUTERS = question_routes.router, document_routes.router, job_routes.router, question_routes.chat

Parts = Callable[[], AbstractAsyncContextManager[None]]


def api(service: Service, routes: list[BaseRoute] | None = None) -> FastAPI:
    """The routes, with `routes` of MCP beside them; unguarded, see `guarded`."""
    app = FastAPI(
        title="Plumbline",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        dependencies=[Depends(HTTPBearer(auto_error=False))],  # describes it; `Guarded` has looked at it by then
        responses={"4XX": PROBLEM, "5XX": PROBLEM},
    )
    app.state.service = service
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router)
    app.add_api_route("/healthz", healthz, include_in_schema=False)
    app.add_api_route("/readyz", readyz, include_in_schema=False)
    app.add_api_route("/metrics", metrics, include_in_schema=False)
    app.router.routes.extend(routes or [])
    _describe(app)
    return app


async def healthz() -> dict[str, str]:
    """Say that the process is there."""
    return {"status": "ok"}


async def readyz(service: TheService) -> Response:
    """Say whether questions can be answered; why not, in the kind of the problem alone."""
    problem = service.problem()
    if problem is None:
        return JSONResponse({"status": "ready"})
    return JSONResponse({"status": "not ready", "why": problem.kind}, BUSY, {"retry-after": "5"})


def guarded(app: FastAPI, names: tuple[str, ...], service: Service) -> Asgi:
    """The app behind its guards, outermost first: headers, addresses, names and callers, sizes.

    Raises:
        InvalidSetting, MissingDependency: the environment asks for traces that cannot be sent.
    """
    routes = [route for routed in (*ROUTERS, app) for route in routed.routes if isinstance(route, Route)]
    seen = Observed(Crowds(Guarded(BodyLimit(app, _limit), service, names)), routes, traces())
    return SecurityHeaders(seen, API_POLICY, kept=False)


class Front:
    """Gives each request to the API or to the page; `running` begins and ends with the server where no page does it."""

    def __init__(self, api: Asgi, page: Asgi | None, running: Parts) -> None:
        self._api, self._page, self._running = api, page, running
        self.has_page = page is not None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await (self._page(scope, receive, send) if self._page else self._live(receive, send))
        elif self._page is None or is_ours(scope["path"]):
            await self._api(scope, receive, send)
        else:
            await self._page(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._running():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def is_ours(path: str) -> bool:
    """Whether a path is the API's, MCP's or about the service's health; all others are the page's."""
    return path in ("/healthz", "/readyz", "/metrics") or not API_PATHS.isdisjoint(path.split("/")[1:2])


@asynccontextmanager
async def served(service: Service, beside: AbstractAsyncContextManager[None]) -> AsyncIterator[None]:
    """Begins to load the models and `beside`, and at the end waits for what runs."""
    loop = asyncio.get_running_loop()
    service.problem()  # starts the loading
    await loop.run_in_executor(None, service.take_up)
    try:
        async with beside:
            yield
    finally:
        await loop.run_in_executor(None, service.close)


def _limit(scope: Message) -> int:
    """Only a form's files go to disk; every other body is held in memory."""
    form = any(value.lower().startswith("multipart/form-data") for value in headers(scope, b"content-type"))
    return MAX_FORM_BYTES if form and scope["path"] == f"{PREFIX}/rag/index" else MAX_BODY_BYTES


def _describe(app: FastAPI) -> None:
    """Name what no route has as its model: problems, and the bodies of `index`, which its route reads by itself."""
    made: Callable[[], dict[str, Any]] = app.openapi

    def described() -> dict[str, Any]:
        schema = made()
        own = models_json_schema(
            [(models.Problem, "serialization"), (request_models.IndexIn, "validation"), (FormIn, "serialization")],
            ref_template=PARTS,
        )
        schema["components"]["schemas"] |= own[1]["$defs"]
        return schema

    app.openapi = described  # type: ignore[method-assign]
