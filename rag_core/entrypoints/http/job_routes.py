"""Jobs: how far each is, a way to stop it, its progress as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from rag_core.entrypoints.http.guards import PREFIX, Caller, Limit, Offset, TheService, after
from rag_core.entrypoints.http.streams import EVENTS, Streamed, event
from rag_core.service import models, request_models
from rag_core.service.service import Service
from rag_core.work.jobs import Job

router = APIRouter(prefix=PREFIX, tags=["jobs"])
JobId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
LOOK_SECONDS, BEAT_SECONDS = 0.25, 15.0  # between two looks at a job; between two signs of life, which proxies wait for
MAX_STEP_CHARS = 200  # how much of a file's name is told


def told(job: Job) -> models.Job:
    """A job as JSON."""
    if not job.finished:
        state = "running" if job.started else "waiting"
    elif job.error is not None:
        state = "failed"
    else:
        state = "stopped" if job.report is None or job.report.cancelled else "finished"
    return models.Job(
        id=job.id,
        kind=job.kind,
        collection=job.place[1],
        state=state,  # type: ignore[arg-type]
        share=job.share,
        done=job.files_done,
        total=job.files,
        step=job.step[:MAX_STEP_CHARS],
        problem=job.error.problem if job.error else "",
        remedy=job.error.remedy if job.error else "",
        indexed=len(job.report.added) if job.report else 0,
    )


@router.get("/jobs", response_model=models.Listed[models.Job])
async def list_jobs(
    caller: Caller, service: TheService, limit: Limit = request_models.MAX_PAGE_ITEMS, offset: Offset = 0
) -> dict[str, Any]:
    """List your jobs, newest first; everybody's with the scope admin."""
    found = service.jobs.all(caller)
    return {"items": [told(one) for one in found[offset : offset + limit]], "next": after(found, limit, offset)}


@router.get("/jobs/{id}", response_model=models.Job)
async def show_job(caller: Caller, service: TheService, id: JobId) -> models.Job:
    """Show how far a job is."""
    return told(service.jobs.find(caller, id))


@router.post("/jobs/{id}/stop", response_model=models.Job, status_code=202)
async def stop_job(caller: Caller, service: TheService, id: JobId) -> models.Job:
    """Stop a job; what is complete is kept."""
    found = service.jobs.find(caller, id)
    await service.looks.run(found.call_off)
    return told(found)


@router.get("/jobs/{id}/events", responses=EVENTS, response_class=Response)
async def follow_job(request: Request, caller: Caller, service: TheService, id: JobId) -> Response:
    """Follow a job: an event `progress` whenever something moved, and `end` at its end."""
    found = service.jobs.find(caller, id)
    return Streamed(_events(request, service, found), service.streams, caller.id)


async def _events(request: Request, service: Service, job: Job) -> AsyncIterator[str]:
    said, quiet = "", 0.0
    while not service.stopping and not await request.is_disconnected():
        ended, now = job.finished, told(job).model_dump_json(by_alias=True)
        if now != said or ended:
            yield event("end" if ended else "progress", now)
            said, quiet = now, 0.0
        if ended:
            return
        if quiet >= BEAT_SECONDS:
            yield ": still here\n\n"
            quiet = 0.0
        await asyncio.sleep(LOOK_SECONDS)
        quiet += LOOK_SECONDS
