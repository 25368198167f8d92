"""Every error as a problem (RFC 9457, `application/problem+json`) with a remedy.

No text of a request comes back but ids and the name of a collection, nor a path of ours.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from rag_core.entrypoints.http.origin import Send
from rag_core.errors import (
    Cancelled,
    Conflict,
    IngestError,
    InvalidInput,
    InvalidSetting,
    LibraryBusy,
    LibraryError,
    LimitExceeded,
    MissingDependency,
    ModelUnavailable,
    NoSuchDocument,
    NotAllowed,
    ProviderUnavailable,
    QuotaExceeded,
    RagError,
    StoreUnavailable,
    WorkersUnavailable,
)
from rag_core.service.principal import BUSY, FORBIDDEN, MISSING, TOO_LARGE, UNAUTHORIZED, UNUSABLE, Refused
from rag_core.settings.request_context import REQUEST, request_ids

MEDIA = "application/problem+json"
FAULT, NOT_BUILT, BAD, NO_METHOD, CONFLICT = 500, 501, 400, 405, 409  # HTTP statuses
METHODS = ("GET", "POST", "PUT", "DELETE")  # that some address has
RETRY_SECONDS = 5  # where another writer holds the library, or a model did not come up
MAX_ERRORS = 20  # fields that are named
_STATUSES: Mapping[int, tuple[type[RagError], ...]] = {
    CONFLICT: (LibraryBusy, QuotaExceeded, Conflict),  # before its own kind
    TOO_LARGE: (LimitExceeded,),
    MISSING: (NoSuchDocument,),  # before its own kind
    UNUSABLE: (IngestError, InvalidInput, InvalidSetting),
    FORBIDDEN: (NotAllowed,),
    BUSY: (ModelUnavailable, Cancelled, StoreUnavailable, WorkersUnavailable, ProviderUnavailable),
    NOT_BUILT: (MissingDependency,),
}
# by HTTP status
REMEDIES: Mapping[int, str] = {
    BAD: "Send what /api/openapi.json describes.",
    FORBIDDEN: "Call it from this machine or with a token, and from no web page of another origin.",
    MISSING: "See /api/openapi.json for the addresses there are.",
    NO_METHOD: "See /api/openapi.json for the methods of this address.",
    408: "Send the whole body at once.",
    TOO_LARGE: "Send less at once.",
    415: "Send application/json, or multipart/form-data to /api/rag/index.",
    421: "Use a name that the service was started with: --allow-host NAME.",
}
_log = logging.getLogger(__name__)


def body(status: int, detail: str, remedy: str = "", kind: str = "", errors: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """A problem as JSON."""
    title = HTTPStatus(status).phrase
    found = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "remedy": remedy or REMEDIES.get(status, "Ask whoever runs the service."),
        "kind": kind or title.replace(" ", ""),
        "errors": list(errors),
        **request_ids(),
    }
    request = REQUEST.get()
    return json.dumps(found | {"error": in_chats(found)} if request and request.is_chat else found).encode()


def in_chats(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem as OpenAI's clients read it, who show its message to people."""
    fields = [f"{one['field']}: {one['problem']}." for one in problem["errors"]]
    message = " ".join((problem["detail"], *fields, problem["remedy"]))
    return {"message": message, "type": problem["kind"], "code": problem["status"]}


def of(error: RagError) -> tuple[int, bytes, int]:
    """Status, body and seconds to wait (0 for none) of an error of ours."""
    if isinstance(error, Refused):
        return error.status, body(error.status, error.problem, error.remedy, error.kind), error.retry_after
    status = next((status for status, kinds in _STATUSES.items() if isinstance(error, kinds)), FAULT)
    problem, remedy = error.problem, error.remedy
    if status == FAULT and isinstance(error, LibraryError):
        _log.error("the library could not be used: %s", error.kind)
        problem, remedy = "The library cannot be used as it is.", "Whoever runs the service sees why in its log."
    wait = RETRY_SECONDS if status == BUSY or isinstance(error, LibraryBusy) else 0
    return status, body(status, problem, remedy, error.kind), wait


def response(status: int, content: bytes, wait: int = 0, challenge: str = "Bearer") -> Response:
    """A problem as a response; `challenge` says how a caller may make themselves known."""
    headers = {"retry-after": str(wait)} if wait else {}
    if status == UNAUTHORIZED:
        headers["www-authenticate"] = challenge
    return Response(content, status, headers, media_type=MEDIA)


async def send(to: Send, status: int, content: bytes, wait: int = 0, challenge: str = "Bearer") -> None:
    """A problem from below the routes."""
    made = response(status, content, wait, challenge)
    await to({"type": "http.response.start", "status": status, "headers": made.raw_headers})
    await to({"type": "http.response.body", "body": content})


def install(app: FastAPI) -> None:
    """Have an app answer every error so."""

    @app.exception_handler(RagError)
    async def ours(_: Request, error: RagError) -> Response:
        return response(*of(error))

    @app.exception_handler(RequestValidationError)
    async def unusable(_: Request, error: RequestValidationError) -> Response:
        rows = error.errors()
        status = BAD if any(row["type"] == "json_invalid" for row in rows) else UNUSABLE
        named = [
            {"field": ".".join(str(part)[:100] for part in row["loc"]), "problem": row["msg"][:300]}
            for row in rows[:MAX_ERRORS]
        ]
        detail = "The body is not JSON." if status == BAD else "A field cannot be used."
        return response(
            status, body(status, detail, "Correct what `errors` names; see /api/openapi.json.", "InvalidRequest", named)
        )

    @app.exception_handler(HTTPException)
    async def usual(request: Request, error: HTTPException) -> Response:
        status = error.status_code
        made = response(status, body(status, HTTPStatus(status).description or str(error.detail)))
        made.headers.update({"allow": _allowed(request)} if status == NO_METHOD else error.headers or {})
        return made

    @app.exception_handler(Exception)
    async def fault(_: Request, error: Exception) -> Response:
        _log.error("a call failed: %s", type(error).__name__)
        return response(FAULT, body(FAULT, "The service has a fault.", "Report it with the log.", "Fault"))


def _allowed(request: Request) -> str:
    """All methods of an address: each of its routes knows its own only."""
    routes, scope = request.app.routes, request.scope
    return ", ".join(
        one for one in METHODS if any(route.matches({**scope, "method": one})[0] is Match.FULL for route in routes)
    )
