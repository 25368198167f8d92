"""Who calls: found before any route, so that none can be reached by nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Path, Query, Request

from rag_core.entrypoints.http import problems
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send, client_of, headers, is_here, refusal
from rag_core.errors import RagError
from rag_core.service.callers.principal import Principal
from rag_core.service.callers.refusals import Unauthenticated
from rag_core.service.collection import Collection
from rag_core.service.messages import request_models
from rag_core.service.queues.places import CALLER
from rag_core.service.service import Service

OPEN = frozenset({"/healthz", "/readyz"})  # paths that anybody may ask, who knows a name of the service
PRINCIPAL = "plumbline_principal"  # in the state of a request
# by HTTP status
_WHY = {421: "The service is not served under this name.", 403: "The request comes from a page of another origin."}
BROWSER = "X-Browser-ID"  # a visit's token
VISITS = "/api/visits"
NEWCOMER = Principal("newcomer", frozenset(), frozenset())  # who begins a visit: nothing else is open to them
MAX_HEADER_CHARS = 500  # an Authorization header: a token of ours has 56


class Guarded:
    """Passes on requests under a name of ours, from no foreign page, of a caller that is known and does not call too
    often.

    Args:
        app: with the routes.
        service: that knows the callers.
        names: that the service may be called by.
    """

    def __init__(self, app: Asgi, service: Service, names: tuple[str, ...]) -> None:
        self._app, self._service, self._names = app, service, names

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection. There are no web sockets here."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # RFC 6455: against the rules
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = refusal(scope, self._names)
        if status is not None:
            await problems.send(send, status, problems.body(status, _WHY[status]))
            return
        if scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        try:
            found = self._caller(scope)
        except RagError as error:
            await problems.send(send, *problems.of(error))
            return
        scope.setdefault("state", {})[PRINCIPAL] = found
        before = CALLER.set(found.id)  # work in lanes is counted for them
        try:
            await self._app(scope, receive, send)
        finally:
            CALLER.reset(before)

    def _caller(self, scope: Message) -> Principal:
        given, client = headers(scope, b"authorization"), client_of(scope)
        visit = headers(scope, BROWSER.lower().encode())
        try:
            if self._service.visits is not None and not given and scope["path"] == VISITS and scope["method"] == "POST":
                self._service.rate.take(f"?{client}")
                return NEWCOMER
            if self._service.visits is not None and visit and not given:
                found = self._service.visitor(visit[0] if len(visit) == 1 else "")
            else:
                found = self._service.principal(_token(given), here=is_here(scope))
        except Unauthenticated:
            self._service.rate.take(f"?{client}")  # so that nobody asks for ever
            raise
        self._service.rate.take(found.id)
        return found


def _token(given: list[str]) -> str | None:
    if not given:
        return None
    scheme, _, token = given[0].partition(" ")
    if len(given) > 1 or len(given[0]) > MAX_HEADER_CHARS or scheme.lower() != "bearer":
        raise Unauthenticated(
            "The Authorization header is not a bearer token.", remedy="Send Authorization: Bearer …, once."
        )
    return token.strip()


async def known(request: Request) -> Principal:
    """The caller of a request that `Guarded` passed on.

    Raises:
        KeyError: it did not; a fault of ours, and nothing is served.
    """
    found = request.scope["state"][PRINCIPAL]
    assert isinstance(found, Principal)
    return found


async def entered(service: TheService, caller: Caller, name: Annotated[str, Path(examples=["default"])]) -> Collection:
    """The collection that the path names, where it is the caller's."""
    return await service.looks.run(lambda: service.enter(caller, name))


async def the_service(request: Request) -> Service:
    """The service."""
    found: Service = request.app.state.service
    return found


def after(found: Sequence[object], limit: int, offset: int) -> int | None:
    """The `offset` of the next page; None where there is none."""
    return offset + limit if offset + limit < len(found) else None


Limit = Annotated[int, Query(ge=1, le=request_models.MAX_PAGE_ITEMS)]
Offset = Annotated[int, Query(ge=0, le=request_models.MAX_PAGE, description="`next` of the page before.")]
Caller = Annotated[Principal, Depends(known)]
Entered = Annotated[Collection, Depends(entered)]
TheService = Annotated[Service, Depends(the_service)]
