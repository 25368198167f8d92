"""The models that the settings name: each loaded once a process, or in a child of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

from rag_core.adapters.child.process import ProcessAnswerability, ProcessEmbedder, ProcessEntailment
from rag_core.adapters.embedding.by_name import CrossEncoderReranker, precision_here
from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.embedding.reader import MODEL_FILE, ReaderModel, version_of
from rag_core.adapters.embedding.support import SUPPORT_FILE, SUPPORT_LANGUAGES
from rag_core.adapters.entailment.by_name import EMBEDDED as EMBEDDED_ENTAILMENT
from rag_core.adapters.entailment.by_name import NONE as NO_ENTAILMENT
from rag_core.adapters.entailment.by_name import EntailmentOnDemand, declared_languages, load_entailment_model
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
    """The entailment model that the settings name, loaded when first asked; None for none, or without its file."""
    model, languages = settings.verifier, settings.verifier_languages
    known = declared_languages(languages)
    if model == NO_ENTAILMENT or (model == EMBEDDED_ENTAILMENT and not SUPPORT_FILE.exists()):
        return None
    if model != EMBEDDED_ENTAILMENT and not known:
        raise InvalidSetting(
            f"Nothing says which languages the verifier {model!r} reads.",
            remedy="Set verifier_languages, such as en, cs.",
        )
    child = embedder_apart(settings.embedding_model, settings.embedding_precision) if apart else None
    return _entailment_model(model, precision_here(settings.embedding_precision), languages, child)


@lru_cache(maxsize=2)
def _entailment_model(model: str, precision: str, languages: str, child: ProcessEmbedder | None) -> EntailmentModel:
    named = model, precision, languages
    version, known = f"{model}@{precision}", declared_languages(languages)
    if model == EMBEDDED_ENTAILMENT:
        version, known = version_of(SUPPORT_FILE), SUPPORT_LANGUAGES
    if child:
        return ProcessEntailment(child, named, version, known)
    return EntailmentOnDemand(partial(load_entailment_model, *named), version, known)


def language_model(settings: Settings, environment: Mapping[str, str] | None = None) -> LanguageModel | None:
    """The configured language models in order, the settings' first; or None."""
    places = configured_models(settings, environment)
    return model_chain(places, settings.structured_outputs) if places else None


def configured_models(settings: Settings, environment: Mapping[str, str] | None = None) -> tuple[Endpoint, ...]:
    """Where language models are asked, in order, each with its model's name; errors as in `language_model`."""
    found = endpoints(model_environment(os.environ) if environment is None else environment)
    places = tuple(replace(place, model=place.model or settings.model) for place in found)
    if places and settings.model:
        places = (replace(places[0], model=settings.model), *places[1:])
    if not all(place.model for place in places):
        raise InvalidSetting("No language model is named.", remedy="Set RAG_MODEL, or the setting `model`.")
    return places
