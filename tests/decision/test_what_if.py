"""What would have to change: the smallest single change that flips an outcome, found by replay alone."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from any_generation import stepped_measurements
from any_measurements import THRESHOLDS, any_measurements
from builders import GOOD_AUDIT, claim, draft, hit, measurements, passage, settings
from folding import each
from hypothesis import given

from rag_core.decision.decide import decide, replay
from rag_core.decision.what_if import Flip, flips
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step
from rag_core.domain.measurements import LibraryFacts, Measurements, Understanding
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.settings import Mode, Settings
from rag_core.settings.knobs import Knob

ANSWERED = (AnswerStatus.SUCCESS, Reason.NONE)
NO_ANSWER = {"status": AnswerStatus.LOW_CONFIDENCE, "reason": Reason.CORRECTNESS}


def named(found: tuple[Flip, ...]) -> dict[str, object]:
    return {flip.name: flip.after for flip in found}


def is_safe(judged: Measurements, name: str, value: object) -> bool:
    return replay(judged, judged.settings.changed(**{name: value})).answered


def one_step_less(knob: Knob, flip: Flip) -> object:
    """The value of the grid just before `flip.after`, or the current one where that lies between."""
    step = Decimal(str(knob.step))
    before, after = Decimal(str(flip.before)), Decimal(str(flip.after))
    nearer = max(after - step, before) if after > before else min(after + step, before)
    return type(knob.default)(nearer)


def test_given_a_refusal_by_one_gate_then_its_threshold_and_its_mode_flip_it() -> None:
    """S4-14: what would have to change for an answer."""
    refused = measurements(0.9, correctness=0.4, of=settings(correctness_mode=Mode.ENFORCE, min_correctness=0.56))

    assert flips(refused) == (
        Flip("min_correctness", 0.56, 0.4, *ANSWERED),
        Flip("correctness_mode", Mode.ENFORCE, Mode.OBSERVE, *ANSWERED),
    )


def test_given_an_answer_then_the_thresholds_that_would_refuse_it_are_named_and_no_mode_is() -> None:
    answered = measurements(0.9, correctness=0.7, of=settings(correctness_mode=Mode.ENFORCE, min_correctness=0.56))

    assert flips(answered) == (Flip("min_correctness", 0.56, 0.71, **NO_ANSWER),)


def test_given_several_ways_then_the_smallest_share_of_its_range_comes_first_and_modes_come_last() -> None:
    strict = settings(distance_mode=Mode.ENFORCE, min_documents_mode=Mode.ENFORCE, max_distance=0.8, min_documents=2)

    found = flips(measurements(0.9, 0.05, of=strict))

    assert [(flip.name, flip.after) for flip in found] == [
        ("min_documents", 1),  # 1 of 19, though the other setting stands before it
        ("max_distance", 0.95),  # 0.15 of 2
        ("min_documents_mode", Mode.OBSERVE),
    ]


def by_correctness(score: float, limit: float) -> Measurements:
    return measurements(0.9, correctness=score, of=settings(correctness_mode=Mode.ENFORCE, min_correctness=limit))


def by_cosine(score: float, limit: float) -> Measurements:
    return measurements(score, of=settings(top_cosine_mode=Mode.ENFORCE, min_top_cosine=limit))


COUNTED = settings(min_documents_mode=Mode.ENFORCE, min_documents=9)


@each(
    ("judged", "after"),
    [
        (by_correctness(0.579, 0.9), "0.57"),  # a decimal: 57 * 0.01 in floating point is not 0.57
        (by_correctness(0.555, 0.5555), "0.55"),  # from a setting between two steps on by the nearest step
        (by_correctness(0.5559, 0.5555), "0.56"),
        (measurements(0.9, 0.8, 0.7, of=COUNTED, library=LibraryFacts(passages=50)), "3"),  # a count is whole
        (by_cosine(0.3, -1.0), "0.31"),  # the loosest
    ],
)
def test_given_a_threshold_then_its_value_is_the_nearest_of_its_own_steps(judged: Measurements, after: str) -> None:
    assert repr(flips(judged)[0].after) == after
    assert flips(by_cosine(1.0, 1.0)) == ()


@each(
    "undecided",
    [
        measurements(failure="The model failed."),
        measurements(answer="Hello.", understanding=Understanding("en", "greeting")),
        measurements(answer="Two documents.", understanding=Understanding("en", "about_library")),
        measurements(answer="Ask the whole question.", understanding=Understanding("en", "follow_up")),
        measurements(0.9, draft=draft([])),
        measurements(0.9, correctness=None, of=settings(correctness_mode=Mode.ENFORCE)),
    ],
    ids=["failure", "greeting", "about the library", "follow-up", "nothing drafted", "not measured"],
)
def test_given_a_question_that_was_not_judged_then_no_setting_would_change_that(undecided: Measurements) -> None:
    assert flips(undecided) == ()


def test_given_a_claim_beyond_the_distance_cut_then_the_cut_is_named() -> None:
    near, far = hit(0.9, 1), hit(0.15, 2)
    judged = measurements(
        hits=(near, far), draft=draft([claim(far.passage)]), of=settings(distance_mode=Mode.ENFORCE, max_distance=0.8)
    )

    assert named(flips(judged)) == {"max_distance": 0.85, "distance_mode": Mode.OBSERVE}


@pytest.mark.slow
@given(judged=any_measurements())
def test_given_any_case_then_each_flip_gives_the_other_outcome_and_one_step_less_does_not(judged: Measurements) -> None:
    outcome = decide(judged)

    for flip in flips(judged):
        after = replay(judged, judged.settings.changed(**{flip.name: flip.after}))

        assert (after.answered, after.status, after.reason) == (not outcome.answered, flip.status, flip.reason)
        assert flip.before == getattr(judged.settings, flip.name) != flip.after
        if flip.name in THRESHOLDS:
            assert is_safe(judged, flip.name, one_step_less(THRESHOLDS[flip.name], flip)) is outcome.answered


def drafted(support: float, *, of: Settings | None = None) -> Measurements:
    """A question whose draft by a model has this support; it was asked under `min_support` 0.5."""
    asked_under = of or settings(
        drafter="model", rewording="audited", support_mode=Mode.ENFORCE, min_support=0.5, short_context_words=20
    )
    made = replace(
        draft([claim(passage())], [replace(GOOD_AUDIT, support=support, word_for_word=False)]), drafter="model"
    )
    attempt = Attempt(
        ("level:high", "round:0", "passages:1"),
        Call(Step.DRAFT),
        made,
        language="en",
        sentences=1,
        tokens=5,
        added=(0,),
    )
    return replace(measurements(0.9, of=asked_under, correctness=0.9), llm_trace=LlmTrace(500, attempts=(attempt,)))


def test_given_an_answer_of_a_model_then_a_limit_that_rejects_its_draft_is_named_as_one_that_asks_it_again() -> None:
    found = {flip.name: flip for flip in flips(drafted(0.7))}

    assert found["min_support"] == Flip("min_support", 0.5, 0.71, AnswerStatus.ERROR, Reason.NEEDS_GENERATION)


def test_given_a_refusal_before_a_model_was_asked_then_a_limit_that_lets_it_through_would_ask() -> None:
    """S0-4: it was not asked, so what it would answer is not known."""
    of = settings(drafter="model", correctness_mode=Mode.ENFORCE, min_correctness=0.56, short_context_words=20)
    refused = replace(measurements(0.9, of=of, correctness=0.4), llm_trace=LlmTrace(500))

    assert flips(refused) == (
        Flip("min_correctness", 0.56, 0.4, AnswerStatus.ERROR, Reason.NEEDS_GENERATION),
        Flip("correctness_mode", Mode.ENFORCE, Mode.OBSERVE, AnswerStatus.ERROR, Reason.NEEDS_GENERATION),
    )


def test_given_an_answer_of_a_later_draft_then_the_first_value_that_is_no_answer_is_found() -> None:
    """The first draft is rejected from 0.61 on and the second one stands; between 0.51 and 0.6 the findings are others
    than were sent.
    """
    two = [replace(GOOD_AUDIT, support=support, word_for_word=False) for support in (0.6, 0.5)]
    first = replace(draft([claim(passage(1)), claim(passage(1))], two), drafter="model")
    keys = ("level:high", "round:0", "passages:1")
    of = settings(
        drafter="model", rewording="audited", support_mode=Mode.ENFORCE, min_support=0.45, short_context_words=20
    )
    second = replace(drafted(0.9).llm_trace.attempts[0], asked=(*keys, "support:0", "support:1"))  # type: ignore[union-attr]
    attempts = (Attempt(keys, Call(Step.DRAFT), first, language="en", sentences=2, tokens=9, added=(0, 0)), second)
    judged = replace(measurements(0.9, of=of, correctness=0.9), llm_trace=LlmTrace(500, attempts=attempts))

    assert decide(judged).answered
    assert replay(judged, of.changed(min_support=0.7)).answered
    assert {flip.name: (flip.after, flip.reason) for flip in flips(judged)}["min_support"] == (
        0.51,
        Reason.NEEDS_GENERATION,
    )


def test_given_an_answer_that_becomes_that_of_a_later_draft_then_the_search_goes_on() -> None:
    """The first draft is rejected from 0.51 on, and the second one answers until 0.91 asks for a third."""
    one = drafted(0.5)
    later = replace(drafted(0.9).llm_trace.attempts[0], asked=("level:high", "round:0", "passages:1", "support:0"))  # type: ignore[union-attr]
    judged = replace(one, llm_trace=LlmTrace(500, attempts=(*one.llm_trace.attempts, later)))  # type: ignore[union-attr]

    assert {flip.name: (flip.after, flip.reason) for flip in flips(judged)}["min_support"] == (
        0.91,
        Reason.NEEDS_GENERATION,
    )


@pytest.mark.slow
@given(judged=stepped_measurements())
def test_given_a_question_of_a_model_then_each_flip_is_the_least_step(judged: Measurements) -> None:
    outcome = decide(judged)

    for flip in flips(judged):
        after = replay(judged, judged.settings.changed(**{flip.name: flip.after}))

        assert (after.status, after.reason) == (flip.status, flip.reason)
        assert after.answered is not outcome.answered or after.reason is Reason.NEEDS_GENERATION
        if flip.name in THRESHOLDS:
            nearer = replay(judged, judged.settings.changed(**{flip.name: one_step_less(THRESHOLDS[flip.name], flip)}))
            assert nearer.answered is outcome.answered
            assert nearer.reason is not Reason.NEEDS_GENERATION


@pytest.mark.slow
@given(judged=any_measurements())
def test_given_any_case_then_what_is_not_named_flips_at_no_end_of_its_range(judged: Measurements) -> None:
    outcome = decide(judged)
    found = named(flips(judged))

    if outcome.status is AnswerStatus.ERROR:
        assert not found
        return
    for name, knob in THRESHOLDS.items():
        ends = {is_safe(judged, name, type(knob.default)(end)) for end in (knob.low, knob.high) if end is not None}
        assert (ends == {outcome.answered}) is (name not in found)


def test_given_the_settings_then_every_threshold_steps_evenly_from_its_low_to_its_high_end() -> None:
    """The grid is counted from `low`; were `high` not on it, the strictest value could not be reached."""
    for knob in THRESHOLDS.values():
        low, high, step = (Decimal(str(end)) for end in (knob.low, knob.high, knob.step))
        assert (high - low) % step == 0, knob.name
    assert set(THRESHOLDS) <= set(Settings.model_fields)
