"""The effect of each limit on a labelled run, and the limit that is suggested for a price."""

from __future__ import annotations

import pytest
from builders import claim, draft, measurements, passage

from rag_core.decision.batch import ReplaySet, replay_many
from rag_core.evaluation import answer_hits, marks
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.report import STEPS, Effect, Tradeoff, effect, suggested, tradeoff
from rag_core.settings import Mode, Settings

pytestmark = pytest.mark.unit

ANSWER = "The notice period is 30 days."
START = Settings.load().changed(correctness_mode=Mode.ENFORCE, similarity_mode=Mode.OFF)
LABELS = ((True, ("30 days",), 0.9), (True, ("60 days",), 0.8), (True, (), 0.7), (False, (), 0.6), (False, (), 0.2))


def a_run() -> tuple[list[LabelledQuestion], list]:  # type: ignore[type-arg]
    questions = [
        LabelledQuestion(f"q{n}", f"Question {n}?", yes, answers) for n, (yes, answers, _) in enumerate(LABELS)
    ]
    of = passage(1, ANSWER)
    return questions, [
        measurements(0.5, of=START, correctness=p, draft=draft([claim(of, ANSWER)])) for _, _, p in LABELS
    ]


def test_given_a_run_when_every_limit_is_tried_then_wrong_is_wrong_whether_the_question_has_an_answer_or_not() -> None:
    questions, records = a_run()
    replayed, hits = ReplaySet.of(records), answer_hits(questions, records)

    found = tradeoff(questions, records, replayed, hits, START, "min_correctness")

    assert (found.limits[0], found.limits[-1], len(found.limits)) == (0.0, 1.0, STEPS + 1)
    assert found.effects[0] == Effect(right=2, wrong=3, refused=0, spared=0)
    assert found.effects[65] == Effect(right=2, wrong=1, refused=0, spared=2)
    assert found.effects[85] == Effect(right=1, wrong=0, refused=2, spared=2)
    assert found.effects[-1] == Effect(right=0, wrong=0, refused=3, spared=2)
    for place in (0, 33, 65, 85):
        outcomes = replay_many(replayed, START.changed(min_correctness=found.limits[place]))
        assert found.effects[place] == effect(marks(questions, outcomes, hits, records))


def test_given_a_price_then_the_lowest_limit_that_keeps_it_is_suggested_and_none_where_no_answer_does() -> None:
    questions, records = a_run()
    found = tradeoff(
        questions, records, ReplaySet.of(records), answer_hits(questions, records), START, "min_correctness"
    )

    assert suggested(found, 0.0) == 81
    assert suggested(found, 0.6) == 0
    always_wrong = Tradeoff((0.0, 1.0), (Effect(0, 2, 0, 0), Effect(0, 0, 2, 0)))
    assert suggested(always_wrong, 0.5) is None
