"""Labelled runs: begun and resumed as jobs, their reports, certificates that are made from them, and what can be taken away as a file."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, Response

from rag_core.entrypoints.http.caller import Entered, Key, Limit, Offset, TheService, after, once_started
from rag_core.entrypoints.http.job_routes import told
from rag_core.evaluation.certify import Certificate
from rag_core.service.messages import models, request_models, run_models
from rag_core.service.queues.jobs import Started
from rag_core.service.runs import lacking
from rag_core.service.runs import told as run_told

router = APIRouter()
RunNumber = Annotated[int, Path(ge=1, le=2**53)]  # 2**53: the largest whole number that every JSON reader has
JSON_LINES = "application/x-ndjson"
# by HTTP status
FILE: dict[int | str, dict[str, Any]] = {200: {"content": {JSON_LINES: {"schema": {"type": "string"}}}, "description": "JSON lines"}}


@router.post("/collections/{name}/runs", response_model=models.Job, status_code=202)
async def run(collection: Entered, service: TheService, body: request_models.RunIn, key: Key = None) -> models.Job:
    """Measure labelled questions as a job; needs the scope label."""

    def begin() -> Started:
        return collection.runs.begin(body.name, body.questions, body.preset, body.settings, body.budget_tokens)

    request = ["run", body.model_dump(mode="json")]
    return told(await service.questions.run(lambda: once_started(service, collection, key, request, begin)))


@router.get("/collections/{name}/runs", response_model=run_models.Runs)
async def runs(
    collection: Entered, service: TheService, limit: Limit = request_models.MAX_PAGE_ITEMS, offset: Offset = 0
) -> dict[str, Any]:
    """List the labelled runs, newest first; needs the scope label."""
    found = await service.looks.run(collection.runs.all)
    return {"items": [run_told(one) for one in found[offset : offset + limit]], "next": after(found, limit, offset)}


@router.get("/collections/{name}/runs/{number}", response_model=dict[str, Any])
async def report(collection: Entered, service: TheService, number: RunNumber) -> Response:
    """Show the figures of a labelled run, as far as it is: rates with exact intervals."""
    found = await service.questions.run(lambda: collection.runs.report(number))
    return Response(json.dumps(found), media_type="application/json")


@router.post("/collections/{name}/runs/{number}/resume", response_model=models.Job, status_code=202)
async def resume(collection: Entered, service: TheService, number: RunNumber, body: run_models.ResumeIn) -> models.Job:
    """Go on with a run that was stopped, as a job; needs the scope label."""
    return told(await service.questions.run(lambda: collection.runs.resume(number, body.budget_tokens)))


@router.get("/collections/{name}/runs/{number}/export", responses=FILE, response_class=Response)
async def exported(
    collection: Entered, service: TheService, number: RunNumber, what: Literal["labels", "failing", "decisions"] = "decisions"
) -> Response:
    """Take a run away as JSON lines: its labels, the questions that ended against them, or all decisions; needs the scope label."""
    return Response(await service.questions.run(lambda: collection.runs.export(number, what)), media_type=JSON_LINES)


@router.post("/collections/{name}/runs/{number}/certificate", response_model=run_models.Certified)
async def certify(collection: Entered, service: TheService, number: RunNumber, body: run_models.CertifyIn) -> Response:
    """Choose a threshold that keeps the targets, with its certificate; or say what is missing. Needs the scope label."""
    wanted = body.wanted()
    found = await service.questions.run(lambda: collection.runs.certify(number, wanted))
    is_found = isinstance(found, Certificate)
    certificate, missing = (found.to_json(), None) if isinstance(found, Certificate) else (None, lacking(found))
    saved = f"saved:{body.save_as}" if is_found and body.save_as else ""
    return JSONResponse({"certified": is_found, "certificate": certificate, "missing": missing, "preset": saved})


@router.get("/collections/{name}/certificates", response_model=run_models.Certificates)
async def certificates(collection: Entered, service: TheService) -> dict[str, Any]:
    """List the saved presets that have a certificate, and whether each still holds."""
    found = await service.looks.run(collection.runs.certificates)
    rows = [(one, list(reasons)) for one, reasons in found]
    return {
        "items": [
            {"preset": f"saved:{one.name}", "created": one.created, "holds": not why, "stale": why, "certificate": one.certificate}
            for one, why in rows
        ]
    }  # fmt: skip


@router.get("/collections/{name}/labels", responses=FILE, response_class=Response)
async def labels(
    collection: Entered, service: TheService, set: Annotated[str, Query(min_length=1, max_length=100, examples=["warranty"])]
) -> Response:
    """Take a labelled set away as JSON lines; needs the scope label."""
    return Response(await service.questions.run(lambda: collection.runs.labels(set)), media_type=JSON_LINES)


@router.get("/collections/{name}/export", responses=FILE, response_class=Response)
async def export(
    collection: Entered, service: TheService,
    limit: Annotated[int, Query(ge=1, le=request_models.MAX_PAGE_ITEMS)] = request_models.MAX_PAGE_ITEMS,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="Only decisions with an id below this.")] = None,
) -> Response:  # fmt: skip
    """Take kept decisions away as JSON lines, newest first; needs the scope label. Go on with the last line's id as `before`."""
    return Response(await service.questions.run(lambda: collection.runs.decisions(limit, before)), media_type=JSON_LINES)
