"""The MCP server: each tool enters a collection as its caller, and reaches what a call of the API would reach."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from mcp.server.auth.routes import create_protected_resource_routes
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, ListResourcesResult, Resource, TextContent, Tool, ToolAnnotations
from pydantic import Field
from starlette.routing import BaseRoute

from rag_core import __version__
from rag_core.domain.decision import Decision, citation_json
from rag_core.domain.given import MAX_TEXT_CHARS, ReadyPassage
from rag_core.entrypoints.http.app import MAX_BODY_BYTES
from rag_core.entrypoints.http.document_routes import indexed, listed
from rag_core.entrypoints.http.guards import PRINCIPAL
from rag_core.entrypoints.http.observed import CONTEXT
from rag_core.entrypoints.http.question_routes import told
from rag_core.errors import RagError
from rag_core.library.stored.bounds import MAX_NAME_CHARS
from rag_core.records.stored import Execution, ExecutionOutcome, FeedbackKind, Metrics, ProfileName
from rag_core.service import models, request_models
from rag_core.service.collection import Collection
from rag_core.service.handed_in import texts
from rag_core.service.limits import Lane
from rag_core.service.principal import Principal, Unauthenticated
from rag_core.service.questions import Asking, Questions
from rag_core.service.request_models import (
    MAX_CONTENT_CHARS,
    MAX_PAGE,
    MAX_PAGE_ITEMS,
    MAX_PASSAGES,
    PAGE_ITEMS,
    Domain,
    Facts,
    IndexIn,
    Knobs,
    Language,
    Name,
    PassageIn,
    Preset,
    Question,
    TextIn,
    TopK,
)
from rag_core.service.service import Service
from rag_core.settings import Settings
from rag_core.settings.login import Login
from rag_core.settings.profiles import require_domain
from rag_core.settings.request_context import REQUEST

T = TypeVar("T")
ABOUT = (
    "Answers questions from indexed documents with citations, or refuses and says why. Ask before you state a fact of "
    "these documents, quote its citations, and hold your own words against them with `judge`. A refusal is an answer: "
    "do not fill it from memory."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
RECORDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
Number = Annotated[
    str, Field(pattern="^[1-9][0-9]{0,14}$", description="The id of a kept decision, as `ask` returns it.")
]
Detail = Annotated[
    request_models.Detail, Field(description="`full` adds every passage, check and measurement: some 15 KB.")
]
Decided = Annotated[CallToolResult, models.Answer]
REFUSED = partial(MCPError, INVALID_PARAMS)  # the SDK takes any other error of a prompt or resource for a fault
RESOURCE, MEDIA = "plumbline://collections/", "application/json"
# an answer has at most a few
Nth = Annotated[int, Field(ge=1, le=1000, description="The number of a citation, from 1.")]


def mcp_server(service: Service, alone: Principal | None = None) -> MCPServer[Any]:
    """The server. `alone` is who calls where there is no HTTP request that says so; None refuses such calls."""
    nothing = logging.NullHandler()
    # else the server sets up a log of its own, which would say everything of ours twice
    logging.getLogger().addHandler(nothing)
    calls = _Calls(service, alone)
    server = _Server(
        "plumbline",
        title="Plumbline",
        instructions=ABOUT,
        version=__version__,
        log_level="WARNING",
        middleware=[_resources_of(calls)],
    )
    logging.getLogger().removeHandler(nothing)
    _add_questions(server, calls)
    _add_documents(server, calls)
    _add_strategies(server, calls)
    return server


def http_routes(server: MCPServer[Any], login: Login | None = None) -> list[BaseRoute]:
    """The routes of `/mcp`; names and origins are looked at before them, as for the API.

    With a login also what tells clients that its provider makes tokens for them (RFC 9728).
    """
    app = server.streamable_http_app(
        streamable_http_path="/mcp",
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BODY_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    if login is None:
        return list(app.routes)
    # by its model: a URL that is made alone gets a slash behind its host, and clients compare the provider's letters
    said = {"resource": login.resource, "authorization_servers": [login.issuer], "scopes_supported": login.scopes}
    about = ProtectedResourceMetadata.model_validate(said)
    return [
        *app.routes,
        *create_protected_resource_routes(about.resource, about.authorization_servers, about.scopes_supported),
    ]


class _Server(MCPServer[Any]):
    async def list_tools(self) -> list[Tool]:
        """The tools; their schemas without titles, which say the names of fields again: a fifth of all."""
        return [Tool.model_validate(_untitled(one.model_dump())) for one in await super().list_tools()]


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # a property that is called so has a schema and no text
    return {name: _untitled(one) for name, one in schema.items() if name != "title" or isinstance(one, dict)}


def _resources_of(calls: _Calls) -> ServerMiddleware[Any]:
    """Lists the caller's collections as resources: the SDK lists the same ones for everybody."""

    async def listed(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "resources/list":
            return await call_next(ctx)
        with _told(REFUSED):
            principal = calls.principal(ctx.request)
            found = await calls.run(lambda: calls.service.collections(principal), calls.service.looks)
        return ListResourcesResult(
            resources=[Resource(uri=f"{RESOURCE}{name}", name=name, mime_type=MEDIA) for name in found]
        )

    return listed


class _Calls:
    """Who calls, and work in the service's threads with errors as assistants read them."""

    def __init__(self, service: Service, alone: Principal | None) -> None:
        self.service, self._alone = service, alone

    def principal(self, request: Any) -> Principal:
        """The caller: of the HTTP request that `Guarded` let in, or whoever started the server for themselves."""
        scope = getattr(request, "scope", None)
        found = self._alone if scope is None else scope.get("state", {}).get(PRINCIPAL)
        if not isinstance(found, Principal):
            raise Unauthenticated("Nobody knows who calls.", remedy="Send Authorization: Bearer ….")
        if scope is not None:
            REQUEST.set(scope["state"].get(CONTEXT))  # in the task of this call, whichever its request came in
        return found

    async def enter(self, context: Context[Any, Any], name: str) -> Collection:
        """A collection of the caller's."""
        principal = self.principal(context.request_context.request)
        return await self.service.looks.run(lambda: self.service.enter(principal, name))

    async def run(self, work: Callable[[], T], lane: Lane | None = None) -> T:
        """The result of work in a thread."""
        return await (lane or self.service.questions).run(work)


@contextmanager
def _told(kind: Callable[[str], Exception] = ToolError) -> Iterator[None]:
    """Tells errors of ours to the assistant; all others are faults, of which nothing is told."""
    try:
        yield
    except RagError as error:
        raise kind(f"{error.problem} {error.remedy}") from None


def _decided(decision: Decision, id: str, detail: request_models.Detail) -> CallToolResult:
    """A decision as data, and as text for assistants that read no data; the SDK would indent it."""
    text = json.dumps(told(decision, id, detail), ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=text)], structured_content=json.loads(text))


def _add_questions(server: MCPServer[Any], calls: _Calls) -> None:
    @server.tool(annotations=READS)
    async def ask(
        context: Context[Any, Any],
        question: Question,
        collection: Name = "default",
        top_k: TopK | None = None,
        preset: Preset | None = None,
        settings: Knobs | None = None,
        domain: Domain | None = None,
        detail: Detail = "answer",
    ) -> Decided:
        """Answer a question from the documents of a collection with citations, or refuse and say why."""
        with _told():
            entered = await calls.enter(context, collection)
            values = dict(settings or {}) | ({"top_k": top_k} if top_k is not None else {})
            asking = Asking(question, preset, values, domain=domain)
            return _decided(*await calls.run(lambda: Questions(entered).ask(asking)), detail)

    @server.tool(annotations=READS)
    async def decide(
        context: Context[Any, Any],
        question: Question,
        passages: Annotated[list[PassageIn], Field(max_length=MAX_PASSAGES)],
        detail: Detail = "answer",
    ) -> Decided:
        """Answer a question from passages that you found elsewhere, best first, or refuse and say why."""
        with _told():
            principal = calls.principal(context.request_context.request)
            given = [ReadyPassage(**one.model_dump()) for one in passages]
            decided = await calls.run(lambda: calls.service.decide(principal, question, given, None, {}))
            return _decided(decided, "", detail)

    @server.tool(annotations=READS)
    async def replay(
        context: Context[Any, Any],
        decision: Number,
        collection: Name = "default",
        preset: Preset | None = None,
        settings: Knobs | None = None,
        detail: Detail = "answer",
    ) -> Decided:
        """Decide a question that was asked before under other settings, from what was measured then."""
        with _told():
            entered = await calls.enter(context, collection)
            found = await calls.run(lambda: Questions(entered).replay(int(decision), preset, settings or {}))
            return _decided(found, decision, detail)

    @server.tool(annotations=READS)
    async def judge(
        context: Context[Any, Any],
        text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)],
        answer: Annotated[str, Field(min_length=1, max_length=10_000)],
        language: Language = "",
    ) -> models.Judgement:
        """Say for each sentence of an answer, of yours for instance, whether a text supports it."""
        with _told():
            principal = calls.principal(context.request_context.request)
            found = await calls.run(lambda: calls.service.judge(principal, text, answer, language))
            return models.Judgement.model_validate(found)

    @server.tool(annotations=READS)
    async def get_evidence(
        context: Context[Any, Any], decision: Number, number: Nth = 1, collection: Name = "default"
    ) -> models.Citation:
        """Show a citation of a decision: document, page, the exact words and where they stand."""
        with _told():
            entered = await calls.enter(context, collection)
            found = await calls.run(lambda: Questions(entered).evidence(int(decision), number))
            return models.Citation.model_validate(citation_json(found))

    @server.tool(annotations=READS)
    async def show_evidence(
        context: Context[Any, Any], decision: Number, number: Nth = 1, collection: Name = "default"
    ) -> Image:
        """Show the page of a citation as a picture, with the cited words marked."""
        with _told():
            entered = await calls.enter(context, collection)
            return Image(data=await calls.run(lambda: Questions(entered).picture(int(decision), number)), format="png")


def _add_documents(server: MCPServer[Any], calls: _Calls) -> None:
    @server.tool(annotations=READS)
    async def list_collections(context: Context[Any, Any]) -> models.Collections:
        """List the collections that you may ask."""
        with _told():
            principal = calls.principal(context.request_context.request)
            found = await calls.run(lambda: calls.service.collections(principal), calls.service.looks)
            return models.Collections(items=list(found))

    @server.resource(RESOURCE + "{name}", title="The documents of a collection", mime_type=MEDIA)
    async def documents(context: Context[Any, Any], name: str) -> dict[str, Any]:
        with _told(REFUSED):
            entered = await calls.enter(context, name)
            return listed(await calls.run(entered.documents, calls.service.looks), MAX_PAGE_ITEMS, 0)

    @server.tool(annotations=READS)
    async def list_documents(
        context: Context[Any, Any],
        collection: Name = "default",
        limit: Annotated[int, Field(ge=1, le=MAX_PAGE_ITEMS)] = PAGE_ITEMS,
        offset: Annotated[int, Field(ge=0, le=MAX_PAGE)] = 0,
    ) -> models.Documents:
        """List the documents of a collection."""
        with _told():
            entered = await calls.enter(context, collection)
            found = await calls.run(entered.documents, calls.service.looks)
            return models.Documents.model_validate(listed(found, limit, offset))

    @server.tool(annotations=WRITES)
    async def index_document(
        context: Context[Any, Any],
        content: Annotated[str, Field(min_length=1, max_length=MAX_CONTENT_CHARS)],
        collection: Name = "default",
        metadata: Facts | None = None,
        id: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = "",
        domain: Domain | None = None,
    ) -> models.IndexOut:
        """Add a text to a collection; metadata: title, date, authority, verified, source, and keys of your own."""
        with _told():
            principal = calls.principal(context.request_context.request)
            (one,) = texts([TextIn(content=content, metadata=metadata or {}, id=id)])
            if isinstance(one, models.Indexed):
                raise ToolError(f"{one.problem} {one.remedy}")
            chosen = IndexIn.model_construct(collection=collection, domain=domain)
            return await indexed(calls.service, principal, chosen, [one])


FILTERS = ("title", "date", "verified", "language", "any key of metadata")
ANSWERING = """Answer the question below from the documents alone.
1. Call `ask` with the question. If it refuses, say so with its explanation, and stop: nothing may be filled from memory.
2. Write with the words of `citations[].excerpt`, and put the number of each citation behind the sentence that rests on it.
3. Call `judge` with the excerpts as `text` and your answer as `answer`. Take out every sentence that is not supported.
4. Call `record_execution` with the id of the decision: the share of your sentences that cite a source, and whether `judge` found an unsupported one.

Question: {question}"""  # noqa: E501


def _add_strategies(server: MCPServer[Any], calls: _Calls) -> None:
    @server.tool(annotations=RECORDS)
    async def record_execution(
        context: Context[Any, Any],
        prompt_id: Literal["rag_strategy", "rag_generation"],
        metrics: Metrics,
        collection: Name = "default",
        outcome: ExecutionOutcome = ExecutionOutcome.ANSWERED,
        feedback: FeedbackKind | None = None,
        decision: Number | None = None,
        profile: ProfileName = "",
    ) -> models.Said:
        """Record how your work with a prompt went: confidence, citation coverage, and whether an unsupported sentence
        was found.
        """
        with _told():
            entered = await calls.enter(context, collection)
            done = Execution(
                prompt_id=prompt_id,
                metrics=metrics,
                outcome=outcome,
                feedback=feedback,
                decision=decision or "",
                profile=profile,
            )
            return models.Said(id=await calls.run(lambda: Questions(entered).record(done)))

    @server.prompt(title="How to search")
    async def rag_strategy(preset: str = "", domain: str = "") -> str:
        """The settings of a search: how many passages, which filters, which reranker; with a domain those of its
        profile.
        """
        known = Settings.load(preset) if preset else Settings.load()
        strategy: dict[str, Any] = {"preset": known.preset}
        if domain:
            with _told(REFUSED):
                known = require_domain(domain).over(known)
            strategy |= {"domain": domain}
        strategy |= {
            "top_k": known.top_k,
            "semantic_weight": known.semantic_weight,
            "recency_weight": known.recency_weight,
            "filters": FILTERS,
            "rerank_model": known.reranker,
        }
        how = "this `domain`, which brings these settings" if domain else "these settings"
        return f"Search with `ask` and {how} unless the question needs others: {json.dumps(strategy)}"

    @server.prompt("rag_generation", title="How to answer")
    def answering(question: str = "") -> str:
        """The steps from a question to an answer that the documents support; for any question where none is given."""
        return ANSWERING.format(question=question or "the one that you are asked")
