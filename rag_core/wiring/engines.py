"""Engines over a library's folder with the models that the settings name; corpora in memory alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.adapters import tracing
from rag_core.adapters.embedding.by_name import EMBEDDED, precision_here
from rag_core.adapters.embedding.cache import CachedEmbedder
from rag_core.adapters.embedding.embedded import LANGUAGES
from rag_core.adapters.embedding.intents import talk_of
from rag_core.adapters.embedding.undoing import undoing
from rag_core.adapters.index.choose import vector_store
from rag_core.adapters.optional import require
from rag_core.decision.tools import Tools
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Cancel, Embedder, Progress
from rag_core.engine import Engine, Watch
from rag_core.errors import Conflict
from rag_core.gating import scores as calibrate
from rag_core.library.joined import Joined, joined
from rag_core.library.library import AddReport, Library
from rag_core.library.ready import ReadyCorpus, ready_corpus
from rag_core.library.stored.entry import EXACT_STORE
from rag_core.settings import Settings
from rag_core.settings.login import Login
from rag_core.wiring import models
from rag_core.wiring.folder import calibration_files, contents_of, counts, noting, open_library, uses

if TYPE_CHECKING:
    from rag_core.adapters.signing_keys import SigningKeys


def rebuild_library(
    folder: Path,
    collection: str,
    settings: Settings,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
    *,
    apart: bool = False,
) -> AddReport:
    """Index all documents again from their stored sources, as `Library.rebuild` does; `apart` embeds in a child."""
    vectors = vector_store(settings.vector_store)  # said before a model is loaded
    its = uses(folder, collection, _embedder(settings, apart), vectors)
    return Library.rebuild(folder, collection, settings, progress=progress, cancelled=cancelled, **its)[1]


def _embedder(settings: Settings, apart: bool) -> Embedder:
    return (models.embedder_apart if apart else models.embedder)(settings.embedding_model, settings.embedding_precision)


def open_engine(
    folder: Path, collection: str = "default", settings: Settings | None = None, *, apart: bool = False
) -> Engine:
    """The engine over the library in `folder`; `apart` runs the embedding model in a child process.

    Raises:
        ModelUnavailable: a model cannot be loaded.
        LibraryError: the library cannot be used.
        InvalidInput: its calibration is damaged.
    """
    s = settings or Settings.load()
    model = _embedder(s, apart)
    tools = _tools(s, model, calibration_files(folder, collection), apart)
    return Engine(
        open_library(folder, collection, model, s.vector_store),
        tools,
        noting(folder, collection),
        _watch(folder, collection),
    )


def _watch(folder: Path, collection: str) -> Watch:
    """Whoever is told of each question: the counts, and a collector of traces where the environment names one."""
    counted, traced = counts(folder, collection).watch, traces()
    if traced is None:
        return counted

    def watch(measurements: Measurements, decision: Decision) -> None:
        counted(measurements, decision)
        traced.watch(measurements, decision)

    return watch


@lru_cache(maxsize=1)
def traces() -> tracing.Traces | None:
    """The traces that the environment asks for, one in the process; errors as `tracing.traces`."""
    return tracing.traces(os.environ)


def signing_keys(login: Login) -> SigningKeys:
    require("login", "Signing in")
    from rag_core.adapters.signing_keys import SigningKeys  # takes a tenth of a second, and most do without

    return SigningKeys(login)


def ready_tools(settings: Settings, *, apart: bool = False) -> Tools:
    """The models that the settings name, for ready passages."""
    return _ready_tools(settings.embedding_model, precision_here(settings.embedding_precision), apart)


@lru_cache(maxsize=2)
def _ready_tools(model: str, precision: str, apart: bool) -> Tools:
    s = Settings.load().changed(embedding_model=model, embedding_precision=precision)
    return _tools(s, _embedder(s, apart), (calibrate.FILE,), apart)


def corpus_of(passages: Iterable[object], tools: Tools, cancelled: Cancel | None = None) -> ReadyCorpus:
    """The corpus in memory of passages retrieved elsewhere: exact vectors, and BM25. Errors as `ready_corpus`."""
    return ready_corpus(passages, tools.embedder, vector_store(EXACT_STORE), cancelled)


def joined_corpus(folder: Path, collections: Sequence[str], tools: Tools) -> Joined:
    """These collections as one corpus, in memory; raises LibraryError, or Conflict without documents."""
    for name in collections:
        if contents_of(folder, name) is None:
            raise Conflict(
                f"The collection {name!r} has no documents.", remedy="Check its name, or index documents into it first."
            )
    parts = [open_library(folder, name, tools.embedder).snapshot for name in dict.fromkeys(collections)]
    return joined(parts, vector_store(EXACT_STORE))


def _tools(s: Settings, model: Embedder, files: Sequence[Path], apart: bool) -> Tools:
    """The models and the calibration that measuring needs; `files` are where a calibration is looked for."""
    answers = models.answerability_model(s, apart=apart)
    embedder = CachedEmbedder(model)

    def published() -> Embedder:
        embedded = s.embedding_model == EMBEDDED
        return embedder if embedded else models.embedder(EMBEDDED, s.embedding_precision)

    return Tools(
        embedder,
        calibrate.load(files, calibrate.Identity.of(model, answers)),
        LANGUAGES if s.embedding_model == EMBEDDED else None,
        models.reranker,
        answerability_model=answers,
        entailment_model=partial(models.entailment_model, apart=apart),
        model=models.language_model,
        talk=lambda text: talk_of(text, published()),
        undoing=lambda beside: undoing(beside, published()),
    )
