"""Put Plumbline behind a retrieval of your own: passages of LangChain, LlamaIndex or anything else, answered from or
refused.

Run it from the repository: python -m examples.ready_passages
"""

import sys
from dataclasses import dataclass, field
from typing import Any

from rag_core import Decision, ReadyPassage, decide_over, sources_list

KEPT = ("title", "date", "authority", "verified")  # keys of metadata that a document's facts are read from


def from_langchain(document: Any, score: float | None = None) -> ReadyPassage:
    """A `Document` of LangChain; `score` comes with `similarity_search_with_score`.

    Its PDF loaders count pages from 0.
    """
    about = document.metadata
    page = about["page"] + 1 if isinstance(about.get("page"), int) else None
    return ReadyPassage(document.page_content, str(about.get("source", "")), page, score=score, metadata=kept(about))


def from_llamaindex(node: Any) -> ReadyPassage:
    """A `NodeWithScore` or a node of LlamaIndex; its readers give a page's label as text."""
    about = node.metadata
    label = str(about.get("page_label", ""))
    page = int(label) if label.isdecimal() and int(label) else None
    score = getattr(node, "score", None)
    return ReadyPassage(node.get_content(), str(about.get("file_name", "")), page, score=score, metadata=kept(about))


def kept(metadata: dict[str, Any]) -> dict[str, Any]:
    """The facts about a document among what a retrieval keeps beside a passage."""
    return {key: metadata[key] for key in KEPT if metadata.get(key) is not None}


def show(decision: Decision) -> None:
    """The answer with its sources, or the refusal with its reason; and what was not measured."""
    sys.stdout.write(f"\n{decision.question}\n{decision.status}: {decision.answer}\n")
    sys.stdout.write(
        "".join(f"  {line}\n" for line in sources_list(decision.citations)) or f"  {decision.explanation}\n"
    )
    unmeasured = [row for row in decision.trace.checks if row.state == "not_run" and row.mode == "observe"]
    sys.stdout.write("".join(f"  not measured, {row.stage}: {row.note}\n" for row in unmeasured))


@dataclass
class Found:
    """Stands for LangChain's `Document`, so that this runs without it."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=lambda: {"source": "policy.pdf", "page": 2})


def main() -> None:
    """Two questions over what a retriever might have returned."""
    retrieved = [
        Found("Every full-time employee has 25 days of paid vacation a year."),
        Found("The notice period is two months."),
    ]
    passages = [from_langchain(document) for document in retrieved]
    for question in ("How many days of vacation does an employee have?", "What is the capital of France?"):
        show(decide_over(question, passages))


if __name__ == "__main__":
    main()
