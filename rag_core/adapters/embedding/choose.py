"""The embedding model by its name: the embedded one, another of sentence-transformers, or one of a server."""

from __future__ import annotations

from rag_core.adapters.embedding.by_name import (
    EMBEDDED,
    EMBEDDED_BEFORE,
    PREFIX,
    SentenceTransformerEmbedder,
)
from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.domain.ports import Embedder
from rag_core.errors import ModelUnavailable


def load_embedder(model: str, precision: str) -> Embedder:
    """The embedded model, any other of sentence-transformers by name or folder, or `openai:` and the name of one on a
    server.

    Raises:
        ModelUnavailable: it cannot be loaded.
    """
    if model == EMBEDDED_BEFORE:
        raise ModelUnavailable(
            f"This library was built with {model}, which does not come with the program any more.",
            remedy="Build it anew from its files: python -m rag_core index --rebuild, or the form on the page.",
        )
    if model.startswith(PREFIX):
        from rag_core.adapters.embedding.openai_server import OpenAIEmbedder

        return OpenAIEmbedder(model, EmbeddedModel(precision))
    return EmbeddedModel(precision) if model == EMBEDDED else SentenceTransformerEmbedder(model, precision)
