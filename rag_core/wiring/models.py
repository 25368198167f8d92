"""The models that the settings name: each loaded once a process, or in a child of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from rag_core.adapters.child.process import ProcessAnswerability, ProcessEmbedder, ProcessEntailment
from rag_core.adapters.embedding.by_name import CrossEncoderReranker, precision_here
from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.embedding.reader import MODEL_FILE, ReaderModel
from rag_core.adapters.embedding.support import SUPPORT_FILE, SupportOnDemand
from rag_core.adapters.llm.chain import model_chain
from rag_core.domain.ports import AnswerabilityModel, Embedder, EntailmentModel, LanguageModel
from rag_core.errors import InvalidSetting
from rag_core.settings import Settings
from rag_core.settings.endpoints import Endpoint, endpoints, model_environment

_starting = threading.Lock()  # two threads that open a library each must not start two children


def embedder(model: str, precision: str) -> Embedder:
    """The embedding model, loaded once a process, whether its precision is chosen by name or by "auto"."""
    return _loaded(model, precision_here(precision))


_loaded = lru_cache(maxsize=2)(load_embedder)


def embedder_apart(model: str, precision: str) -> ProcessEmbedder:
    """The same model in a child, one for this process. What is asked of it waits until it is loaded."""
    with _starting:
        return _apart(model, precision_here(precision))


_apart = lru_cache(maxsize=2)(ProcessEmbedder)


@lru_cache(maxsize=2)
def reranker(model: str) -> CrossEncoderReranker:
    """A cross-encoder by name or folder, loaded once a process."""
    return CrossEncoderReranker(model)


def answerability_model(settings: Settings, *, apart: bool = False) -> AnswerabilityModel | None:
    """The reader, loaded once a process, or in the embedding model's child; None where its file was left out."""
    if not MODEL_FILE.exists():
        return None
    if apart:
        return ProcessAnswerability(embedder_apart(settings.embedding_model, settings.embedding_precision))
    return _reader()


_reader = lru_cache(maxsize=1)(ReaderModel)


def entailment_model(settings: Settings, *, apart: bool = False) -> EntailmentModel | None:
    """The support model, here or in the embedding model's child; None where its file was left out."""
    if not SUPPORT_FILE.exists():
        return None
    precision = precision_here(settings.embedding_precision)
    if apart:
        return ProcessEntailment(embedder_apart(settings.embedding_model, settings.embedding_precision), precision)
    return _support(precision)


_support = lru_cache(maxsize=2)(SupportOnDemand)


def language_model(settings: Settings, environment: Mapping[str, str] | None = None) -> LanguageModel | None:
    """The configured language models in order, the settings' first; or None."""
    places = configured_models(settings, environment)
    return model_chain(places) if places else None


def configured_models(settings: Settings, environment: Mapping[str, str] | None = None) -> tuple[Endpoint, ...]:
    """Where language models are asked, in order, each with its model's name; errors as in `language_model`."""
    found = endpoints(model_environment(os.environ) if environment is None else environment)
    places = tuple(replace(place, model=place.model or settings.model) for place in found)
    if places and settings.model:
        places = (replace(places[0], model=settings.model), *places[1:])
    if not all(place.model for place in places):
        raise InvalidSetting("No language model is named.", remedy="Set RAG_MODEL, or the setting `model`.")
    return places
