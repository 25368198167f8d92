"""Judging a whole set at once equals judging its questions one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
import pytest
from any_measurements import REPLAYED, any_measurements, assert_shown, chosen_settings, values_of
from builders import (
    MODES,
    HashEmbedder,
    MemoryCorpus,
    measured_again,
    measurements,
    settings,
    tools,
)
from folding import each
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from test_replay import TEXTS

from rag_core.decision import decide as pipeline
from rag_core.decision.batch import Outcomes, ReplaySet, checks_of, replay_many
from rag_core.decision.checks import GATING, GROUNDING, row
from rag_core.decision.decide import replay
from rag_core.decision.measure import measure
from rag_core.decision.present import scores
from rag_core.domain.measurements import Measurements, Understanding
from rag_core.domain.status import Reason
from rag_core.domain.trace import State
from rag_core.errors import InvalidSetting
from rag_core.settings import Cost, Mode, Settings, presets

COSTLY = [knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY]

QUESTIONS = (
    "What is the notice period?",
    "How many days of vacation do employees have?",
    "Who painted the Mona Lisa?",
    "Hello",
    "notice",
    "Which documents do you have?",
    "How do I deliver goods to Brno?",
    "What is the price in Olomouc?",
)


def assert_equal(outcomes: Outcomes, records: Sequence[Measurements], target: Settings) -> None:
    """Every outcome is what `replay` says of its question."""
    of = ReplaySet.of(records)
    held = checks_of(of, target)
    for place, one in enumerate(records):
        decision, judged = replay(one, target), replace(one, settings=target)
        assert outcomes.reason[place] is decision.reason
        assert outcomes.answered[place] == decision.answered
        assert_shown(outcomes, place, one, decision)
        for check, gate in zip(held, (*GATING, *GROUNDING), strict=True):
            expected = gate(judged)
            assert (check.check, check.mode) == (gate, expected.mode)
            assert bool(check.blocks[place]) == expected.blocks
            if expected.value is not None and expected.state is not State.ABSTAINED:
                assert check.values[place] == expected.value
                assert np.broadcast_to(check.limits, len(records))[place] == expected.threshold
        for name, value in scores(one).items():
            assert outcomes.scores[name][place] == value


@st.composite
def odd_measurements(draw: st.DrawFn, of: Settings) -> Measurements:
    """Any measurements, and what measuring leaves rarely: a reply, an uncited claim, a raw draft, a passage found
    twice, another intent.
    """
    one = draw(any_measurements(of))
    one = replace(
        one,
        understanding=replace(
            one.understanding, intent=draw(st.sampled_from(["factual", "procedural", "comparative"]))
        ),
    )
    claims, audits = one.draft.claims, one.draft.measured
    match draw(st.sampled_from(["as it is", "reply", "uncited", "quoteless", "raw", "twice", "unread"])):
        case "reply":
            intent = draw(st.sampled_from(["greeting", "about_library", "thanks", "summary", "follow_up"]))
            return replace(one, understanding=replace(one.understanding, intent=intent), answer="Hello.", failure="")
        case "uncited" if claims:
            return replace(
                one, draft=replace(one.draft, claims=(replace(claims[0], evidence=(), cited=()), *claims[1:]))
            )
        case "quoteless" if claims:
            audits = (replace(audits[0], fabricated=("9",)), *audits[1:])
            return replace(
                one, draft=replace(one.draft, claims=(replace(claims[0], evidence=()), *claims[1:]), measured=audits)
            )
        case "raw":
            return replace(
                one, draft=replace(one.draft, drafter="raw", text="A longer text." * draw(st.integers(0, 3)))
            )
        case "twice" if one.hits:
            again = replace(one.hits[0], cosine=draw(st.sampled_from([-1.0, 0.5, 1.0])))
            return replace(one, hits=(*one.hits, again))
        case "unread" if claims:
            joined = replace(claims[0], evidence=(*claims[0].evidence, *claims[-1].evidence))
            return replace(one, draft=measured_again(one.draft, (joined, *claims[1:])), hits=one.hits[:1])
    return one


def measured_values(of: Measurements) -> dict[str, list[float]]:
    """For each knob the values at its boundary: those that the question has on its scale."""
    numbers = [
        of.correctness,
        of.answerability,
        of.relevance,
        *(h.cosine for h in of.hits),
        *(a.overlap for a in of.draft.measured),
    ]
    numbers += [h.distance for h in of.hits] + [a.similarity for a in of.draft.measured]
    return {
        name: [
            n
            for n in numbers
            if n is not None and knob.low is not None and knob.low <= n <= (knob.high or 0) and not isinstance(n, bool)
        ]
        for name, knob in REPLAYED.items()
        if knob.low is not None and isinstance(knob.default, float)
    }


@pytest.mark.slow
@given(data=st.data())
def test_given_any_cases_and_settings_then_judging_at_once_equals_one_by_one(data: st.DataObject) -> None:
    """Limits equal to a measured value are drawn often: equal passes, in both."""
    target = data.draw(chosen_settings)
    found = data.draw(st.lists(odd_measurements(target), max_size=5))
    if found:
        at_values = {name: values for name, values in measured_values(found[0]).items() if values}
        chosen = data.draw(st.lists(st.sampled_from(sorted(at_values)), unique=True, max_size=4)) if at_values else []
        target = target.changed(**{name: data.draw(st.sampled_from(at_values[name])) for name in chosen})

    assert_equal(replay_many(found, target), found, target)


ENFORCED = settings(**dict.fromkeys(MODES.values(), Mode.ENFORCE))


@pytest.mark.slow
@given(
    found=st.lists(odd_measurements(ENFORCED), min_size=1, max_size=4),
    values=st.fixed_dictionaries({name: values_of(knob) for name, knob in REPLAYED.items()}),
)
@examples(max_examples=8, deadline=None)
def test_given_any_value_then_at_once_equals_one_by_one(found: list[Measurements], values: dict[str, object]) -> None:
    for name, value in values.items():
        target = ENFORCED.changed(**{name: value})

        assert_equal(replay_many(found, target), found, target)


@each("preset", presets())
def test_given_real_questions_when_judged_at_once_under_a_preset_then_it_equals_one_by_one(preset: str) -> None:
    corpus, used = MemoryCorpus(TEXTS, HashEmbedder()), tools()
    target = Settings.load(preset, {"drafter": "extract"})  # two presets say that a model drafts
    measured = [measure(question, target, corpus, used) for question in QUESTIONS]
    of = ReplaySet.of(measured)

    for other in (
        target,
        *(
            target.changed(min_correctness=at, min_answerability=at, min_grounded=at, max_distance=at)
            for at in (0.0, 0.3, 0.7, 1.0)
        ),
    ):
        assert_equal(replay_many(of, other), measured, other)
    assert {Reason.GREETING, Reason.ABOUT_LIBRARY} <= set(replay_many(of, target).reason)


def test_given_no_cases_then_there_are_no_outcomes() -> None:
    outcomes = replay_many([], Settings.load())

    assert len(outcomes) == len(ReplaySet.of([])) == 0
    assert outcomes.answered.shape == outcomes.reason.shape == (0,)


@each("name", COSTLY)
def test_given_one_case_measured_under_other_settings_then_the_whole_set_is_refused(name: str) -> None:
    knob = next(knob for knob in Settings.knobs() if knob.name == name)
    others = (
        [*knob.options, knob.low, knob.high]
        if knob.low is not None or knob.options
        else [not knob.default, "something else"]
    )
    other = next(
        value
        for value in others
        if value is not None and value != knob.default and isinstance(value, type(knob.default))
    )
    of = ReplaySet.of([measurements(0.9), measurements(0.9, of=settings().changed(**{name: other}))])

    with pytest.raises(InvalidSetting, match="needs more than a judgement"):
        replay_many(of, settings())


def test_given_a_draft_that_was_not_measured_then_it_cannot_be_taken_into_a_set() -> None:
    one = measurements(0.9)

    with pytest.raises(ValueError, match="1 claims need as many measurements, got 0"):
        ReplaySet.of([replace(one, draft=replace(one.draft, measured=()))])


def test_given_a_set_then_the_named_scores_are_columns_and_a_missing_one_is_not_a_number() -> None:
    of = ReplaySet.of(
        [
            measurements(0.9, features={"draft_cosine": 0.5}),
            measurements(answer="Hello.", understanding=Understanding(intent="greeting")),
        ]
    )

    assert of.scores["top_cosine"].tolist() == [0.9, -1.0]
    assert of.scores["draft_cosine"][0] == 0.5
    assert math.isnan(of.scores["draft_cosine"][1])


def test_given_a_built_set_then_no_case_is_judged_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make bench` measures how fast that is; a loop over the questions would call these."""
    at = settings(min_top_cosine=0.5, top_cosine_mode=Mode.ENFORCE)
    of = ReplaySet.of([measurements(0.4), measurements(0.6)])

    def judged_alone(*_: object) -> NoReturn:
        raise AssertionError("a question was judged by itself")

    for module, name in ((pipeline, "decide"), (row, "judge")):
        monkeypatch.setattr(module, name, judged_alone)

    assert replay_many(of, at).answered.tolist() == [False, True]
