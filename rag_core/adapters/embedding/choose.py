"""The embedding model by its name: the embedded one, another of sentence-transformers, or one of a server."""

from __future__ import annotations

from rag_core.adapters.embedding.by_name import EMBEDDED, PREFIX, SentenceTransformerEmbedder
from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.domain.ports import Embedder


def load_embedder(model: str, precision: str) -> Embedder:
    """The embedded model, any other of sentence-transformers by name or folder, or `openai:` and the name of one on a
    server.

    Raises:
        ModelUnavailable: it cannot be loaded.
    """
    if model.startswith(PREFIX):
        from rag_core.adapters.embedding.openai_server import OpenAIEmbedder

        return OpenAIEmbedder(model, EmbeddedModel(precision))
    return EmbeddedModel(precision) if model == EMBEDDED else SentenceTransformerEmbedder(model, precision)
