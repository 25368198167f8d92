"""Adds documents: texts as JSON, PDFs and texts as files. One that cannot be read costs the others nothing."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.datastructures import UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Field, Json, ValidationError, WithJsonSchema
from starlette.exceptions import HTTPException

from rag_core.entrypoints.http.caller import Caller, TheService
from rag_core.library.stored.bounds import MAX_FILES
from rag_core.library.stored.sources import LISTED, Source
from rag_core.service.callers.principal import Principal, Scope
from rag_core.service.handed_in import HandedIn, files, outcomes, texts
from rag_core.service.messages import models
from rag_core.service.messages.request_models import Chosen, Domain, Facts, IndexIn, Knobs, Name, named
from rag_core.service.service import Service
from rag_core.work.jobs import Job

router = APIRouter(tags=["documents"])
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
    settings: Json[Knobs] = Field(default_factory=dict, description="A JSON object.")
    domain: Domain | None = None
    password: str | None = Field(default=None, description="Opens encrypted PDFs; used once and kept nowhere.")


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
    """The outcome of documents that were handed in, after `wait` seconds at the latest; nothing is tried where none can
    be.
    """
    collection = await service.looks.run(lambda: service.create(caller, chosen.collection))
    sources = [one for one in handed_in if isinstance(one, Source)]

    def begun() -> Job | None:
        return collection.add(sources, chosen.preset, chosen.settings, chosen.domain) if sources else None

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
            said: dict[str, Any] = {name: value for name, value in form.items() if value != ""}
            head = FormIn.model_validate(said | {"files": form.getlist("files")})
            sent = [(one.filename or "file", one.file, one.size or 0) for one in head.files]
            return head, await service.files.run(lambda: files(sent, service.folder, head.metadata, head.password))
    except ValidationError as error:
        raise RequestValidationError(
            error.errors(include_input=False, include_url=False, include_context=False)
        ) from None
