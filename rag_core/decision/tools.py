"""The models and clocks that measuring needs from outside, and which of them the settings name."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from rag_core.domain.ports import AnswerabilityModel, Embedder, EntailmentModel, LanguageModel, Reranker, Undoing, never
from rag_core.errors import ModelUnavailable
from rag_core.gating.scores import Calibration
from rag_core.settings import Settings


@dataclass(frozen=True, slots=True)
class Tools:
    """The models and clocks that measuring needs from outside.

    `known_languages` are those the embedding model knows, None for any; `clock` returns seconds. `entailment_model`
    gives the one that the settings name, None where they name none, and loads it when it is first asked. `model` gives
    the language model that the settings ask for, None where none is configured. `talk` tells small talk and questions
    about the documents as such (`rag_core.domain.replies.TALK`), and gives "" for a question about what they say; with
    none, every text is one. `undoing` tells how likely texts beside a sentence undo it; with none, none does.
    """

    embedder: Embedder
    calibration: Calibration | None = None
    known_languages: frozenset[str] | None = None
    reranker: Callable[[str], Reranker] | None = None
    clock: Callable[[], float] = time.perf_counter
    today: Callable[[], date] = date.today
    answerability_model: AnswerabilityModel | None = None
    entailment_model: Callable[[Settings], EntailmentModel | None] | None = None
    model: Callable[[Settings], LanguageModel | None] | None = None
    talk: Callable[[str], str] = lambda _: ""
    undoing: Undoing = never

    def knows(self, language: str) -> bool:
        """Whether the embedding model knows a language; "und" counts as known, since nothing speaks against it."""
        return self.known_languages is None or language in self.known_languages or language == "und"


def reranker_for(name: str, tools: Tools) -> Reranker | None:
    """The reranker that the settings name; one that cannot be had is an error, never left out."""
    if not name:
        return None
    if tools.reranker is None:
        raise ModelUnavailable(
            f"No reranker can be loaded here, and {name!r} is asked for.", remedy="Leave `reranker` empty."
        )
    return tools.reranker(name)


def entailment_model_for(settings: Settings, tools: Tools) -> EntailmentModel | None:
    """The entailment model that the settings name; None where claims are checked by facts and overlap only."""
    return tools.entailment_model(settings) if tools.entailment_model else None
