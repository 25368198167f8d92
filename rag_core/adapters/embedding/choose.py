"""The embedding model by its name: the embedded one, another of sentence-transformers, or one of a server."""

from __future__ import annotations

from rag_core.adapters.embedding.by_name import EMBEDDED, PREFIX, SentenceTransformerEmbedder
from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.domain.ports import Embedder


def load_embedder(model: str, precision: str) -> Embedder:
    """The embedded model, one of sentence-transformers, or `openai:` and a server's; raises ModelUnavailable."""
    if model.startswith(PREFIX):
        from rag_core.adapters.embedding.openai_server import OpenAIEmbedder

        return OpenAIEmbedder(model, EmbeddedModel(precision))
    return EmbeddedModel(precision) if model == EMBEDDED else SentenceTransformerEmbedder(model, precision)
