"""Before a gate has let a question pass no model is called: counted by the server, for every gate, in replays and
what-if too.
"""

from __future__ import annotations

from typing import Any

import pytest
from attack_kit import POLICIES, SICK, Arena
from builders import GATE_MODES
from honest_model import honest

from rag_core.decision.decide import decide, replay
from rag_core.decision.what_if import flips
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.engine import Engine
from rag_core.library.stored.sources import text_source
from rag_core.settings import Mode, Settings
from rag_core.wiring import open_engine

FAILING: dict[str, dict[str, Any]] = {  # settings under which each gate fails a question that all others let pass
    "correctness": {"min_correctness": 1.0},
    "answerability": {"min_answerability": 1.0},
    "top_cosine": {"min_top_cosine": 1.0},
    "mean_confidence": {"min_mean_cosine": 1.0},
    "relevance": {"min_relevance": 1.0},
    "distance": {"max_distance": 0.0},
    "min_documents": {"min_documents": 20, "max_distance": 0.1},
    "keywords": {"min_keywords": 10},
    "required_entities": {},
}
QUESTIONS = {
    "correctness": "Who won the chess tournament on the moon?",
    "answerability": "Who won the chess tournament on the moon?",
    "keywords": "How many days of sick leave does the zeppelin captain of the lunar orchestra get?",
    "required_entities": "How many days of sick leave does Zbigniew Kowalczyk have?",
}


def enforced(gate: str) -> dict[str, Any]:
    """All gates off but this one, which is enforced and fails."""
    return {**dict.fromkeys(GATE_MODES.values(), Mode.OFF), GATE_MODES[gate]: Mode.ENFORCE, **FAILING[gate]}


@pytest.mark.parametrize("gate", GATE_MODES)
def test_given_a_gate_that_fails_when_asked_replayed_and_varied_then_the_model_is_called_zero_times(
    arena: Arena, gate: str
):
    """S0-4: no model call before the gates; a replay and a search for what would turn the outcome round make none
    either.
    """
    arena.server.play(honest)
    settings = arena.settings(sufficiency_mode=Mode.ENFORCE, verification_mode=Mode.ENFORCE, **enforced(gate))
    measurements = arena.engine.measure(QUESTIONS.get(gate, SICK), settings, [POLICIES])
    refused = decide(measurements)

    assert refused.reason == gate
    assert not refused.answered
    assert refused.attempts == ()
    assert refused.metadata["calls"] == 0

    loosened = replay(measurements, settings.changed(**{GATE_MODES[gate]: Mode.OFF}))
    assert loosened.reason is Reason.NEEDS_GENERATION, "nothing is invented where a prompt would have to be sent"
    assert loosened.status is AnswerStatus.ERROR
    assert loosened.claims == loosened.citations == ()
    flips(measurements)
    assert arena.server.calls == 0


@pytest.mark.parametrize(
    ("question", "documents"),
    [("Hello!", None), ("Which documents do you have?", None), ("Dobrý den!", None), ("Wer bist du?", None)],
)
def test_given_a_question_that_needs_no_document_when_asked_then_the_model_is_called_zero_times(
    arena: Arena, question: str, documents
):
    arena.server.play(honest)
    decision = arena.engine.ask(question, arena.settings(), documents)

    assert decision.reason in (Reason.GREETING, Reason.ABOUT_LIBRARY)
    assert arena.server.calls == 0


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A library of a few short texts."""
    engine = open_engine(tmp_path_factory.mktemp("small"))
    brief = (
        "The garage opens at 6:00 on working days. A lost ticket costs 25 euros. "
        "Trailers are not admitted to the garage."
    )
    engine.library.add([text_source("garage", brief)], Settings.load())
    return engine
