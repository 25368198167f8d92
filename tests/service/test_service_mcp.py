"""MCP by the SDK's own client: in memory, over HTTP with tokens, and over standard input and output.

The same guards as the API.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from service_kit import SECRET, WARRANTY, Server

from rag_core.entrypoints.mcp.server import mcp_server
from rag_core.service.principal import LOCAL

ROOT = Path(__file__).resolve().parents[2]
TEXT = "The warranty period is 24 months."
Body = Callable[[Client], Awaitable[Any]]
METRICS = {"confidence": 0.9, "citation_coverage": 1.0, "hallucination_detected": False}
# How each tool is called about a collection and what is in it; None for one that is about no collection.
CALLS: dict[str, Any] = {
    "ask": lambda name, known: {"question": SECRET, "collection": name},
    "decide": None,
    "judge": None,
    "replay": lambda name, known: {"decision": known["decision"], "collection": name},
    "get_evidence": lambda name, known: {"decision": known["decision"], "collection": name},
    "show_evidence": lambda name, known: {"decision": known["pictured"], "collection": name},
    "list_collections": None,
    "list_documents": lambda name, known: {"collection": name},
    "record_execution": lambda name, known: {
        "prompt_id": "rag_strategy",
        "collection": name,
        "decision": known["decision"],
        "metrics": METRICS,
    },
    "index_document": lambda name, known: {"content": "x y z", "collection": name},
}


def in_memory(server: Server, body: Body) -> Any:
    async def run() -> Any:
        async with Client(mcp_server(server.service, LOCAL)) as client:
            return await body(client)

    return asyncio.run(run())


@asynccontextmanager
async def over_http(server: Server, holder: str) -> Any:
    headers = {"authorization": f"Bearer {server.tokens[holder]}"} if holder else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(f"{server.address}/mcp", http_client=http)) as client:
            yield client


def day(server: Server, name: str) -> Body:
    """A walk through all tools and prompts, in a collection of this name."""

    async def walk(client: Client) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == set(CALLS)

        async def call(tool: str, **arguments: Any) -> Any:
            found = await client.call_tool(tool, arguments)
            assert not found.is_error, found.content
            return found.structured_content if tool != "show_evidence" else found.content[0]

        added = await call("index_document", content=TEXT, collection=name, metadata={"title": "Terms"}, id="terms-č")
        asked = await call("ask", question=WARRANTY, collection=name, top_k=3)
        strict = await call("replay", decision=asked["id"], collection=name, settings={"min_correctness": 1.0})
        cited = await call("get_evidence", decision=asked["id"], collection=name)
        picture = await call("show_evidence", decision=server.known["alpha"]["pictured"], collection="alpha")
        listed = await call("list_documents", collection=name)
        (resource,) = [one for one in (await client.list_resources()).resources if one.name == name]
        (read,) = (await client.read_resource(resource.uri)).contents
        judged = await call("judge", text=TEXT, answer="The warranty period is 36 months.")
        decided = await call("decide", question=WARRANTY, passages=[{"text": TEXT, "document": "terms.pdf"}])
        kept = await call("replay", decision=asked["id"], collection=name, detail="full")
        under = await call("ask", question=WARRANTY, collection=name, domain="legal")
        recorded = await call(
            "record_execution", prompt_id="rag_strategy", collection=name, metrics=METRICS, decision=under["id"]
        )
        own = {"domain": "legal"}
        taught = str(await client.get_prompt("rag_strategy", own))
        names = {prompt.name for prompt in (await client.list_prompts()).prompts}
        strategy = await client.get_prompt("rag_strategy", {"preset": "compliance"})
        writing = await client.get_prompt("rag_generation", {"question": WARRANTY})
        whichever = await client.get_prompt("rag_generation")
        assert (added["indexed"], added["namespace"]) == (1, name)
        assert (asked["is_safe"], strict["is_refusal"], judged["supported"]) == (True, True, False)
        assert (cited["excerpt"], decided["citations"][0]["document"]) == (TEXT, "terms.pdf")
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        assert (listed["total"], listed["items"][0]["title"], json.loads(read.text)) == (1, "Terms", listed)
        assert kept["answer"] == asked["answer"]
        assert len(str(asked)) < 3_000
        assert ("trace" in asked, "boxes" in asked["citations"][0], asked["value"]["text"]) == (
            False,
            False,
            "24 months",
        )
        assert kept["trace"]
        assert kept["retrieved"]
        assert "boxes" in kept["citations"][0]
        assert names == {"rag_strategy", "rag_generation"}
        assert all(one in str(strategy) for one in ("top_k", "rerank_model"))
        assert WARRANTY in str(writing)
        assert "Question: the one that you are asked" in str(whichever)
        assert (under["metadata"]["profile"], recorded["id"] > 0) == ("legal", True)
        assert '"domain": "legal"' in taught.replace("\\", "")

    return walk


def test_given_an_assistant_when_it_works_through_the_tools_then_each_result_is_structured(server: Server) -> None:
    """S3-26: `rag_strategy`, `rag_generation` and `record_execution`. Over HTTP with a token."""

    async def http() -> None:
        async with over_http(server, "admin") as client:
            await day(server, "mcp-http")(client)

    asyncio.run(http())


def test_given_tools_when_listed_or_asked_then_what_is_sent_is_small_and_nothing_stands_in_it_that_repeats(server):
    """S5-51: a schema has no title that says a field's name again, and text is not indented."""

    async def walk(client: Client) -> tuple[Any, Any]:
        told = await client.call_tool("ask", {"question": "How do I request vacation?", "collection": "alpha"})
        return (await client.list_tools()), told

    tools, told = in_memory(server, walk)
    assert len(tools.model_dump_json(by_alias=True, exclude_none=True)) < 21_000
    sent = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools.tools])
    assert '"title": "' not in sent
    schemas = {tool.name: tool.output_schema["properties"] for tool in tools.tools if tool.output_schema}
    assert {"title", "pages"} <= json.loads(sent)[7]["outputSchema"]["$defs"]["Document"]["properties"].keys()
    assert "answer" in schemas["ask"]
    assert len(told.model_dump_json(by_alias=True)) < 4_000
    assert json.loads(told.content[0].text) == told.structured_content
    assert "\n" not in told.content[0].text


def test_given_a_token_of_alpha_when_tools_ask_for_beta_then_it_looks_as_if_there_were_none(server: Server) -> None:
    """Over HTTP; a tool that is added later stands in the table, or the test above fails."""

    async def attack() -> None:
        async with over_http(server, "alpha") as client:
            mine = await client.call_tool("ask", {"question": WARRANTY, "collection": "alpha"})
            assert mine.structured_content["answer"] == server.known["alpha"]["answer"]
            entered = (await client.call_tool("list_collections", {})).structured_content["items"]
            assert "alpha" in entered
            assert set(entered) <= {"alpha", "empty"}
            for tool, made in CALLS.items():
                if made is None:
                    continue
                refused, missing = [
                    await client.call_tool(tool, made(name, server.known["beta"])) for name in ("beta", "nowhere")
                ]
                assert refused.is_error, tool
                assert refused.model_dump_json().replace("beta", "nowhere") == missing.model_dump_json(), tool
                assert "juniper" not in str(refused), tool
            beyond = await client.call_tool("replay", {"decision": "10000", "collection": "alpha"})
            assert beyond.is_error
            with pytest.raises(MCPError) as refusal:
                await client.get_prompt("rag_strategy", {"domain": "law"})
            assert "There is no domain 'law'." in str(refusal.value)
            assert {one.name for one in (await client.list_resources()).resources} == set(entered)
            with pytest.raises(MCPError) as refusal:
                await client.read_resource("plumbline://collections/beta")
            assert "There is no collection 'beta'." in str(refusal.value)

    asyncio.run(attack())


def test_given_a_token_that_only_asks_or_none_when_tools_are_called_then_the_same_rules_hold(server: Server) -> None:
    async def attack() -> None:
        async with over_http(server, "reader") as client:
            found = await client.call_tool("index_document", {"content": "x", "collection": "alpha"})
            assert found.is_error
            assert "index" in str(found.content)
            others = await client.call_tool(
                "replay", {"decision": server.known["alpha"]["decision"], "collection": "alpha"}
            )
            assert others.is_error
            odd = await client.call_tool("ask", {"question": "\x00", "collection": "../beta"})
            assert odd.is_error

    asyncio.run(attack())
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    media = {"accept": "application/json, text/event-stream"}
    with server.client() as nobody, server.client("alpha") as alpha:
        assert nobody.post("/mcp", json=body, headers=media).status_code == 401
        for headers, status in (({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403)):
            assert alpha.post("/mcp", json=body, headers=media | headers).status_code == status
        assert alpha.post("/mcp", content=b"{", headers=media | {"content-type": "application/json"}).status_code == 400


def test_given_a_server_without_a_caller_of_its_own_when_called_without_http_then_it_serves_nobody(server):
    async def attack() -> Any:
        async with Client(mcp_server(server.service)) as client:
            with pytest.raises(MCPError, match="Nobody knows who calls"):
                await client.list_resources()
            return await client.call_tool("list_documents", {"collection": "alpha"})

    found = asyncio.run(attack())
    assert found.is_error
    assert "Nobody knows who calls" in str(found.content)


def test_given_an_assistant_that_starts_the_server_then_it_speaks_over_standard_input_and_output(server, tmp_path):
    """With the rights that the command left, all by default, and nothing but the protocol on standard output."""
    library = shutil.copytree(server.folder, tmp_path / "library")

    async def called(*limits: str) -> list[Any]:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "rag_core", "mcp", "--library", str(library), *limits],
            cwd=str(ROOT),
            env=dict(os.environ),
        )
        async with Client(command) as client:
            tools = (
                ("ask", {"question": WARRANTY, "collection": "alpha"}),
                ("list_documents", {"collection": "beta"}),
                ("index_document", {"content": TEXT, "collection": "alpha"}),
            )
            return [await client.call_tool(tool, given) for tool, given in tools]

    asked, other, added = asyncio.run(called("--scope", "ask", "--collection", "alpha"))
    assert asked.structured_content["answer"] == server.known["alpha"]["answer"]
    assert (other.is_error, added.is_error) == (True, True)
    assert [one.is_error for one in asyncio.run(called())] == [False] * 3
