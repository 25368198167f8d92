"""The prompts that assistants can take: how to search a collection, and how to write from what was found."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer

from rag_core.settings import Settings

FILTERS = ("title", "date", "verified", "language", "any key of metadata")
ANSWERING = """Answer the question below from the documents alone.
1. Call `ask` with the question. If it refuses, say so with its explanation, and stop: nothing may be filled from memory.
2. Write with the words of `citations[].excerpt`, and put the number of each citation behind the sentence that rests on it.
3. Call `judge` with the excerpts as `text` and your answer as `answer`. Take out every sentence that is not supported.

Question: {question}"""


def add_prompts(server: MCPServer[Any]) -> None:
    """Add both prompts."""

    @server.prompt(title="How to search")
    def rag_strategy(preset: str = "") -> str:
        """The settings of a search: how many passages, which filters, which reranker."""
        known = Settings.load(preset) if preset else Settings.load()
        strategy = {"preset": known.preset, "top_k": known.top_k, "filters": FILTERS,
                    "rerank_model": known.reranker}  # fmt: skip
        return f"Search with `ask` and these settings unless the question needs others: {json.dumps(strategy)}"

    @server.prompt("rag_generation", title="How to answer")
    def answering(question: str) -> str:
        """The steps from a question to an answer that the documents support."""
        return ANSWERING.format(question=question)
