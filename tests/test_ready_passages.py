"""The adapters of `examples/ready_passages.py`: by shape everywhere, and with the packages themselves where they are
installed.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from builders import HashEmbedder, settings, tools

import rag_core.over
from examples.ready_passages import from_langchain, from_llamaindex
from rag_core import ReadyPassage, decide_over
from rag_core.settings import Mode

LEAVE = "Every employee has 25 days of paid vacation a year."
NOTICE = "The notice period is 30 days."
ASKED = "What is the notice period?"


@pytest.fixture(autouse=True)
def _models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag_core.over, "ready_tools", lambda settings: tools())


def test_given_a_document_of_langchain_by_shape_then_its_page_counts_from_one() -> None:
    about: dict[str, Any] = {"source": "policy.pdf", "page": 0, "title": "Policy", "author": "somebody", "date": None}
    document = SimpleNamespace(page_content=NOTICE, metadata=about)

    assert from_langchain(document, 0.7) == ReadyPassage(
        NOTICE, "policy.pdf", 1, score=0.7, metadata={"title": "Policy"}
    )
    assert from_langchain(SimpleNamespace(page_content=NOTICE, metadata={})) == ReadyPassage(NOTICE)


def test_given_a_node_of_llamaindex_by_shape_then_its_label_is_the_page_where_it_is_a_number() -> None:
    def node(**fields: Any) -> SimpleNamespace:
        return SimpleNamespace(get_content=lambda: NOTICE, **fields)

    about = {"file_name": "policy.pdf", "page_label": "4"}
    assert from_llamaindex(node(metadata=about, score=0.5)) == ReadyPassage(NOTICE, "policy.pdf", 4, score=0.5)
    assert from_llamaindex(node(metadata={"page_label": "iv"})) == ReadyPassage(NOTICE)


@pytest.mark.langchain
def test_given_a_retriever_of_langchain_when_plumbline_stands_behind_it_then_it_answers_with_a_citation_or_refuses() -> (  # noqa: E501
    None
):
    documents = pytest.importorskip("langchain_core.documents", reason="langchain-core is not installed")
    from langchain_core.runnables import RunnableLambda
    from langchain_core.vectorstores import InMemoryVectorStore

    class Embeddings:
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[float(x) for x in row] for row in HashEmbedder().embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    store = InMemoryVectorStore(Embeddings())  # type: ignore[arg-type]
    store.add_documents(
        [documents.Document(text, metadata={"source": "p.pdf", "page": n}) for n, text in enumerate((LEAVE, NOTICE))]
    )
    guard = RunnableLambda(
        lambda asked: decide_over(
            asked,
            [from_langchain(*found) for found in store.similarity_search_with_score(asked)],
            settings(correctness_mode=Mode.ENFORCE),
        )
    )

    decision = guard.invoke(ASKED)
    assert decision.answer.startswith(NOTICE)
    assert [(one.document, one.page) for one in decision.citations] == [("p.pdf", 2)]
    assert decision.trace["given_scores"].state == "passed"
    assert not guard.invoke("Who won the football world cup?").answered


def test_given_nodes_of_llamaindex_then_the_answer_names_file_and_page() -> None:
    schema = pytest.importorskip("llama_index.core.schema", reason="llama-index-core is not installed")
    nodes = [
        schema.NodeWithScore(
            node=schema.TextNode(text=text, metadata={"file_name": "p.pdf", "page_label": str(n)}), score=1 / n
        )
        for n, text in enumerate((LEAVE, NOTICE), 1)
    ]

    decision = decide_over(ASKED, map(from_llamaindex, nodes), settings(correctness_mode=Mode.ENFORCE))

    assert next((one.document, one.page, one.excerpt) for one in decision.citations) == ("p.pdf", 2, NOTICE)
    assert decision.metadata["given_passages"]["scores"] == [1.0, 0.5]
