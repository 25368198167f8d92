"""Questions that a language model was asked about, judged again: one by one and many at once, from their records, with no model."""

from __future__ import annotations

from collections.abc import Sequence

from any_case import REPLAYED, THRESHOLDS, cases, values_of
from any_generation import asked_cases, model_settings, walked_cases
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from rag_core.case import Case
from rag_core.pipeline import decide, replay
from rag_core.replay_set import Outcomes, ReplaySet, every_claim, replay_many
from rag_core.settings import Cost, Settings
from rag_core.status import AnswerStatus, Reason

COSTLY = [knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY]


def assert_equal(outcomes: Outcomes, judged: Sequence[Case], target: Settings) -> None:
    """Every outcome is what `replay` says of its case."""
    for row, one in enumerate(judged):
        decision = replay(one, target)
        assert outcomes.reason[row] is decision.reason
        assert outcomes.reasons(row) == decision.reasons
        assert outcomes.status[row] is decision.status
        assert outcomes.level[row] is decision.confidence_level
        assert outcomes.answered[row] == decision.is_safe()
        assert outcomes.needs_model[row] == (decision.reason is Reason.NEEDS_GENERATION)
        claims = every_claim(one)
        assert tuple(said for said, shown in zip(claims, outcomes.shown[row], strict=False) if shown) == decision.claims
        assert not outcomes.shown[row, len(claims) :].any()


def other_judgement(draw: st.DrawFn, of: Settings) -> Settings:
    """The same settings with some judging ones drawn anew."""
    names = draw(st.lists(st.sampled_from(sorted(REPLAYED)), max_size=4, unique=True))
    return of.changed(**{name: draw(values_of(REPLAYED[name])) for name in names})


@given(data=st.data())
@examples(max_examples=150, deadline=None)
def test_given_any_questions_with_and_without_a_model_then_judging_them_at_once_equals_one_by_one(data: st.DataObject) -> None:
    of = data.draw(model_settings())
    kinds = st.one_of(walked_cases(of), walked_cases(of), asked_cases(of), cases(of))
    judged = data.draw(st.lists(kinds, min_size=1, max_size=4))
    together = ReplaySet.of(judged)

    for _ in range(3):
        target = other_judgement(data.draw, of)
        assert_equal(replay_many(together, target), judged, target)


@given(data=st.data())
@examples(max_examples=150, deadline=None)
def test_given_anything_a_model_left_and_any_judging_settings_then_there_is_a_decision(data: st.DataObject) -> None:
    one = data.draw(st.one_of(asked_cases(), walked_cases()))

    decision = replay(one, other_judgement(data.draw, one.settings))

    assert decision.is_safe() == (decision.status is AnswerStatus.SUCCESS)
    assert decision.reason is not Reason.NEEDS_GENERATION or not decision.claims


@given(one=walked_cases())
@examples(max_examples=150, deadline=None)
def test_given_a_question_as_it_was_asked_then_its_own_settings_need_no_model_again(one: Case) -> None:
    assert decide(one).reason is not Reason.NEEDS_GENERATION


@given(data=st.data())
@examples(max_examples=300, deadline=None)
def test_given_a_question_of_a_model_when_one_threshold_is_made_stricter_then_a_refusal_never_becomes_an_answer(
    data: st.DataObject,
) -> None:
    one = data.draw(walked_cases())
    knob = THRESHOLDS[data.draw(st.sampled_from(sorted(THRESHOLDS)))]
    loose, strict = sorted((data.draw(values_of(knob)), data.draw(values_of(knob))), reverse=knob.stricter == "lower")

    before, after = (replay(one, one.settings.changed(**{knob.name: value})) for value in (loose, strict))

    assume(before.reason is not Reason.NEEDS_GENERATION)
    assert before.is_safe() or not after.is_safe(), (knob.name, loose, strict, before.reason)
