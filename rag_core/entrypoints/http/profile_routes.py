"""Domain profiles, and what programs record of their work under them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.entrypoints.http.caller import Entered, Key, TheService, once
from rag_core.records.stored import Execution
from rag_core.service.messages import models, profile_models, request_models
from rag_core.settings.profiles import AUTO, Profile

router = APIRouter()
Domain = Annotated[request_models.Domain, Path()]


def _told(one: Profile) -> dict[str, Any]:
    return {"domain": one.domain, "title": one.title, "help": one.help, "values": one.values}


@router.get("/collections/{name}/profiles", response_model=profile_models.Profiles)
async def profiles(collection: Entered) -> dict[str, Any]:
    """List the profiles of the domains."""
    return {"items": [_told(one) for one in collection.profiles.all()]}


@router.get("/collections/{name}/domain", response_model=profile_models.DetectedOut)
async def detected(
    collection: Entered, service: TheService,
    query_text: Annotated[str, Query(min_length=1, max_length=MAX_QUESTION_CHARS, examples=["What does the contract say?"])],
) -> dict[str, str]:  # fmt: skip
    """Say which domain would be detected for a question, and why."""
    found = await service.questions.run(lambda: collection.profiles.taken(AUTO, query_text))
    return {"domain": found.profile.domain, "why": found.why}


@router.get("/collections/{name}/profiles/{domain}", response_model=profile_models.RecordedOut)
async def profile(collection: Entered, service: TheService, domain: Domain) -> dict[str, Any]:
    """Show a profile, with what programs recorded of their work under it; needs the scope label."""
    one, figures = await service.looks.run(lambda: collection.profiles.recorded(domain))
    return {**_told(one), "recorded": figures.to_json()}


@router.post("/collections/{name}/executions", response_model=models.Said, status_code=201)
async def record_execution(collection: Entered, service: TheService, body: Execution, key: Key = None) -> dict[str, int]:
    """Record how a piece of work with a prompt or a profile went."""
    request = ["execution", body.model_dump(mode="json")]
    return {"id": await service.questions.run(lambda: once(service, collection, key, request, lambda: collection.profiles.record(body)))}
