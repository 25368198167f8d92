"""The presets of all five sources with a language model: their own numbers, and a question each through the real
client.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from builders import MODEL_AUDIT_MODES
from folding import each
from honest_model import draft, honest, kind, passages, refusal, sufficient, verdicts
from model_server import Asked, ModelServer
from scripted_engine import scripted_engine

from rag_core.domain.decision import Decision
from rag_core.domain.llm_trace import Step
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.engine import Engine
from rag_core.settings import Mode, Settings, presets
from rag_core.settings.configuration import load_settings

OFF, OBSERVE, ENFORCE = Mode.OFF, Mode.OBSERVE, Mode.ENFORCE
QUESTION, ANSWER = "How often must the flow meter be calibrated?", "every 5 years"
ELSEWHERE = "What is the capital of France?"
NO_GUARD = {"relevance-prompt", "relevance-llm", "open"}  # no gate of theirs needs no model and refuses that question
TEXTS = {
    "interval": "The flow meter must be calibrated every 5 years, however often it is read. An "
    "accredited laboratory must calibrate the "
    "flow meter, and issues a certificate of calibration. The operator keeps the certificate with the papers of the "
    "flow "
    "meter. A flow meter that was not calibrated must not be used for billing.",
    "order": "When the flow meter must be calibrated, the operator orders the calibration "
    "in writing. The order names the number of "
    "the flow meter. The laboratory confirms the month in which the flow meter will be calibrated. Only a trained "
    "fitter "
    "takes the flow meter that must be calibrated out of the pipe.",
    "after": "After the flow meter was calibrated, the fitter puts the calibrated flow meter "
    "back and seals it. The seal of the flow "
    "meter shows when the flow meter was calibrated. The operator writes into the logbook that the flow meter was "
    "calibrated, and informs the supplier of the water within a month.",
    "scope": "To calibrate the flow meter, the laboratory compares the flow meter with a "
    "reference meter. A flow meter is calibrated "
    "at low, medium and high flow. When the flow meter shows too much or too little, it must be adjusted, and the "
    "deviation "
    "of the flow meter is noted in the certificate of calibration.",
    "kalibrace": "Kalibrace průtokoměru. Průtokoměr musí být kalibrován každých 5 let v "
    "akreditované laboratoři. Laboratoř vydá o "
    "kalibraci průtokoměru certifikát a provozovatel jej uchová u dokladů měřidla. Průtokoměr bez platného certifikátu "
    "se nesmí používat "
    "pro vyúčtování. Kalibraci průtokoměru objednává provozovatel písemně a uvede číslo průtokoměru a místo, kde stojí.",  # noqa: E501
}


ENGLISH = ("interval", "order", "after", "scope")


def test_given_the_preset_of_s0_then_a_model_may_only_compress_and_briefly() -> None:
    """S0-20, S0-21, S0-23: temperature 0, 150 tokens, three sentences; short contexts are returned without a call."""
    s = Settings.load("compliance")

    assert (s.temperature, s.max_tokens, s.max_sentences) == (0.0, 150, 3)
    assert (s.return_short_context, s.short_context_words) == (True, 150)
    assert (s.sufficiency_mode, s.verification_mode) == (OFF, OFF)


@each(
    ("preset", "guard", "verdict"),
    [
        ("relevance-prompt", OBSERVE, OBSERVE),
        ("relevance-guard", ENFORCE, OFF),
        ("relevance-llm", OBSERVE, ENFORCE),
        ("relevance-hybrid", ENFORCE, OFF),
    ],
)
def test_given_the_presets_of_s1_then_each_is_one_of_the_four_set_ups(preset: str, guard: Mode, verdict: Mode) -> None:
    """S1-9, S1-11: the guard by a model refuses on its no and searches no further; the hybrid has the guard by
    similarity.
    """
    s = Settings.load(preset)

    assert (s.relevance_mode, s.sufficiency_mode, s.expand_searches) == (guard, verdict, 0)
    assert s.sufficiency_reads == "top"
    assert (s.correctness_mode, s.main_gate) == (OBSERVE, "cosine")  # the same level, so that one run serves all four


@each(
    ("preset", "temperature", "verification"),
    [
        ("tutor", 0.1, OFF),
        ("tutor-maximum-safety", 0.0, ENFORCE),
        ("tutor-development", 0.1, OFF),
        ("tutor-multilingual", 0.1, ENFORCE),
    ],
)
def test_given_the_presets_of_s2_then_each_has_its_own(preset: str, temperature: float, verification: Mode) -> None:
    """S2-8, S2-24: 0.1 and 500 tokens; 0.0 and verification for safety; no verification for development;
    translation.
    """
    s = Settings.load(preset)

    assert (s.temperature, s.max_tokens, s.verification_mode) == (temperature, 500, verification)
    assert s.translate is (preset == "tutor-multilingual")
    across = {s.overlap_mode, s.similarity_mode, s.support_mode}  # which say nothing across languages
    assert across == ({OBSERVE} if preset == "tutor-multilingual" else {ENFORCE})
    assert {getattr(s, knob) for knob in MODEL_AUDIT_MODES.values()} - {verification} == {ENFORCE} - {verification}


def test_given_the_preset_of_s3_then_its_checks_and_retries_are_its_own() -> None:
    """S3-14, S3-16: temperature 0.1, 1000 tokens, sufficiency at 0.7, verification, three new drafts."""
    s = Settings.load("rag-engine")

    assert (s.temperature, s.max_tokens, s.max_retries) == (0.1, 1000, 3)
    assert (s.sufficiency_mode, s.min_sufficiency, s.verification_mode) == (ENFORCE, 0.7, ENFORCE)


# through the real client


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(honest) as running:
        yield running


@pytest.fixture(scope="module")
def engine(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Five short documents, and the model that the server plays."""
    return scripted_engine(tmp_path_factory.mktemp("presets"), server, TEXTS)


def asked(
    engine: Engine, preset: str, question: str = QUESTION, documents: tuple[str, ...] = ENGLISH, **changed: Any
) -> Decision:
    settings = load_settings(preset, None, changed, {"RAG_MODEL": "scripted"})
    assert settings.drafter == "model"  # no preset says otherwise
    return engine.ask(question, settings, documents)


@each("preset", presets())
def test_given_any_preset_and_an_honest_model_it_drafts(engine: Engine, server: ModelServer, preset: str) -> None:
    """S0-19: a configured model compresses, under every source's preset."""
    server.play(honest)

    decision = asked(engine, preset)

    assert (decision.status, decision.metadata["drafter"]) == (AnswerStatus.SUCCESS, "model"), decision.explanation
    assert ANSWER in decision.answer
    assert "interval" in {one.document for one in decision.citations}
    assert (decision.metadata["citation_coverage"], decision.to_json()["attempts"][0]["action"]) == (1.0, "")
    steps = [call.step for one in decision.attempts for call in (one.attempt.call,)]
    assert steps == [Step.DRAFT]
    s = Settings.load(preset)
    expected = 1 + (s.sufficiency_mode is not OFF) + (s.verification_mode is not OFF)
    assert server.calls == decision.metadata["calls"] == expected
    drafting = next(one for one in server.asked if kind(one) == "draft").body
    assert (drafting["model"], drafting["temperature"]) == ("scripted", s.temperature)
    assert drafting["max_tokens"] >= s.max_tokens


@pytest.mark.parametrize("preset", sorted(NO_GUARD))
def test_given_a_preset_without_gate_then_the_model_refuses(engine: Engine, server: ModelServer, preset: str) -> None:
    """S1-4: the hardened prompt by itself."""
    server.play(
        lambda one: refusal("It is not there.") if kind(one) == "draft" else sufficient("no", missing=("France",))
    )

    decision = asked(engine, preset, ELSEWHERE)

    expected = Reason.SUFFICIENCY if preset == "relevance-llm" else Reason.MODEL_REFUSED
    assert (decision.status, decision.reason) == (AnswerStatus.INSUFFICIENT_CONTEXT, expected)
    assert [kind(one) for one in server.asked] == {
        "relevance-llm": ["sufficiency"],
        "relevance-prompt": ["sufficiency", "draft"],
        "open": ["draft"],
    }[preset]


@each("preset", ["relevance-prompt", "relevance-hybrid", "scoping-lenient", "tutor-development"])
def test_given_the_prompt_as_guard_then_the_model_refuses(engine: Engine, server: ModelServer, preset: str) -> None:
    """S1-1, S1-12, S1-4: only the first source knows a context that is too short to be given to the model."""
    server.play(
        lambda one: refusal("It is not there.") if kind(one) == "draft" else sufficient("no", missing=("France",))
    )
    # past the gates
    near = {
        "min_relevance": -1.0,
        "min_mean_cosine": -1.0,
        "keywords_mode": "off",
        "required_entities_mode": "off",
    }

    decision = asked(engine, preset, ELSEWHERE, ("interval",), **near)

    assert (decision.reason, decision.citations) == (Reason.MODEL_REFUSED, ()), decision.answer
    assert kind(server.asked[-1]) == "draft"


def test_given_strict_mode_off_then_all_passages_go_without_a_level(engine: Engine, server: ModelServer) -> None:
    """S4-24: no distance filter, all documents, the normal prompt; the model's own refusal stays."""
    server.play(honest)
    far = {"low_distance": 0.0, "medium_distance": 0.0, "high_distance": 0.0, "max_distance": 0.0}
    off = load_settings("scoping", None, far, {"RAG_MODEL": "scripted", "RAG_STRICT_MODE": "false"})

    decision = engine.ask(QUESTION, off, ENGLISH)

    (prompt,) = server.asked
    assert (decision.status, decision.metadata["drafter"]) == (AnswerStatus.SUCCESS, "model"), decision.explanation
    assert decision.attempts[0].attempt.asked[0] == "level:none"
    assert len(passages(prompt)) == decision.metadata["raw_count"]
    assert not [mark for mark in ("HIGH", "MEDIUM", "LOW", "CRITICAL") if f"{mark} confidence" in prompt.system]
    on = engine.ask(QUESTION, off.changed(levels=True), ENGLISH)
    assert on.reason is Reason.LEVEL
    server.play(honest)
    assert engine.ask(ELSEWHERE, off, ENGLISH).reason is Reason.MODEL_REFUSED


def test_given_a_foreign_passage_then_the_tutor_answers_in_the_asked_one(engine: Engine, server: ModelServer) -> None:
    """S2-24: the answer in the language of the question; a sentence of another language may be quoted for it, word for
    word.
    """
    sentence = "Průtokoměr musí být kalibrován každých 5 let v akreditované laboratoři."

    def translating(one: Asked) -> object:
        if kind(one) != "draft":
            return honest(one) if kind(one) == "sufficiency" else verdicts("yes")
        source = next(source for source, text in passages(one).items() if sentence in text)
        return draft(("The flow meter must be calibrated every 5 years in an accredited laboratory.", source, sentence))

    server.play(translating)
    decision = asked(
        engine, "tutor-multilingual", documents=("kalibrace",), short_context_words=10, min_correctness=0.0
    )

    assert (decision.status, decision.metadata["drafter"]) == (AnswerStatus.SUCCESS, "model"), decision.to_json()[
        "attempts"
    ]
    assert ANSWER in decision.answer
    assert sentence in decision.citations[0].excerpt
    server.play(translating)
    other = asked(engine, "tutor", documents=("kalibrace",), short_context_words=10, min_mean_cosine=-1.0)
    assert server.calls == 0
    assert "another language" in other.metadata["drafter_note"]
