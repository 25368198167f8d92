"""Figures with target and alert from summaries of questions, and the refused ones."""

from __future__ import annotations

import pytest

from rag_core.decision.summary import Summary
from rag_core.domain.status import Reason
from rag_core.evaluation.health import (
    GOALS,
    Figure,
    Kept,
    figure,
    refusals,
    unanswered,
)


def kept(
    id: int = 1,
    reason: Reason = Reason.NONE,
    at: str = "2026-11-20T10:00:00+00:00",
    question: str = "Why?",
    **fields: object,
) -> Kept:
    return Kept(id, at, question, Summary(reason.status, reason, True, **fields))  # type: ignore[arg-type]


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


def test_given_refused_questions_then_failures_and_what_no_document_would_answer_are_left_out() -> None:
    asked = [
        kept(1, Reason.CORRECTNESS),
        kept(3, Reason.SUFFICIENCY),
        kept(4, Reason.FAILURE),
        kept(5, Reason.SUMMARY),
        kept(6),
    ]

    assert [one.id for one in unanswered(asked)] == [1, 3]
