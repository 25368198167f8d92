"""Collections and documents: list, add, describe, delete, and their pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response

from rag_core.domain.documents import Document
from rag_core.entrypoints.http.caller import Caller, Entered, Limit, Offset, TheService, after
from rag_core.entrypoints.http.question_routes import PNG
from rag_core.library.erasing import Erased
from rag_core.library.indexing.documents import document_json
from rag_core.library.stored.bounds import MAX_NAME_CHARS
from rag_core.service.handed_in import facts
from rag_core.service.messages import models, request_models

router = APIRouter(tags=["documents"])
Id = Annotated[str, Path(max_length=MAX_NAME_CHARS, description="As the list of documents has it.")]
PageNumber = Annotated[int, Path(ge=1, le=request_models.MAX_PAGE, examples=[1])]


def listed(found: Sequence[Document], limit: int, offset: int) -> dict[str, Any]:
    """Some documents of a list."""
    items = [document_json(one) for one in found[offset : offset + limit]]
    return {"items": items, "total": len(found), "next": after(found, limit, offset)}


@router.get("/collections", response_model=models.Collections)
async def list_collections(caller: Caller, service: TheService) -> dict[str, Any]:
    """List the collections that you may enter."""
    return {"items": list(await service.looks.run(lambda: service.collections(caller)))}


@router.put("/collections/{name}", response_model=models.Collections, status_code=201)
async def create_collection(caller: Caller, service: TheService, name: request_models.Name) -> dict[str, Any]:
    """Make an empty collection; one that is there stays as it is."""
    return {"items": [(await service.looks.run(lambda: service.create(caller, name))).name]}


@router.delete("/collections/{name}", status_code=204)
async def delete_collection(collection: Entered, service: TheService) -> Response:
    """Delete a collection with its documents, kept questions, labels and settings; needs the scope label."""
    await service.files.run(collection.drop)
    return Response(status_code=204)


@router.get("/collections/{name}/documents", response_model=models.Documents)
async def list_documents(
    collection: Entered, service: TheService, limit: Limit = request_models.PAGE_ITEMS, offset: Offset = 0
) -> dict[str, Any]:
    """List documents, in the order in which they were added."""
    return listed(await service.looks.run(collection.documents), limit, offset)


@router.get("/collections/{name}/documents/{id}", response_model=models.Document)
async def show_document(collection: Entered, service: TheService, id: Id) -> dict[str, Any]:
    """Show a document."""
    return document_json(await service.looks.run(lambda: collection.document(id)))


@router.put("/collections/{name}/documents/{id}/metadata", response_model=models.Document)
async def describe_document(
    collection: Entered, service: TheService, id: Id, body: request_models.MetadataIn
) -> dict[str, Any]:
    """Replace a document's metadata."""
    return document_json(await service.files.run(lambda: collection.describe(id, facts(body.metadata))))


@router.delete("/collections/{name}/documents/{id}", status_code=204)
async def delete_document(collection: Entered, service: TheService, id: Id) -> Response:
    """Delete a document with its text, vectors and what a model wrote from it."""
    await service.files.run(lambda: collection.delete(id))
    return Response(status_code=204)


@router.delete("/collections/{name}/documents/{id}/everywhere", response_model=Erased)
async def delete_document_everywhere(collection: Entered, service: TheService, id: Id) -> Erased:
    """Delete a document everywhere, with all kept questions, labels and feedback that speak of it; needs the scope
    label.
    """
    return await service.files.run(lambda: collection.erase(id))


@router.get("/collections/{name}/documents/{id}/pages/{page}", response_model=models.Page)
async def show_page(collection: Entered, service: TheService, id: Id, page: PageNumber) -> dict[str, Any]:
    """Show the raw text of a page."""
    return {"document": id, "page": page, "text": await service.looks.run(lambda: collection.text(id, page))}


@router.get("/collections/{name}/documents/{id}/pages/{page}/image", responses=PNG, response_class=Response)
async def show_page_picture(collection: Entered, service: TheService, id: Id, page: PageNumber) -> Response:
    """Show a page of a PDF as a picture."""
    return Response(await service.questions.run(lambda: collection.picture(id, page)), media_type="image/png")
