"""Adds documents: texts as JSON, PDFs and texts as files. One that cannot be read costs the others nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from rag_core.entrypoints.http.caller import Caller, TheService
from rag_core.library.stored.bounds import MAX_FILES
from rag_core.library.stored.sources import Source
from rag_core.service.callers.principal import Scope
from rag_core.service.collection import Collection
from rag_core.service.handed_in import HandedIn, files, outcomes, texts
from rag_core.service.messages import models, request_models
from rag_core.service.service import Service
from rag_core.work.jobs import Job

router = APIRouter()
WAIT_SECONDS, MAX_WAIT_SECONDS = 60.0, 300.0  # for the documents to be indexed; then the reply names the job
# waited for at least until what was sent is on the library's list: a disk takes a second for the largest request
STORED_SECONDS = 10.0
LOOK_SECONDS = 0.05  # between two looks at a job
MAX_FIELDS, MAX_FIELD_BYTES = 10, 64 << 10  # a form has, beside its files
UNSUPPORTED, ACCEPTED = 415, 202  # HTTP statuses
FIELDS: dict[str, dict[str, Any]] = {
    "files": {
        "type": "array",
        "items": {"type": "string", "format": "binary"},
        "description": "PDF, .docx, .html, .txt, .md, .csv, .tsv or .eml",
    },
    "namespace": {"type": "string", "default": "default"},
    "metadata": {"type": "string", "description": "A JSON object, for all of the files."},
    "preset": {"type": "string"},
    "settings": {"type": "string", "description": "A JSON object."},
    "domain": {"type": "string"},
    "password": {"type": "string", "description": "Opens encrypted PDFs; used once and kept nowhere."},
}
FORM = {"type": "object", "properties": FIELDS, "required": ["files"]}
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/IndexIn"}},
            "multipart/form-data": {"schema": FORM},
        },
    }
}
_FACTS = TypeAdapter(request_models.Facts)


class Sent:
    """The documents of a request, and how they are to be indexed."""

    def __init__(self, chosen: request_models.IndexIn, handed_in: list[HandedIn]) -> None:
        self.collection, self.chosen, self.handed_in = chosen.collection, chosen, handed_in

    @property
    def sources(self) -> list[Source]:
        """Those that can be tried."""
        return [one for one in self.handed_in if isinstance(one, Source)]


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
        sent = await _sent(request, service)
    collection = await service.looks.run(lambda: service.create(caller, sent.collection))
    started = await service.files.run(lambda: _begun(collection, sent))
    if started is not None:
        begun = asyncio.get_running_loop().time()
        while not (started.finished or service.stopping):
            least = wait if started.stored else max(wait, STORED_SECONDS)
            if asyncio.get_running_loop().time() >= begun + least:
                break
            await asyncio.sleep(LOOK_SECONDS)
        if started.error is not None:
            raise started.error
    found = await service.files.run(lambda: _told(collection, sent.handed_in, started))
    return JSONResponse(found.model_dump(by_alias=True), 200 if found.finished else ACCEPTED)


def _begun(collection: Collection, sent: Sent) -> Job | None:
    """The job of a request; None where there is nothing to try."""
    chosen = sent.chosen
    return collection.add(sent.sources, chosen.preset, chosen.settings, chosen.domain) if sent.sources else None


def _told(collection: Collection, handed_in: Sequence[HandedIn], started: Job | None) -> models.IndexOut:
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


async def _sent(request: Request, service: Service) -> Sent:
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media == "application/json":
        raw = await request.body()
        try:
            body = await service.looks.run(lambda: request_models.IndexIn.model_validate_json(raw))
        except ValidationError as error:
            raise RequestValidationError(
                error.errors(include_input=False, include_url=False, include_context=False)
            ) from None
        return Sent(body, texts(body.documents))
    if media != "multipart/form-data":
        raise HTTPException(UNSUPPORTED)
    async with request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES) as form:
        return await service.files.run(lambda: _from_form(form, service))


def _from_form(form: FormData, service: Service) -> Sent:
    """The documents of a form; its files' bytes are on disk by then."""
    sent = [
        (one.filename or "file", one.file, one.size or 0)
        for one in form.getlist("files")
        if isinstance(one, UploadFile)
    ]
    wrong = sorted(set(form) - set(FIELDS))
    try:
        fields = {"collection": _field(form, "namespace") or "default", "preset": _field(form, "preset") or None}
        fields["domain"] = _field(form, "domain") or None
        head = request_models.IndexIn.model_validate(
            {"documents": [{"content": "-"}], **fields, "settings": _object(form, "settings")}
        )
        metadata = _FACTS.validate_python(_object(form, "metadata"))
    except ValidationError as error:
        raise RequestValidationError(
            error.errors(include_input=False, include_url=False, include_context=False)
        ) from None
    if wrong or not sent:
        problem = "Unknown field." if wrong else "There is no file in the field `files`."
        raise RequestValidationError(
            [{"type": "value_error", "loc": ("body", wrong[0][:100] if wrong else "files"), "msg": problem}]
        )
    return Sent(head, files(sent, service.folder, metadata, _field(form, "password") or None))


def _field(form: FormData, name: str) -> str:
    found = form.get(name)
    return found if isinstance(found, str) else ""


def _object(form: FormData, name: str) -> Any:
    try:
        return json.loads(_field(form, name) or "{}")
    except (ValueError, RecursionError):
        raise RequestValidationError(
            [{"type": "json_invalid", "loc": ("body", name), "msg": "This is not a JSON object."}]
        ) from None
