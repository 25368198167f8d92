"""A guard by a language model has no exceptions: enforced, it is asked or it refuses, however short the context is.

The real client.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from folding import each
from honest_model import honest, kind, sufficient
from model_server import ModelServer, Status
from scripted_engine import scripted_engine

from rag_core.decision.decide import decide
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import State
from rag_core.engine import Engine
from rag_core.language import refusal
from rag_core.settings import Mode, Settings, presets
from rag_core.settings.configuration import load_settings

QUESTION = "Was ist ein Knowledge Graph?"
# 41 words about something else
OMNITRACKER = (
    "OMNITRACKER ist eine Plattform für das Management von Services. Störungen und Änderungen werden darin als Tickets "
    "erfasst und einem "
    "Bearbeiter zugewiesen. Die Lizenz gilt für fünfzig benannte Nutzer. Der Support ist werktags von acht bis "
    "achtzehn Uhr unter der "
    "Rufnummer erreichbar."
)
TEXTS = {
    "omnitracker": OMNITRACKER,
    "rules": "Employees have 20 days of vacation a year.",
    "handbook": "Employees have 25 days of vacation a year.",
    "long": "\n".join(
        f"Part {n} of the manual is about valve {n}, which is closed when pump {n} stands still. " * 9 for n in range(5)
    ),
}
VACATION, PARTS = "How many days of vacation do employees have?", "When is valve 3 closed?"
# question, documents and settings of each reason for which the model drafts nothing
NOT_DRAFTED: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "too few": (QUESTION, ("omnitracker",), {"short_context_words": 150}),
    "contradict": (VACATION, ("rules", "handbook"), {"short_context_words": 10}),
    "another language": ("What is OMNITRACKER?", ("omnitracker",), {"short_context_words": 10}),
}
GUARDS = sorted(name for name in presets() if Settings.load(name).sufficiency_mode is Mode.ENFORCE)
OPEN = {"correctness_mode": "observe"}  # so that the question comes to the guard under every preset


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(honest) as running:
        yield running


@pytest.fixture(scope="module")
def engine(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A few short texts and a long one, and the model that the server plays."""
    return scripted_engine(tmp_path_factory.mktemp("guard"), server, TEXTS)


def measured(
    engine: Engine, preset: str, question: str = QUESTION, documents: tuple[str, ...] = ("omnitracker",), **changed: Any
) -> Measurements:
    settings = load_settings(preset, None, {**OPEN, "model_cache": False, **changed}, {"RAG_MODEL": "scripted"})
    return engine.measure(question, settings, documents)


def test_given_the_presets_then_two_of_them_enforce_a_guard_by_a_model() -> None:
    assert GUARDS == ["rag-engine", "relevance-llm"]


@each("preset", GUARDS)
@each("why", NOT_DRAFTED)
def test_given_a_model_that_says_no_when_it_would_not_draft_then_it_is_asked_all_the_same_and_refuses(
    engine: Engine, server: ModelServer, why: str, preset: str
) -> None:
    """S1-1, S1-9, S1-12: the source's own question over 41 words about something else is refused, in its language."""
    question, documents, values = NOT_DRAFTED[why]
    server.play(lambda one: sufficient("no", 0.9, reasoning="The passages are about a platform."))

    decision = decide(measured(engine, preset, question, documents, **values))

    assert (decision.status, decision.reason) == (AnswerStatus.INSUFFICIENT_CONTEXT, Reason.SUFFICIENCY), (
        why,
        decision.explanation,
    )
    assert {kind(one) for one in server.asked} == {"sufficiency"}
    assert decision.answer == refusal(decision.language)
    assert why != "too few" or decision.answer == "Diese Information ist nicht in der Wissensdatenbank verfügbar."
    assert (decision.trace["sufficiency"].state, decision.trace["sufficiency"].value) == (State.FAILED, 0.0)


@each("preset", GUARDS)
def test_given_no_model_at_all_when_the_guard_is_enforced_then_it_refuses_and_says_what_to_do(
    engine: Engine, server: ModelServer, preset: str
) -> None:
    """S1-9, S1-12: a guard that cannot be asked lets nothing through."""
    server.play(honest)
    settings = load_settings(preset, None, OPEN, {})

    decision = engine.ask(QUESTION, settings, ("omnitracker",))

    assert settings.drafter == "extract"
    assert (decision.status, decision.reason, server.calls) == (AnswerStatus.ERROR, Reason.NOT_RUN, 0)
    assert decision.trace["sufficiency"].state is State.NOT_RUN
    assert "no language model drafts under these settings" in decision.explanation
    assert any("Let a language model draft" in step for step in decision.suggestions)


def test_given_a_partial_answer_when_the_extract_stands_then_its_level_is_low_and_a_note_says_so(
    engine: Engine, server: ModelServer
) -> None:
    """S3-12: what the model says of the passages holds whoever drafts, also where its own draft fails."""
    server.play(lambda one: sufficient("partial", 0.9) if kind(one) == "sufficiency" else Status(500))
    values: dict[str, Any] = {"main_gate": "cosine", "high_distance": 2.0}
    short = decide(measured(engine, "relevance-llm", VACATION, ("rules",), **values))
    failed = decide(measured(engine, "relevance-llm", PARTS, ("long",), **values))

    for decision in (short, failed):
        assert decision.answered, decision.explanation
        assert decision.metadata["drafter"] == "extract"
        assert decision.confidence_level is ConfidenceLevel.LOW
        assert any("a part of the question only" in note for note in decision.notes)


def test_given_a_guard_that_refuses_then_its_reasoning_is_in_the_trace_and_no_text_in_the_log(
    engine: Engine, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """S1-9, S3-10: can_answer, confidence, reasoning, and what is missing in the model's words."""
    why, wanted = "The passages are about a platform for tickets.", "was ein Graph ist"
    server.play(lambda one: sufficient("no", 0.8, missing=(wanted,), reasoning=why))
    settings = load_settings("relevance-llm", None, {"model_cache": False}, {"RAG_MODEL": "scripted"})

    with caplog.at_level(logging.INFO):
        decision = engine.ask(QUESTION, settings, ("omnitracker",))

    (row,) = decision.to_json()["judgements"]
    assert (row["can_answer"], row["confidence"], row["reasoning"], row["passages"]) == (
        "no",
        0.8,
        why,
        len(decision.retrieved),
    )
    assert row["missing"] == [wanted]
    assert "llm_rejected_contexts score=0.8000" in caplog.text
    assert not [word for word in ("platform", "Tickets", "Knowledge", "Lizenz") if word in caplog.text]
    assert why not in repr(
        (decision.explanation, decision.notes, decision.suggestions, decision.metadata, decision.trace)
    )
