"""Visits of a shared demo: a visitor without a token gets a collection of their own, and ends the visit."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response

from rag_core.entrypoints.http.caller import BROWSER, TheService
from rag_core.entrypoints.http.origin import client_of
from rag_core.service.callers.visits import MAX_TOKEN_CHARS
from rag_core.service.messages.models import VisitOut

router = APIRouter(tags=["visits"])


@router.post("/visits", response_model=VisitOut, status_code=201)
async def begin_visit(request: Request, service: TheService) -> dict[str, Any]:
    """Begin a visit, where the service takes visitors.

    Its id is told this once: send it as X-Browser-ID with every call.
    """
    visit, token, minutes = await service.looks.run(lambda: service.begin_visit(client_of(request.scope)))
    return {"id": token, "namespace": visit.collection, "ends_after_minutes": minutes}


@router.delete("/visits", status_code=204)
async def end_visit(
    service: TheService,
    id: Annotated[str, Header(alias=BROWSER, max_length=MAX_TOKEN_CHARS, description="The visit's id.")],
) -> Response:
    """End your visit now: your collection is deleted with everything in it."""
    await service.files.run(lambda: service.end_visit(id))
    return Response(status_code=204)
