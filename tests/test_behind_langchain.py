"""Plumbline behind a retriever of LangChain: a chain of its own parts, with the default settings and the embedded
models.
"""

from __future__ import annotations

from typing import Any

import pytest

from examples.ready_passages import from_langchain
from rag_core import decide_over

pytestmark = pytest.mark.langchain

LEAVE = "Every full-time employee has 25 days of paid vacation a year."
NOTICE = "The notice period is two months."


def chain(*texts: str) -> Any:
    """A retriever that finds all of these pages, and the guard behind it."""
    documents = pytest.importorskip("langchain_core.documents", reason="langchain-core is not installed")
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    pages = [documents.Document(text, metadata={"source": "handbook.pdf", "page": n}) for n, text in enumerate(texts)]

    class Everything(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            return pages

    guard = RunnableLambda(lambda row: decide_over(row["question"], map(from_langchain, row["found"])))
    return {"question": RunnablePassthrough(), "found": Everything()} | guard


def test_given_a_retriever_when_asked_through_the_chain_then_it_answers_with_the_page_or_refuses() -> None:
    asked = chain(LEAVE, NOTICE)

    decision = asked.invoke("How many days of vacation does a full-time employee have?")
    assert decision.answered
    assert "25 days" in decision.answer
    assert [(one.document, one.page) for one in decision.citations] == [("handbook.pdf", 1)]
    assert not asked.invoke("What is the capital of France?").answered
