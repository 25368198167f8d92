"""The composition root: the only module that names adapters."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rag_core import calibrate
from rag_core.adapters.bm25_index import Bm25Store
from rag_core.adapters.embedding_cache import CachedEmbedder
from rag_core.adapters.faiss_index import FaissStore
from rag_core.adapters.sentence_transformers import EMBEDDED, EMBEDDED_LANGUAGES, CrossEncoderReranker, SentenceTransformerEmbedder
from rag_core.engine import Engine
from rag_core.ingest.library import AddReport, Library
from rag_core.measure import Tools
from rag_core.ports import Embedder, Progress
from rag_core.settings import Settings


@lru_cache(maxsize=2)
def embedder(model: str, precision: str) -> SentenceTransformerEmbedder:
    """The embedding model, loaded once a process."""
    return SentenceTransformerEmbedder(model, precision)


@lru_cache(maxsize=2)
def reranker(model: str) -> CrossEncoderReranker:
    """A cross-encoder by name or folder, loaded once a process."""
    return CrossEncoderReranker(model)


def open_library(folder: Path, namespace: str, model: Embedder) -> Library:
    """A library on local disk: FAISS for vectors, BM25 for words."""
    return Library.open(folder, namespace, embedder=model, vectors=FaissStore(), lexical=Bm25Store())


def rebuild_library(folder: Path, namespace: str, settings: Settings, progress: Progress | None = None) -> AddReport:
    """Index all documents of a library again from their stored sources, with the model that the settings name."""
    model = embedder(settings.embedding_model, settings.embedding_precision)
    _, report = Library.rebuild(folder, namespace, settings, embedder=model, vectors=FaissStore(), lexical=Bm25Store(), progress=progress)
    return report


def build_engine(folder: Path, namespace: str = "default", settings: Settings | None = None) -> Engine:
    """The engine over the library in `folder`, with the models that the settings name.

    Raises:
        ModelUnavailable: a model cannot be loaded.
        LibraryError: the library cannot be used.
    """
    s = settings or Settings.load()
    model = embedder(s.embedding_model, s.embedding_precision)
    known = EMBEDDED_LANGUAGES if s.embedding_model == EMBEDDED else None
    return Engine(open_library(folder, namespace, model), Tools(CachedEmbedder(model), calibrate.load(model.name), known, reranker))
