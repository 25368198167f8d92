"""Hands a PDF to the browser's own viewer, as it was handed in, under an address of the page.

The page's guards stand before it.

It is noted in the audit log before it is sent, as every download is.
"""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rag_core.domain.acts import Action, actor
from rag_core.errors import RagError
from rag_core.library.stored.named import collections
from rag_core.wiring import noting
from rag_core.work import loading
from ui.app import state

PATH = "original"  # none that Streamlit serves begins so
PDF = b"%PDF-"
NONE = Response("There is no such PDF in a collection that is open.", 404)  # HTTP status: not found
HEADERS = {"content-disposition": "inline", "cache-control": "no-store"}  # no name: it may be anything


def address(collection: str, document_id: str, page: int) -> str:
    """The address of a document at a page, counted from 1; relative to that of the Ask page."""
    return f"{PATH}/{quote(collection, safe='')}/{quote(document_id, safe='')}#page={page}"


async def send(request: Request) -> Response:
    """The bytes of a PDF of a collection that is open to whoever asks; 404 for anything else."""
    return await asyncio.to_thread(_read, request.path_params["collection"], request.path_params["document"])


def _read(collection: str, document_id: str) -> Response:
    folder = state.library_folder()
    if collection not in collections(folder) or not actor().may_enter(collection):
        return NONE
    try:
        # it may have been closed in memory since its page was drawn, to make room for others
        data = loading.engine(folder, collection, state.base_settings()).library.source(document_id)
        if not data.startswith(PDF):
            return NONE
        noting(folder, collection)(Action.EXPORT, (document_id,))
    except RagError:
        return NONE
    return Response(data, media_type="application/pdf", headers=HEADERS)


ROUTES = [Route(f"/{PATH}/{{collection}}/{{document}}", send)]
