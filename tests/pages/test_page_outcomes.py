"""How a decision is said in a line: in words a stranger knows, and never more certain than its number."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import measurements, settings
from folding import each

from rag_core.decision.decide import decide
from rag_core.decision.summary import Ending, ending_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.language import refusal
from rag_core.language import unsure as unsure_sentence
from rag_core.settings import Mode, Settings
from ui.app.asked import Asked
from ui.app.scope import Scope
from ui.app.texts import say
from ui.ask import export
from ui.ask.refusal import outcome_in_words, why_refused

OBSERVING = settings(correctness_mode=Mode.OBSERVE)
# another check refuses, and none has a limit on the probability
FAR = settings(top_cosine_mode=Mode.ENFORCE, min_top_cosine=0.95)


def asked(of: Measurements) -> Asked:
    return Asked(of.question, Scope(), of, decide(of), of.settings)


def how_sure(of: Settings, probability: float | None) -> str:
    """The exported line on an answer, or on what a refusal found."""
    return export.how_sure(asked(measurements(0.9, of=of, correctness=probability)))


def test_given_a_refusal_when_said_in_a_line_then_its_reason_is_a_sentence_and_no_name_of_a_check() -> None:
    refused_by_distance = measurements(0.9, of=FAR, correctness=0.9)
    refused = decide(refused_by_distance)

    assert refused.reason is Reason.TOP_COSINE
    assert outcome_in_words(replace_places(asked(refused_by_distance)).decision) == (
        "○ No answer. Nothing in the documents is close enough to what was asked."
    )
    assert outcome_in_words(refused) == "ⓘ Maybe, 90 % sure"


@pytest.mark.parametrize(
    ("probability", "said"),
    [(0.84, "✓ Answered, 84 % sure"), (0.999, "✓ Answered, 99 % sure"), (0.3, "ⓘ Maybe, 30 % sure")],
)
def test_given_an_answer_when_said_in_a_line_then_its_number_is_in_percent_and_a_low_one_has_no_tick(
    probability: float, said: str
) -> None:
    assert outcome_in_words(decide(measurements(0.9, of=OBSERVING, correctness=probability))) == said


def test_given_an_answer_without_a_probability_when_said_in_a_line_then_no_number_is_made_up() -> None:
    assert outcome_in_words(decide(measurements(0.9, of=OBSERVING))) in ("✓ Answered", "ⓘ Answered")


def test_given_a_number_when_exported_then_the_file_says_the_line_of_the_page() -> None:
    enforcing = settings(correctness_mode=Mode.ENFORCE, min_correctness=0.5)

    assert how_sure(OBSERVING, 0.999).startswith("99 % sure that this is right. ")
    assert how_sure(enforcing, 0.84) == "84 % sure that this is right. You ask for at least 50 %: shown."
    assert (
        how_sure(enforcing, 0.2)
        == "20 % sure that the best sentence found is the answer. You ask for at least 50 %: shown as a maybe."
    )
    assert (
        how_sure(enforcing, 0.02)
        == "2 % sure that the best sentence found is the answer. You ask for at least 50 %: not shown."
    )
    assert "this is right" not in how_sure(FAR, 0.84)
    assert how_sure(OBSERVING, None) == say("how_sure.none")


def test_given_a_refusal_for_the_limit_alone_when_exported_then_no_sentence_denies_its_number() -> None:
    likely = asked(measurements(0.9, of=settings(correctness_mode=Mode.ENFORCE, min_correctness=0.9), correctness=0.84))

    lines = [block.get("text", "") for block in export.blocks(None, replace_places(likely))]  # type: ignore[arg-type]

    assert why_refused(likely.decision) in lines
    assert likely.decision.answer == unsure_sentence("en")
    assert refusal("en") not in lines


def replace_places(of: Asked) -> Asked:
    """The same without places, which need a library."""
    return replace(of, decision=replace(of.decision, outcome=replace(of.decision.outcome, places=(), may_be=None)))  # type: ignore[type-var, arg-type]


@each("probability", [0.0, 0.1, 0.49])
def test_given_a_number_below_a_half_then_no_answer_looks_safe(probability: float) -> None:
    for of in (OBSERVING, settings(correctness_mode=Mode.OFF), settings(correctness_mode=Mode.OBSERVE, levels=False)):
        assert ending_of(decide(measurements(0.9, of=of, correctness=probability))) is Ending.MAYBE
