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
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.engine import Engine
from rag_core.library.stored.sources import text_source
from rag_core.settings import Mode, Settings
from rag_core.wiring import open_engine

FAILING: dict[str, dict[str, Any]] = {  # settings under which each gate fails a question that all others let pass
    "correctness": {"min_correctness": 1.0, "correctness_extra_procedural": 0.0},
    "answerability": {"min_answerability": 1.0, "answerability_extra_procedural": 0.0},
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


def test_given_an_empty_library_when_asked_then_the_model_is_called_zero_times(arena: Arena, tmp_path):
    """S0-3, S1-5: without a passage there is nothing to compress."""
    arena.server.play(honest)
    decision = open_engine(tmp_path).ask(SICK, arena.settings())

    assert decision.reason is Reason.NOTHING_RETRIEVED
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


def test_given_a_context_of_at_most_150_words_when_asked_then_the_extract_answers_without_a_call(
    arena: Arena, small: Engine
):
    """S0-21: a short context is returned as it is; there is nothing to compress."""
    arena.server.play(honest)
    decision = small.ask("What does a lost ticket cost?", arena.settings())

    assert decision.answered
    assert decision.metadata["drafter"] == "extract"
    assert "too few" in decision.metadata["drafter_note"]
    assert arena.server.calls == 0


def test_given_sources_that_contradict_each_other_when_asked_then_both_are_quoted_without_a_call(arena: Arena):
    """S4-21: both sides are shown with their citations, and no model chooses between them."""
    arena.server.play(honest)
    decision = arena.engine.ask(SICK, arena.settings(), [POLICIES, "company-policies-2024.pdf"])

    assert decision.answered
    assert decision.conflicts
    assert {citation.document for citation in decision.citations} == {POLICIES, "company-policies-2024.pdf"}
    assert decision.metadata["drafter"] == "extract"
    assert arena.server.calls == 0


def test_given_a_level_too_low_when_asked_then_it_is_refused_without_a_call(arena: Arena):
    """S4-8: at the level `insufficient` no model is asked."""
    arena.server.play(honest)
    observed = {
        **dict.fromkeys(GATE_MODES.values(), Mode.OFF),
        "main_gate": "cosine",
        "high_distance": 0.1,
        "medium_distance": 0.1,
        "low_distance": 0.1,
    }
    decision = arena.engine.ask(SICK, arena.settings(**observed), [POLICIES])

    assert decision.confidence_level is ConfidenceLevel.INSUFFICIENT
    assert decision.reason is Reason.LEVEL
    assert arena.server.calls == 0


def test_given_the_extract_as_drafter_when_asked_then_a_configured_model_is_called_zero_times(arena: Arena):
    arena.server.play(honest)
    decision = arena.engine.ask(SICK, arena.settings(drafter="extract"), [POLICIES])

    assert decision.answered
    assert arena.server.calls == 0


def test_given_an_answer_of_a_model_when_replayed_and_varied_then_no_further_call_is_made(arena: Arena):
    """S0-4: a record is judged again, and where it ends the replay says so."""
    arena.server.play(honest)
    measurements = arena.engine.measure(SICK, arena.settings(), [POLICIES])
    answered = decide(measurements)
    calls = arena.server.calls

    assert answered.metadata["drafter"] == "model"
    assert (
        replay(
            measurements,
            measurements.settings.changed(correctness_mode=Mode.ENFORCE, min_correctness=1.0, fallback_extract=True),
        ).reason
        is Reason.CORRECTNESS
    )
    assert (
        replay(measurements, measurements.settings.changed(sufficiency_mode=Mode.ENFORCE)).reason
        is Reason.NEEDS_GENERATION
    )
    assert (
        replay(measurements, measurements.settings.changed(verification_mode=Mode.ENFORCE)).reason
        is Reason.NEEDS_GENERATION
    )
    flips(measurements)
    assert calls == arena.server.calls == 1
