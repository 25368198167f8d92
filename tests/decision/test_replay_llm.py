"""Questions that a language model was asked about, judged again: one by one and many at once, from their records, with
no model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from any_generation import asked_measurements, model_settings, stepped_measurements
from any_measurements import REPLAYED, THRESHOLDS, any_measurements, assert_shown, values_of
from builders import GATE_MODES, GOOD_AUDIT, claim, contradicted, draft, measurements, passage, settings
from hypothesis import assume, given
from hypothesis import strategies as st

from rag_core.decision.batch import Outcomes, ReplaySet, checks_of, columns, replay_many
from rag_core.decision.decide import decide, replay
from rag_core.domain.claims import Conflict
from rag_core.domain.decision import Decision
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step, Sufficiency
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.settings import Mode, Settings


def assert_equal(outcomes: Outcomes, judged: Sequence[Measurements], target: Settings) -> None:
    """Every outcome is what `replay` says of its question."""
    for row, one in enumerate(judged):
        decision = replay(one, target)
        assert outcomes.reason[row] is decision.reason
        assert outcomes.answered[row] == decision.answered
        assert outcomes.needs_model[row] == (decision.reason is Reason.NEEDS_GENERATION)
        assert_shown(outcomes, row, one, decision)


def other_judgement(draw: st.DrawFn, of: Settings) -> Settings:
    """The same settings with some judging ones drawn anew."""
    names = draw(st.lists(st.sampled_from(sorted(REPLAYED)), max_size=4, unique=True))
    return of.changed(**{name: draw(values_of(REPLAYED[name])) for name in names})


@pytest.mark.slow
@given(data=st.data())
def test_given_any_questions_of_a_model_then_judging_at_once_equals_one_by_one(data: st.DataObject) -> None:
    of = data.draw(model_settings())
    kinds = st.one_of(stepped_measurements(of), stepped_measurements(of), asked_measurements(of), any_measurements(of))
    judged = data.draw(st.lists(kinds, min_size=1, max_size=4))
    together = ReplaySet.of(judged)

    for _ in range(3):
        target = other_judgement(data.draw, of)
        assert_equal(replay_many(together, target), judged, target)


@pytest.mark.slow
@given(data=st.data())
def test_given_anything_a_model_left_and_any_judging_settings_then_there_is_a_decision(data: st.DataObject) -> None:
    one = data.draw(st.one_of(asked_measurements(), stepped_measurements()))

    decision = replay(one, other_judgement(data.draw, one.settings))

    assert decision.answered == (decision.status is AnswerStatus.SUCCESS)
    assert decision.reason is not Reason.NEEDS_GENERATION or not decision.claims


@given(one=stepped_measurements())
def test_given_a_question_as_it_was_asked_then_its_own_settings_need_no_model_again(one: Measurements) -> None:
    assert decide(one).reason is not Reason.NEEDS_GENERATION


@pytest.mark.slow
@given(data=st.data())
def test_given_one_stricter_threshold_then_a_refusal_never_becomes_an_answer(data: st.DataObject) -> None:
    one = data.draw(stepped_measurements())
    knob = THRESHOLDS[data.draw(st.sampled_from(sorted(THRESHOLDS)))]
    loose, strict = sorted((data.draw(values_of(knob)), data.draw(values_of(knob))), reverse=knob.stricter == "lower")

    before, after = (replay(one, one.settings.changed(**{knob.name: value})) for value in (loose, strict))

    assume(before.reason is not Reason.NEEDS_GENERATION)
    assert before.answered or not after.answered, (knob.name, loose, strict, before.reason)


def drafted(*supports: float) -> Measurements:
    """A question whose drafts have these supports; all but the last were rejected under the settings it was asked
    under.
    """
    of = settings(
        drafter="model", rewording="audited", support_mode=Mode.ENFORCE, min_support=0.5, short_context_words=20
    )
    attempts = []
    for number, support in enumerate(supports):
        made = draft(
            [claim(passage(), f"Draft {number}.")], [replace(GOOD_AUDIT, support=support, word_for_word=False)]
        )
        keys = ("level:high", "round:0", "passages:1", *(("support:0",) if number else ()))
        attempts.append(
            Attempt(
                keys, Call(Step.DRAFT), replace(made, drafter="model"), language="en", sentences=1, tokens=5, added=(0,)
            )
        )
    return replace(measurements(0.9, of=of, correctness=0.9), llm_trace=LlmTrace(500, attempts=tuple(attempts)))


def test_given_a_set_when_only_gates_move_then_each_record_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve over a gate's threshold replays the set a hundred times."""
    progress: list[Settings] = []

    def counting(one: Measurements) -> Decision:
        progress.append(one.settings)
        return decide(one)

    monkeypatch.setattr(columns, "decide", counting)
    found = [drafted(0.2, 0.9), drafted(0.9)]
    of = ReplaySet.of(found)
    base = found[0].settings

    for limit in (0.1, 0.5, 0.9, 0.95):
        target = base.changed(correctness_mode=Mode.ENFORCE, min_correctness=limit)
        assert replay_many(of, target).answered.tolist() == [limit <= 0.9] * 2
    # the distance cut takes passages out of the prompt
    modes = [mode for mode in GATE_MODES.values() if mode != "distance_mode"]
    limits = (
        "min_top_cosine",
        "min_mean_cosine",
        "min_documents",
        "min_keywords",
        "max_missing_entities",
    )
    for change in ({name: Mode.OBSERVE} for name in modes):
        replay_many(of, base.changed(**change))
    for name in limits:
        replay_many(of, base.changed(**{name: REPLAYED[name].high}))
    assert len(progress) == 2
    replay_many(of, base.changed(min_support=0.1))
    assert len(progress) == 4


def test_given_a_gate_that_refuses_then_no_record_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "decide", lambda _: pytest.fail("judged"))
    one = drafted(0.9)

    outcomes = replay_many([one], one.settings.changed(correctness_mode=Mode.ENFORCE, min_correctness=0.95))

    assert outcomes.reason.tolist() == [Reason.CORRECTNESS]


def test_given_more_settings_than_are_remembered_then_the_oldest_are_forgotten_and_nothing_else_changes() -> None:
    one = drafted(0.2, 0.9)
    of = ReplaySet.of([one])

    for step in range(100):
        target = one.settings.changed(min_support=0.3 + step / 1000)
        assert_equal(replay_many(of, target), [one], target)
    assert of.llm_outcomes._known.cache_info().currsize <= 64


def test_given_a_model_that_drafted_then_audits_are_those_of_the_draft_that_was_judged_last() -> None:
    found = [drafted(0.2, 0.8), measurements(0.9, of=drafted().settings)]
    target = found[0].settings

    held = {one.check.name: one for one in checks_of(ReplaySet.of(found), target)}

    assert held["support"].values.tolist() == [0.8, 1.0]
    assert held["support"].abstains.tolist() == [False, False]
    assert not held["support"].blocks.any()
    at_first = {one.check.name: one for one in checks_of(ReplaySet.of(found), target.changed(min_support=0.1))}
    assert at_first["support"].values.tolist() == [0.2, 1.0]
    assert list(held) == [one.check.name for one in checks_of(ReplaySet.of([]), target)]


def test_given_no_draft_to_judge_then_no_audit_applies() -> None:
    one = replace(drafted(0.9), llm_trace=LlmTrace(500))

    held = {one.check.name: one for one in checks_of(ReplaySet.of([one]), one.settings)}

    assert replay_many([one], one.settings).needs_model.tolist() == [True]
    assert math.isnan(held["support"].values[0])
    assert not any(check.blocks.any() for check in held.values())


def test_given_two_sides_that_a_model_found_then_their_claims_are_shown() -> None:
    of = drafted().settings.changed(sufficiency_mode=Mode.ENFORCE, contradictions_mode=Mode.OBSERVE)
    sides = draft([claim(passage(1)), claim(passage(2, document="d2"))])
    judgement = Sufficiency(
        Call(Step.SUFFICIENCY),
        1,
        "yes",
        0.9,
        contradicts=True,
        sides=sides,
        conflict=Conflict(0, 1, ("30 days", "60 days"), ("d1", "d2"), (1, 1), added=False),
    )
    one = replace(drafted(0.9), settings=of)
    assert one.llm_trace is not None
    one = replace(one, llm_trace=replace(one.llm_trace, judgements=(judgement,)))
    short = measurements(
        0.9, of=of, llm_trace=LlmTrace(9, judgements=(Sufficiency(Call(Step.SUFFICIENCY), 1, "yes", 0.9),))
    )

    outcomes = replay_many([one, short], of)

    assert_equal(outcomes, [one, short], of)
    assert outcomes.shown.tolist() == [[False, False, True, True], [True, False, False, False]]


def test_given_a_model_that_had_no_part_then_the_extract_is_judged_from_the_columns_with_its_conflicts() -> None:
    """Where sources contradict each other a model is not asked: both are quoted."""
    of = drafted().settings.changed(contradictions_mode=Mode.OBSERVE)
    one = replace(contradicted(of=of), llm_trace=LlmTrace(500))

    outcomes = replay_many([one], of)

    assert_equal(outcomes, [one], of)
    assert outcomes.shown.tolist() == [[True] * len(one.draft.claims)]


def test_given_an_extract_that_a_model_calls_a_part_or_did_not_judge_then_it_is_judged_as_alone() -> None:
    """A judgement holds for the extract too; where no model has a part, an enforced guard has not run."""
    of = settings(
        sufficiency_mode=Mode.ENFORCE, main_gate="cosine", high_distance=1.0, contradictions_mode=Mode.OBSERVE
    )
    said = [Sufficiency(Call(Step.SUFFICIENCY), 3, word, 0.9) for word in ("yes", "partial")]
    clash = contradicted(of=of)  # two sides and a third sentence
    records = [
        *(replace(clash, llm_trace=LlmTrace(500, judgements=(one,))) for one in said),
        *(replace(clash, conflicts=(), llm_trace=LlmTrace(9, judgements=(one,))) for one in said),
        replace(clash, llm_trace=None),
    ]

    for target in (
        of,
        of.changed(sufficiency_mode=Mode.OBSERVE),
        of.changed(refuse_partial=True),
        of.changed(overlap_mode=Mode.ENFORCE),
    ):
        assert_equal(replay_many(records, target), records, target)
    outcomes = replay_many(records, of)
    assert outcomes.reason[-1] is Reason.NOT_RUN
