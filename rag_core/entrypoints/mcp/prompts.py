"""The prompts that assistants can take: how to search a collection, and how to write from what was found."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from rag_core.evaluation.domains import Taken
from rag_core.settings import Settings

FILTERS = ("title", "date", "verified", "language", "any key of metadata")
ANSWERING = """Answer the question below from the documents alone.
1. Call `ask` with the question. If it refuses, say so with its explanation, and stop: nothing may be filled from memory.
2. Write with the words of `citations[].excerpt`, and put the number of each citation behind the sentence that rests on it.
3. Call `judge` with the excerpts as `text` and your answer as `answer`. Take out every sentence that is not supported.
4. Call `record_execution` with the id of the decision: the share of your sentences that cite a source, and whether `judge` found an unsupported one.

Question: {question}"""  # noqa: E501
# the profile of collection, domain and question
TaughtBy = Callable[[Context[Any, Any], str, str, str], Awaitable[Taken]]


def add_prompts(server: MCPServer[Any], profile: TaughtBy) -> None:
    """Add both prompts. `profile` finds that of a caller's collection, a domain (`auto` detects it) and a question."""

    @server.prompt(title="How to search")
    async def rag_strategy(
        context: Context[Any, Any], preset: str = "", domain: str = "", collection: str = "default", question: str = ""
    ) -> str:
        """The settings of a search: how many passages, which filters, which reranker; with a domain those of its
        profile.
        """
        known = Settings.load(preset) if preset else Settings.load()
        strategy: dict[str, Any] = {"preset": known.preset}
        if domain:
            taken = await profile(context, collection, domain, question)
            known = taken.over(known)
            strategy |= {"domain": taken.profile.domain, "why": taken.why}
        strategy |= {
            "top_k": known.top_k,
            "semantic_weight": known.semantic_weight,
            "recency_weight": known.recency_weight,
            "filters": FILTERS,
            "rerank_model": known.reranker,
        }
        how = (
            "Search with `ask` and this `domain`, which brings these settings"
            if domain
            else "Search with `ask` and these settings"
        )
        return f"{how} unless the question needs others: {json.dumps(strategy)}"

    @server.prompt("rag_generation", title="How to answer")
    def answering(question: str = "") -> str:
        """The steps from a question to an answer that the documents support; for any question where none is given."""
        return ANSWERING.format(question=question or "the one that you are asked")
