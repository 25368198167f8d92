"""The health of a collection from its kept questions: figures with target and alert, and refusals.

A figure is None where nothing was measured for it. The targets and alerts are those of the requirements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from rag_core.decision.summary import Summary
from rag_core.domain.status import AnswerStatus, Reason

PERCENTILE = 95  # slow searches are what people remember


class Figure(StrEnum):
    """The five figures."""

    COVERAGE = "coverage"  # sentences of checked drafts with a source that holds the quote
    FAILED = "failed"  # drafts that the checks rejected
    CORRECTNESS = "correctness"  # mean probability that an answer is right, of answers
    RETRIEVAL = "retrieval"  # milliseconds of a search, 95th percentile
    MODEL = "model"  # milliseconds of language models by question, 95th percentile


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure's target and alert: below or above them, whichever side is the good one."""

    target: float
    alert: float

    def alerts(self, value: float | None) -> bool:
        return value is not None and (value < self.alert if self.target > self.alert else value > self.alert)


# the targets and alerts of the requirements
GOALS: Mapping[Figure, Goal] = {
    Figure.COVERAGE: Goal(1.0, 0.95),
    Figure.FAILED: Goal(0.0, 0.05),
    Figure.CORRECTNESS: Goal(0.8, 0.7),
    Figure.RETRIEVAL: Goal(100.0, 200.0),
    Figure.MODEL: Goal(2000.0, 5000.0),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept question: its id, when it was asked (ISO 8601, UTC), its text (untrusted), and how it went."""

    id: int
    at: str
    question: str
    summary: Summary


def figure(which: Figure, kept: Sequence[Kept]) -> float | None:
    """A figure over these questions: a share in [0, 1], or milliseconds."""
    summaries = [one.summary for one in kept]
    if which is Figure.COVERAGE:
        return _share(sum(one.cited for one in summaries), sum(one.claims for one in summaries))
    if which is Figure.FAILED:
        return _share(sum(one.failed for one in summaries), sum(one.drafts for one in summaries))
    if which is Figure.CORRECTNESS:
        return _mean(one.correctness for one in summaries if one.status is AnswerStatus.SUCCESS and one.searched)
    times = [one.retrieval_ms if which is Figure.RETRIEVAL else one.model_ms for one in summaries]
    known = [time for time in times if time is not None]
    return float(np.percentile(known, PERCENTILE)) if known else None


def refusals(kept: Iterable[Kept]) -> list[tuple[str, int]]:
    """(reason, questions) of what was refused, most first."""
    return Counter(
        one.summary.reason.value for one in kept if one.summary.status is not AnswerStatus.SUCCESS
    ).most_common()


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


_NO_GAP = frozenset({Reason.FOLLOW_UP, Reason.SUMMARY})  # no document would answer these


def unanswered(kept: Sequence[Kept]) -> list[Kept]:
    """The questions that the documents did not answer: refused by a gate, and not for a failure or a draft of ours."""
    wanted = (AnswerStatus.INSUFFICIENT_CONTEXT, AnswerStatus.LOW_CONFIDENCE)
    return [one for one in kept if one.summary.status in wanted and one.summary.reason not in _NO_GAP]
