"""Collections and documents: list, add, describe, delete, and their pages. A bad one costs others nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.datastructures import UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import Field, Json, ValidationError, WithJsonSchema
from starlette.exceptions import HTTPException

from rag_core.domain.documents import Document
from rag_core.entrypoints.http.guards import PREFIX, Caller, Entered, Limit, Offset, TheService, after
from rag_core.entrypoints.http.question_routes import PNG
from rag_core.library.erasing import Erased
from rag_core.library.indexing.documents import document_json
from rag_core.library.stored.bounds import MAX_FILES, MAX_NAME_CHARS
from rag_core.library.stored.sources import LISTED, Source
from rag_core.service import models, request_models
from rag_core.service.handed_in import HandedIn, facts, files, outcomes, texts
from rag_core.service.principal import Principal, Scope
from rag_core.service.request_models import Chosen, Domain, Facts, IndexIn, Name, Preset, named
from rag_core.service.service import Service
from rag_core.work.jobs import Job

router = APIRouter(prefix=PREFIX, tags=["documents"])
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


WAIT_SECONDS, MAX_WAIT_SECONDS = 60.0, 300.0  # for the documents to be indexed; then the reply names the job
# waited for at least until what was sent is on the library's list: a disk takes a second for the largest request
STORED_SECONDS = 10.0
LOOK_SECONDS = 0.05  # between two looks at a job
MAX_FIELDS, MAX_FIELD_BYTES = 10, 64 << 10  # a form has, beside its files
UNSUPPORTED, ACCEPTED = 415, 202  # HTTP statuses
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/IndexIn"}},
            "multipart/form-data": {"schema": {"$ref": "#/components/schemas/FormIn"}},
        },
    }
}


class FormIn(Chosen):
    """Files to add."""

    files: list[Annotated[UploadFile, WithJsonSchema({"type": "string", "format": "binary"})]] = Field(
        min_length=1, description=f"Each of one of these kinds: {LISTED}"
    )
    collection: Name = named()
    metadata: Json[Facts] = Field(default_factory=dict, description="A JSON object, for all of the files.")
    settings: Json[request_models.IndexSettings] = Field(default_factory=dict, description="A JSON object.")
    # a form has no null: what is left out, or empty, is none
    preset: Preset = ""
    domain: Domain = ""
    password: str = Field(default="", description="Opens encrypted PDFs; used once and kept nowhere.")


@router.post(
    "/rag/index", response_model=models.IndexOut, openapi_extra=BODY, responses={ACCEPTED: {"model": models.IndexOut}}
)
async def index(
    request: Request,
    caller: Caller,
    service: TheService,
    wait: Annotated[
        float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Seconds until the reply comes without the end.")
    ] = WAIT_SECONDS,
) -> JSONResponse:
    """Add documents and wait for them; status 202 and the job where that takes longer."""
    caller.require(Scope.INDEX)  # before a byte of the documents is taken
    with service.uploads.held(caller.id):
        chosen, handed_in = await _sent(request, service)
    found = await indexed(service, caller, chosen, handed_in, wait)
    return JSONResponse(found.model_dump(by_alias=True), 200 if found.finished else ACCEPTED)


async def indexed(
    service: Service, caller: Principal, chosen: IndexIn | FormIn, handed_in: list[HandedIn], wait: float = WAIT_SECONDS
) -> models.IndexOut:
    """The outcome of documents that were handed in, after `wait` seconds at the latest."""
    collection = await service.looks.run(lambda: service.create(caller, chosen.collection))
    sources = [one for one in handed_in if isinstance(one, Source)]

    def begun() -> Job | None:
        return collection.add(sources, chosen.preset or None, chosen.settings, chosen.domain) if sources else None

    started = await service.files.run(begun)
    if started is not None:
        since = asyncio.get_running_loop().time()
        while not (started.finished or service.stopping):
            least = wait if started.stored else max(wait, STORED_SECONDS)
            if asyncio.get_running_loop().time() >= since + least:
                break
            await asyncio.sleep(LOOK_SECONDS)
        if started.error is not None:
            raise started.error

    def told() -> models.IndexOut:
        rows = list(outcomes(handed_in, started.report if started else None))
        ids = {row.id for row in rows if row.state == "indexed"}
        chunks = collection.counts(ids)
        for row in rows:
            row.chunks = chunks.get(row.id, 0)
        return models.IndexOut(
            indexed=len(ids),
            unchanged=len({row.id for row in rows if row.state == "unchanged"}),
            chunks_created=sum(chunks.values()),
            collection=collection.name,
            finished=started is None or started.finished,
            job=started.id if started else "",
            documents=rows,
        )

    return await service.files.run(told)


async def _sent(request: Request, service: Service) -> tuple[IndexIn | FormIn, list[HandedIn]]:
    """How the documents of a request are to be indexed, and the documents; the bytes of files are on disk by then."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if media == "application/json":
            raw = await request.body()
            body = await service.looks.run(lambda: IndexIn.model_validate_json(raw))
            return body, texts(body.documents)
        if media != "multipart/form-data":
            raise HTTPException(UNSUPPORTED)
        async with request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES) as form:
            head = FormIn.model_validate({**form, "files": form.getlist("files")})
            sent = [(one.filename or "file", one.file, one.size or 0) for one in head.files]
            return head, await service.files.run(lambda: files(sent, service.folder, head.metadata, head.password))
    except ValidationError as error:
        raise RequestValidationError(
            error.errors(include_input=False, include_url=False, include_context=False)
        ) from None
