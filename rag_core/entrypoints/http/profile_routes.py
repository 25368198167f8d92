"""Domain profiles: which are in force, changes that were proposed with evidence, and what programs record of their work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.entrypoints.http.caller import Entered, Key, TheService, once, once_started
from rag_core.entrypoints.http.job_routes import told
from rag_core.evaluation.executions import Recorded
from rag_core.records.stored import ProfileVersion
from rag_core.service.collection import Collection
from rag_core.service.messages import models, profile_models, request_models
from rag_core.service.queues.jobs import Started
from rag_core.settings.profiles import AUTO
from rag_core.work.profiles import PROFILE, Standing

router = APIRouter()
Domain = Annotated[request_models.Domain, Path()]
Version = Annotated[request_models.Version, Path()]


def version_told(version: ProfileVersion, in_force: bool, recorded: Recorded) -> dict[str, Any]:
    """A version as JSON."""
    names = ("version", "values", "why", "evidence", "at", "by", "settled", "settled_by")
    return {
        **{name: getattr(version, name) for name in names}, "state": version.state.value, "in_force": in_force,
        "recorded": recorded.to_json(),
    }  # fmt: skip


def _compared(found: Sequence[Standing]) -> dict[str, Any]:
    return {"items": [one.to_json() for one in found]}


def profiles_told(collection: Collection) -> dict[str, Any]:
    """The profiles of a collection as JSON."""
    return {
        "items": [
            {
                "domain": one.domain, "title": one.title, "help": one.help, "version": current.version, "values": current.values,
                "proposals": proposals,
            }
            for one, current, proposals in collection.profiles.all()
        ]
    }  # fmt: skip


def recorded(collection: Collection, body: profile_models.ExecutionIn) -> int:
    """Keep what a program says of its work; the number of the record."""
    return collection.profiles.record(
        body.prompt_id, body.confidence, body.citation_coverage, body.hallucination_detected, body.outcome, body.feedback,
        int(body.decision or 0), body.profile,
    )  # fmt: skip


@router.get("/collections/{name}/profiles", response_model=profile_models.Profiles)
async def profiles(collection: Entered, service: TheService) -> dict[str, Any]:
    """List the domain profiles with the version in force."""
    return await service.looks.run(lambda: profiles_told(collection))


@router.get("/collections/{name}/domain", response_model=profile_models.DetectedOut)
async def detected(
    collection: Entered, service: TheService,
    query_text: Annotated[str, Query(min_length=1, max_length=MAX_QUESTION_CHARS, examples=["What does the contract say?"])],
) -> dict[str, str]:  # fmt: skip
    """Say which domain would be detected for a question, and why."""
    found = await service.questions.run(lambda: collection.profiles.taken(AUTO, query_text))
    return {"domain": found.version.domain, "why": found.why, "profile": found.about[PROFILE]}


@router.get("/collections/{name}/profiles/{domain}", response_model=profile_models.Versions)
async def versions(collection: Entered, service: TheService, domain: Domain) -> dict[str, Any]:
    """List all versions of a profile with their evidence; needs the scope label."""
    found = await service.looks.run(lambda: collection.profiles.versions(domain))
    return {"domain": domain, "items": [version_told(*one) for one in found]}


@router.post("/collections/{name}/profiles/{domain}/proposals", response_model=models.Job, status_code=202)
async def propose(collection: Entered, service: TheService, domain: Domain, body: profile_models.ProposalIn, key: Key = None) -> models.Job:
    """Try a changed profile as a job, and keep the proposal with what it shows; needs the scope label."""

    def begin() -> Started:
        return collection.profiles.propose(domain, body.values, body.why, body.preset, body.run, body.set, body.budget_tokens)

    request = ["proposal", domain, body.model_dump(mode="json")]
    return told(await service.questions.run(lambda: once_started(service, collection, key, request, begin)))


@router.put("/collections/{name}/profiles/{domain}/versions/{version}", response_model=profile_models.Versions)
async def put_in_force(collection: Entered, service: TheService, domain: Domain, version: Version) -> dict[str, Any]:
    """Accept a version, or go back to an earlier one; needs the scope admin."""
    await service.looks.run(lambda: collection.profiles.put_in_force(domain, version))
    return await versions(collection, service, domain)


@router.delete("/collections/{name}/profiles/{domain}/versions/{version}", response_model=profile_models.Versions)
async def decline(collection: Entered, service: TheService, domain: Domain, version: Version) -> dict[str, Any]:
    """Say no to a proposal, which is kept; needs the scope admin."""
    await service.looks.run(lambda: collection.profiles.decline(domain, version))
    return await versions(collection, service, domain)


@router.get("/collections/{name}/profiles/{domain}/comparisons", response_model=profile_models.ComparisonsOut)
async def comparisons(collection: Entered, service: TheService, domain: Domain) -> dict[str, Any]:
    """List the comparisons of two versions on live questions, with what each shows; needs the scope label."""
    return _compared(await service.looks.run(lambda: collection.profiles.standings(domain)))


@router.post("/collections/{name}/profiles/{domain}/comparisons", response_model=profile_models.ComparisonsOut, status_code=201)
async def compare(collection: Entered, service: TheService, domain: Domain, body: profile_models.ComparisonIn) -> dict[str, Any]:
    """Split live questions between two versions, by asker; needs the scope admin."""
    return _compared(await service.looks.run(lambda: collection.profiles.compare(domain, body.a, body.b, body.alpha)))


@router.delete("/collections/{name}/profiles/{domain}/comparisons", response_model=profile_models.ComparisonsOut)
async def stop_comparing(collection: Entered, service: TheService, domain: Domain) -> dict[str, Any]:
    """Stop the comparison that runs; what was heard is kept. Needs the scope admin."""
    return _compared(await service.looks.run(lambda: collection.profiles.stop_comparing(domain)))


@router.post("/collections/{name}/profiles/{domain}/learn", response_model=models.Job, status_code=202)
async def learn(collection: Entered, service: TheService, domain: Domain, body: profile_models.LearnIn) -> models.Job:
    """Try usual changes on half of the labelled questions, as a job, and propose the best with evidence on the rest; scope label."""
    return told(await service.questions.run(lambda: collection.profiles.learn(domain, body.preset, body.run, body.set)))


@router.post("/collections/{name}/executions", response_model=models.Said, status_code=201)
async def record_execution(collection: Entered, service: TheService, body: profile_models.ExecutionIn, key: Key = None) -> dict[str, int]:
    """Record how a piece of work with a prompt or a profile went."""
    request = ["execution", body.model_dump(mode="json")]
    return {"id": await service.questions.run(lambda: once(service, collection, key, request, lambda: recorded(collection, body)))}
