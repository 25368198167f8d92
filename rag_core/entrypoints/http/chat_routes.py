"""OpenAI's chat completions, so that a chat front end can be pointed here: a collection is a model, and an answer is a
checked decision.

https://platform.openai.com/docs/api-reference/chat says what a client may send. Of it, only the model, the words of the
user and whether to stream are read: no system message, temperature or tool changes what is shown, and what the
assistant said before is never evidence.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from rag_core.domain.decision import Decision
from rag_core.domain.ports import Cancel
from rag_core.entrypoints.http import problems
from rag_core.entrypoints.http.caller import Caller, Entered, TheService
from rag_core.entrypoints.http.streams import EVENTS, Streamed, followed, waited
from rag_core.errors import RagError
from rag_core.service.callers.principal import Scope
from rag_core.service.messages.markdown import in_markdown
from rag_core.service.messages.request_models import ChatIn
from rag_core.service.questions import Asking, Questions

router = APIRouter(tags=["chat"])
OWNER = "plumbline"  # owns the models; in a reply, the field that holds what OpenAI's protocol has no field for
Work = Callable[[Callable[[str], None], Cancel], tuple[Decision, str]]


@router.get("/models")
async def list_models(caller: Caller, service: TheService) -> dict[str, Any]:
    """List the collections of the caller as models."""
    found = await service.looks.run(lambda: service.collections(caller))
    return {"object": "list", "data": [_model(name) for name in found]}


@router.get("/models/{name}")
async def show_model(collection: Entered) -> dict[str, Any]:
    """Show a collection as a model."""
    return _model(collection.name)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": OWNER}


@router.post("/chat/completions", responses=EVENTS)
async def complete_chat(request: Request, body: ChatIn, caller: Caller, service: TheService) -> Response:
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
        return Streamed(_chunks(request, service, head, ask, usage=usage), service.streams, caller.id)
    decision, id = await waited(request, service.questions, lambda gone: ask(lambda _: None, gone))
    message = {"role": "assistant", **_said(decision)}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    found = {
        **head,
        "object": "chat.completion",
        "choices": [choice],
        "usage": _usage(decision),
        OWNER: decision.to_json(id),
    }
    return JSONResponse(found)


async def _chunks(
    request: Request, service: TheService, head: dict[str, Any], ask: Work, *, usage: bool
) -> AsyncIterator[str]:
    """The stages as deltas without words, then the whole answer in one: a word is sent only when all of them are
    checked.
    """

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
            told = json.loads(problems.of(error)[1])
            message = f"{told['detail']} {told['remedy']}"
            yield _data({"error": {"message": message, "type": told["kind"], "code": told["status"]}})
            return
        yield chunk(_said(decision), {OWNER: decision.to_json(id)})
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
