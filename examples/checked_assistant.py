"""An assistant that checks its own words: it asks, writes something of its own, and says only what `judge` finds
supported.

It speaks MCP with a server that it starts itself, over standard input and output. The words that a language model would
write stand here as they are, one of them wrong. Run it from the repository: python -m examples.checked_assistant
"""

import asyncio
import os
import sys
import tempfile
from typing import Any

from mcp import Client, StdioServerParameters

POLICY = "Every full-time employee has 25 days of paid vacation a year. The notice period is two months."
QUESTION = "How many days of vacation does an employee have?"
WRITTEN = "Full-time employees have 25 days of paid vacation a year. They have 35 days of paid vacation a year."


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool, as JSON has it."""
    found = await client.call_tool(tool, arguments)
    if found.is_error:
        raise RuntimeError(f"{tool}: {found.content}")
    return dict(found.structured_content or {})


async def checked(client: Client, question: str, written: str) -> tuple[list[str], list[str]]:
    """The sentences of `written` that the cited passages support, and those that they do not; a refusal supports
    none.
    """
    asked = await call(client, "ask", question=question)
    quoted = " ".join([citation["excerpt"] for citation in asked["citations"]])
    if not asked["is_safe"] or not quoted:
        return [], [written]
    judged = await call(client, "judge", text=quoted, answer=written)
    kept = [one["text"] for one in judged["sentences"] if one["supported"]]
    return kept, [one["text"] for one in judged["sentences"] if not one["supported"]]


async def main() -> None:
    """Start a server over an empty library, index a text, and say what is supported."""
    with tempfile.TemporaryDirectory() as folder:
        options = [
            "-m",
            "rag_core",
            "mcp",
            "--library",
            folder,
            "--scope",
            "ask",
            "--scope",
            "index",
            "--collection",
            "default",
        ]
        async with Client(StdioServerParameters(command=sys.executable, args=options, env=dict(os.environ))) as client:
            await call(client, "index_document", content=POLICY, metadata={"title": "Policy"})
            said, dropped = await checked(client, QUESTION, WRITTEN)
    sys.stdout.write("".join(f"said:    {text}\n" for text in said) + "".join(f"dropped: {text}\n" for text in dropped))


if __name__ == "__main__":
    asyncio.run(main())
