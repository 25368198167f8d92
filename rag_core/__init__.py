"""Plumbline's core: answers from documents with page-accurate citations, or a truthful refusal.

The names below are the public face: they keep their meaning from one version to the next, and all else may move.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_core import errors as errors
    from rag_core import evaluation as evaluation
    from rag_core.conversation.stand_alone import StandAlone as StandAlone
    from rag_core.conversation.stand_alone import stand_alone as stand_alone
    from rag_core.decision.decide import decide as decide
    from rag_core.decision.decide import replay as replay
    from rag_core.domain.answer import Answer as Answer
    from rag_core.domain.answer import Refusal as Refusal
    from rag_core.domain.answer import Reply as Reply
    from rag_core.domain.decision import Decision as Decision
    from rag_core.domain.given import ReadyPassage as ReadyPassage
    from rag_core.domain.measurements import Measurements as Measurements
    from rag_core.domain.passages import Passage as Passage
    from rag_core.engine import Engine as Engine
    from rag_core.grounding.citations import sources_list as sources_list
    from rag_core.grounding.judge import judge_claims as judge_claims
    from rag_core.library.stored.sources import Source as Source
    from rag_core.library.stored.sources import text_source as text_source
    from rag_core.over import ask_over as ask_over
    from rag_core.over import decide_over as decide_over
    from rag_core.settings import Settings as Settings
    from rag_core.settings.configuration import load_settings as load_settings
    from rag_core.settings.endpoints import model_environment as model_environment
    from rag_core.wiring import open_engine as open_engine

__version__ = "0.1.0"

# Where each name lives; a name that is a module of the core itself has no other place. They are imported when they are
# first used: the page starts its model's process before all else. The imports above say the same to type checkers and
# readers; a test compares the two.
_PLACES = {
    "Answer": "domain.answer",
    "Decision": "domain.decision",
    "Engine": "engine",
    "Measurements": "domain.measurements",
    "Passage": "domain.passages",
    "ReadyPassage": "domain.given",
    "Refusal": "domain.answer",
    "Reply": "domain.answer",
    "Settings": "settings",
    "Source": "library.stored.sources",
    "StandAlone": "conversation.stand_alone",
    "ask_over": "over",
    "decide": "decision.decide",
    "decide_over": "over",
    "errors": "",
    "evaluation": "",
    "judge_claims": "grounding.judge",
    "load_settings": "settings.configuration",
    "model_environment": "settings.endpoints",
    "open_engine": "wiring",
    "replay": "decision.decide",
    "stand_alone": "conversation.stand_alone",
    "sources_list": "grounding.citations",
    "text_source": "library.stored.sources",
}

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"rag_core has no public name {name!r}")
    place = _PLACES[name]
    return getattr(import_module(f"rag_core.{place}"), name) if place else import_module(f"rag_core.{name}")
