"""Figures with target and alert from summaries of questions, the shift of scores, and groups of what nothing
answers.
"""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.decision.summary import Summary
from rag_core.domain.status import Reason
from rag_core.evaluation.health import (
    DRIFT_ALERT,
    GOALS,
    SCORE_BINS,
    Figure,
    Kept,
    drift,
    figure,
    gaps,
    refusals,
    scores,
    spread_of,
    unanswered,
)


def kept(
    id: int = 1,
    reason: Reason = Reason.NONE,
    at: str = "2026-11-20T10:00:00+00:00",
    question: str = "Why?",
    **fields: object,
) -> Kept:
    return Kept(id, at, question, "en", Summary(reason.status, reason, True, **fields))  # type: ignore[arg-type]


def test_given_questions_when_figured_then_each_has_its_share_or_time_and_none_where_nothing_was_measured() -> None:
    """S3-30: coverage, rejected drafts, confidence, retrieval and generation latency."""
    some = [
        kept(correctness=0.9, claims=3, cited=3, drafts=1, retrieval_ms=50.0),
        kept(correctness=0.7, claims=1, cited=0, drafts=3, failed=1, retrieval_ms=150.0, model_ms=3000.0),
        kept(reason=Reason.CORRECTNESS, correctness=0.1, retrieval_ms=100.0),
    ]

    assert figure(Figure.COVERAGE, some) == 0.75
    assert figure(Figure.FAILED, some) == 0.25
    assert figure(Figure.CORRECTNESS, some) == pytest.approx(0.8)  # of answers alone
    assert figure(Figure.RETRIEVAL, some) == pytest.approx(145.0)
    assert figure(Figure.MODEL, some) == 3000.0
    assert [figure(which, [kept(reason=Reason.FAILURE)]) for which in Figure] == [None] * 5
    assert refusals(some) == [("correctness", 1)]


@pytest.mark.parametrize(
    ("which", "met", "between", "alert"),
    [
        (Figure.COVERAGE, 1.0, 0.95, 0.949),
        (Figure.FAILED, 0.0, 0.05, 0.051),
        (Figure.CORRECTNESS, 0.8, 0.7, 0.69),
        (Figure.RETRIEVAL, 100.0, 200.0, 201.0),
        (Figure.MODEL, 2000.0, 5000.0, 5001.0),
    ],
)
def test_given_a_value_when_held_against_its_goal_then_its_edges_belong_to_the_better_side(
    which: Figure, met: float, between: float, alert: float
) -> None:
    """S3-30: the targets and alerts of the source."""
    goal = GOALS[which]
    assert [goal.alerts(value) for value in (met, between, alert, None)] == [False, False, True, False]


def test_given_scores_when_held_against_the_calibration_s_then_only_a_large_and_certain_shift_is_an_alert() -> None:
    even = (20,) * SCORE_BINS
    low = (110, *(10,) * (SCORE_BINS - 1))
    same, shifted = drift(even, even), drift(low, even)

    assert (same.index, same.alerts) == (pytest.approx(0.0), False)
    assert shifted.index is not None
    assert shifted.index > DRIFT_ALERT
    assert shifted.alerts
    assert drift((5, *(0,) * 9), even).index is None, "too few to compare"
    assert drift(even, ()).index is None, "a calibration that does not tell"
    few = drift((8, 2, 5, 5, 5, 5, 5, 5, 5, 5), (5,) * SCORE_BINS)
    assert not few.alerts


def test_given_the_bins_of_a_calibration_when_read_then_they_are_counted_as_scores_are() -> None:
    bins = [{"low": 0.0, "high": 0.1, "n": 7}, {"low": 0.9, "high": 1.0, "n": 3}]
    some = [kept(correctness=value) for value in (0.0, 0.05, 0.95, 1.0)]

    assert spread_of({"reliability": bins}) == (7, *(0,) * 8, 3)
    assert spread_of({}) == ()
    assert scores(some) == (2, *(0,) * 8, 2)


def test_given_refused_questions_when_grouped_then_like_ones_are_together_largest_first_and_failures_are_no_gap() -> (
    None
):
    asked = [
        kept(1, Reason.CORRECTNESS, question="How high is the pension contribution?"),
        kept(2, Reason.CORRECTNESS, question="Where can I park?", nowhere=("E7",)),
        kept(3, Reason.SUFFICIENCY, question="Which contribution goes into the pension?"),
        kept(4, Reason.FAILURE, question="How high is the pension contribution?"),
        kept(5, Reason.SUMMARY, question="Sum up the pension plan."),
        kept(6, question="How long is the warranty?"),
    ]
    open_ones = unanswered(asked)
    vectors = np.eye(len(open_ones), dtype=np.float32)
    by_words = gaps(open_ones, vectors)
    vectors[1] = vectors[0]

    assert [one.id for one in open_ones] == [1, 2, 3]
    assert [{one.id for one in gap.questions} for gap in by_words] == [{1, 3}, {2}]
    assert by_words[1].nowhere == ("E7",)
    assert "pension" in by_words[0].terms
    assert [len(gap.questions) for gap in gaps(open_ones, vectors)] == [3], "by meaning"
