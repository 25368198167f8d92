"""Questions, also as OpenAI's chat completions; decisions that were kept, replay, evidence and feedback."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.decision import Decision
from rag_core.domain.given import ReadyPassage
from rag_core.domain.llm_trace import OnStage
from rag_core.domain.ports import Cancel
from rag_core.engine import confidence_metadata
from rag_core.entrypoints.http import problems
from rag_core.entrypoints.http.guards import CHAT_PREFIX, PREFIX, Caller, Entered, Limit, Offset, TheService, after
from rag_core.entrypoints.http.streams import EVENTS, Streamed, event, followed, waited
from rag_core.errors import RagError
from rag_core.records.stored import Execution
from rag_core.service import models, request_models
from rag_core.service.markdown import in_markdown
from rag_core.service.principal import Scope
from rag_core.service.questions import Asking, Questions
from rag_core.service.request_models import ChatIn
from rag_core.work.pins import Watched

router = APIRouter(prefix=PREFIX, tags=["questions"])
Ask = Callable[[Asking, OnStage | None, Cancel | None, Callable[[], None] | None], tuple[Decision, str]]
# 2**53 is the largest whole number that every JSON reader has; an answer has at most a few sources
Number = Annotated[int, Path(ge=1, le=2**53, description="A kept decision.", examples=[1])]
Nth = Annotated[int, Path(ge=1, le=1000, description="A source of the decision, from 1.", examples=[1])]
Detail = Annotated[
    request_models.Detail, Query(description="`answer` leaves out what was measured: 2 KB instead of 15.")
]
Decided = models.Decision | models.Answer
PNG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
}


def told(decision: Decision, id: str, detail: request_models.Detail) -> dict[str, Any]:
    """A decision in its one JSON form, or as much of it as `detail` wants."""
    found = decision.to_json(id)
    found = found if id else {name: value for name, value in found.items() if name != "id"}
    return found if detail == "full" else models.Answer.model_validate(found).model_dump(exclude_unset=True)


def asking_of(body: request_models.QueryIn) -> Asking:
    """The question of a request."""
    values: dict[str, Any] = dict(body.settings) | ({"top_k": body.top_k} if body.top_k is not None else {})
    return Asking(body.query, body.preset, values, body.documents, body.filters, body.domain)


async def entered(service: TheService, caller: Caller, body: request_models.QueryIn) -> Ask:
    """The way to ask the collection of a request, or all of those that it names together."""

    def enter() -> Ask:
        if body.collections is not None:
            for name in body.collections:
                service.enter(caller, name)
            return partial(service.ask_together, caller, body.collections)
        return Questions(service.enter(caller, body.collection)).ask

    return await service.looks.run(enter)


async def asked(request: Request, service: TheService, ask: Ask, asking: Asking) -> tuple[Decision, str]:
    """The decision on a question, and its id."""
    return await waited(request, service.questions, lambda gone: ask(asking, None, gone, None))


@router.post("/rag/query", response_model=Decided)
async def query(
    request: Request, body: request_models.QueryIn, caller: Caller, service: TheService, detail: Detail = "full"
) -> Response:
    """Answer a question from a collection, or several together, with citations, or refuse and say why."""
    ask = await entered(service, caller, body)
    return JSONResponse(told(*await asked(request, service, ask, asking_of(body)), detail))


@router.post("/rag/query/events", responses=EVENTS, response_class=Response)
async def query_events(
    request: Request, body: request_models.QueryIn, caller: Caller, service: TheService, detail: Detail = "full"
) -> Response:
    """Answer a question as a stream: events `stage` for `search`, each call of a language model and `decide`;
    `decision` or `problem`.
    """
    ask = await entered(service, caller, body)
    caller.require(Scope.ASK)
    return Streamed(_stages(request, service, ask, asking_of(body), detail), service.streams, caller.id)


async def _stages(
    request: Request, service: TheService, ask: Ask, asking: Asking, detail: request_models.Detail
) -> AsyncIterator[str]:
    def asked(tell: Callable[[str], None], gone: Cancel) -> tuple[Decision, str]:
        def on_stage(step: object, claims: int) -> None:
            tell(event("stage", json.dumps({"step": str(step), "claims": claims})))

        on_stage("search", 0)
        return ask(asking, on_stage, gone, lambda: on_stage("decide", 0))

    async with followed(request, service.questions, asked) as (stages, task):
        async for stage in stages:
            yield stage
        try:
            yield event("decision", json.dumps(told(*task.result(), detail)))
        except RagError as error:
            yield event("problem", problems.of(error)[1].decode())


@router.post("/rag/decide", response_model=Decided)
async def decide(
    request: Request, body: request_models.DecideIn, caller: Caller, service: TheService, detail: Detail = "full"
) -> Response:
    """Answer from passages that you retrieved, or refuse; nothing is kept."""
    passages = [ReadyPassage(**one.model_dump()) for one in body.passages]
    found = await waited(
        request,
        service.questions,
        lambda gone: service.decide(caller, body.question, passages, body.preset, body.settings, gone),
    )
    return JSONResponse(told(found, "", detail))


@router.post("/rag/judge", response_model=models.Judgement)
async def judge(body: request_models.JudgeIn, caller: Caller, service: TheService) -> dict[str, Any]:
    """Say for each sentence of an answer whether a context supports it."""
    return await service.questions.run(lambda: service.judge(caller, body.context, body.answer, body.language))


@router.get("/collections/{name}/query", response_model=models.Confidence)
async def ask_with_confidence(
    request: Request,
    collection: Entered,
    service: TheService,
    query_text: Annotated[
        str, Query(min_length=1, max_length=MAX_QUESTION_CHARS, examples=["How long is the warranty period?"])
    ],
) -> dict[str, Any]:
    """Answer a question, with the confidence metadata that the log has."""
    decision, id = await asked(request, service, Questions(collection).ask, Asking(query_text))
    found = decision.to_json(id)
    return {name: found[name] for name in ("answer", "status", "id", "citations")} | confidence_metadata(decision)


@router.get("/collections/{name}/decisions", response_model=models.Listed[models.Kept])
async def list_decisions(
    collection: Entered,
    service: TheService,
    limit: Limit = request_models.PAGE_ITEMS,
    before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> dict[str, Any]:
    """List kept decisions, newest first: your own, or everybody's with the scope label."""
    found = await service.looks.run(lambda: Questions(collection).kept(limit, before))
    return {"items": found, "next": found[-1].id if len(found) == limit else None}


@router.get("/collections/{name}/decisions/{id}", response_model=Decided)
async def show_decision(collection: Entered, service: TheService, id: Number, detail: Detail = "full") -> Response:
    """Show a kept decision."""
    found = await service.questions.run(lambda: Questions(collection).decision(id))
    return JSONResponse(told(found, str(id), detail))


@router.post("/collections/{name}/decisions/{id}/replay", response_model=Decided)
async def replay(
    collection: Entered, service: TheService, id: Number, body: request_models.ReplayIn, detail: Detail = "full"
) -> Response:
    """Decide a kept question under other settings, from what was measured then."""
    found = await service.questions.run(lambda: Questions(collection).replay(id, body.preset, body.settings))
    return JSONResponse(told(found, str(id), detail))


@router.get("/collections/{name}/decisions/{id}/evidence/{number}", responses=PNG, response_class=Response)
async def show_evidence(collection: Entered, service: TheService, id: Number, number: Nth) -> Response:
    """Show the page of a source as a picture, with the cited words marked."""
    drawn = await service.questions.run(lambda: Questions(collection).picture(id, number))
    return Response(drawn, media_type="image/png")


@router.post("/collections/{name}/decisions/{id}/feedback", response_model=models.Said, status_code=201)
async def give_feedback(
    collection: Entered, service: TheService, id: Number, body: request_models.FeedbackIn
) -> dict[str, int]:
    """Say whether a decision was right."""
    asked = Questions(collection)
    return {"id": await service.looks.run(lambda: asked.say(id, body.kind, body.comment, body.document, body.page))}


@router.put("/collections/{name}/decisions/{id}/pin", status_code=204)
async def watch_answer(collection: Entered, service: TheService, id: Number) -> Response:
    """Watch an answer: it is asked again whenever documents of the collection change."""
    await service.questions.run(lambda: Questions(collection).pin(id))
    return Response(status_code=204)


@router.delete("/collections/{name}/decisions/{id}/pin", status_code=204)
async def stop_watching(collection: Entered, service: TheService, id: Number) -> Response:
    """Watch an answer no longer."""
    await service.looks.run(lambda: Questions(collection).unpin(id))
    return Response(status_code=204)


@router.get("/collections/{name}/pins", response_model=models.Listed[Watched])
async def list_pins(
    collection: Entered, service: TheService, limit: Limit = request_models.PAGE_ITEMS, offset: Offset = 0
) -> dict[str, Any]:
    """List watched answers with what became of them: your own, or everybody's with the scope label."""
    found = await service.questions.run(lambda: Questions(collection).pins(limit, offset))
    return {"items": found, "next": offset + limit if len(found) == limit else None}


@router.get("/collections/{name}/feedback", response_model=models.Listed[models.FeedbackRow])
async def list_feedback(
    collection: Entered, service: TheService, limit: Limit = request_models.MAX_PAGE_ITEMS, offset: Offset = 0
) -> dict[str, Any]:
    """List the open feedback of everybody; needs the scope label."""
    found = await service.looks.run(lambda: Questions(collection).said())
    return {"items": found[offset : offset + limit], "next": after(found, limit, offset)}


@router.post("/collections/{name}/executions", response_model=models.Said, status_code=201)
async def record_execution(collection: Entered, service: TheService, body: Execution) -> dict[str, int]:
    """Record how a piece of work with a prompt or a profile went."""
    return {"id": await service.questions.run(lambda: Questions(collection).record(body))}


chat = APIRouter(prefix=CHAT_PREFIX, tags=["chat"])
OWNER = "plumbline"  # owns the models; in a reply, the field that holds what OpenAI's protocol has no field for
Work = Callable[[Callable[[str], None], Cancel], tuple[Decision, str]]


@chat.get("/models")
async def list_models(caller: Caller, service: TheService) -> dict[str, Any]:
    """List the collections of the caller as models."""
    found = await service.looks.run(lambda: service.collections(caller))
    return {"object": "list", "data": [_model(name) for name in found]}


@chat.get("/models/{name}")
async def show_model(collection: Entered) -> dict[str, Any]:
    """Show a collection as a model."""
    return _model(collection.name)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": OWNER}


@chat.post("/chat/completions", responses=EVENTS)
async def complete_chat(
    request: Request, body: ChatIn, caller: Caller, service: TheService, detail: Detail = "full"
) -> Response:
    """Answer the last message from the collection that `model` names, with the questions before it as its conversation,
    or refuse.
    """
    *earlier, question = body.questions()
    questions = Questions(await service.looks.run(lambda: service.enter(caller, body.model)))
    asking = Asking(question, body.preset, body.settings or {}, earlier=tuple(earlier))
    caller.require(Scope.ASK)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body.model}

    def ask(say: Callable[[str], None], gone: Cancel) -> tuple[Decision, str]:
        say("search")
        return questions.ask(asking, lambda step, _: say(str(step)), gone, lambda: say("decide"))

    if body.stream:
        usage = bool((body.stream_options or {}).get("include_usage"))
        return Streamed(_chunks(request, service, head, ask, detail, usage=usage), service.streams, caller.id)
    decision, id = await waited(request, service.questions, lambda gone: ask(lambda _: None, gone))
    message = {"role": "assistant", **_said(decision)}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    found = {
        **head,
        "object": "chat.completion",
        "choices": [choice],
        "usage": _usage(decision),
        OWNER: told(decision, id, detail),
    }
    return JSONResponse(found)


async def _chunks(
    request: Request,
    service: TheService,
    head: dict[str, Any],
    ask: Work,
    detail: request_models.Detail,
    *,
    usage: bool,
) -> AsyncIterator[str]:
    """The stages as deltas without words, then the whole checked answer in one."""

    def chunk(delta: dict[str, Any], more: dict[str, Any], end: str | None = None) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}]
        return _data({**head, "object": "chat.completion.chunk", "choices": choices, **more})

    async with followed(request, service.questions, ask) as (stages, task):
        yield chunk({"role": "assistant", "content": ""}, {})
        async for stage in stages:
            yield chunk({}, {OWNER: {"stage": stage}})
        try:
            decision, id = task.result()
        except RagError as error:
            yield _data({"error": problems.in_chats(json.loads(problems.of(error)[1]))})
            return
        yield chunk(_said(decision), {OWNER: told(decision, id, detail)})
        yield chunk({}, {}, "stop")
        if usage:
            yield _data({**head, "object": "chat.completion.chunk", "choices": [], "usage": _usage(decision)})
        yield "data: [DONE]\n\n"


def _data(found: dict[str, Any]) -> str:
    return f"data: {json.dumps(found)}\n\n"


def _said(decision: Decision) -> dict[str, Any]:
    """The words of the assistant; a refusal stands in its own field too."""
    text = in_markdown(decision)
    return {"content": text, "refusal": None if decision.answered else text}


def _usage(decision: Decision) -> dict[str, int]:
    """Tokens of a language model, if one was asked; OpenAI parts them in two, and our record does not."""
    total = int(decision.metadata.get("total_tokens", 0))
    return {"prompt_tokens": total, "completion_tokens": 0, "total_tokens": total}
