"""One question in a few numbers, for whoever watches many: how it ended, how sure, how fast; and counts of a
collection's questions since the process began, which only grow. No text is in them.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from enum import StrEnum

from rag_core.decision.checks.gating import LIKELY
from rag_core.decision.compose import UNANSWERED
from rag_core.domain.claims import Claim
from rag_core.domain.decision import Decision
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import State

RETRIEVAL = ("embed", "retrieve")  # timings of a search: the question's vector, and ranking
_JUDGED = frozenset({"shown", "rejected"})  # drafts of a model that the grounding checks were run on
_NOT_DRAFTED = frozenset({Reason.NOT_RUN, Reason.FAILURE, Reason.NEEDS_GENERATION})


class Ending(StrEnum):
    """The one word for how a question ended: an answer, one to be read first or a place that may be it, or none."""

    SURE = "sure"
    MAYBE = "maybe"
    NO = "no"


def ending_of(decision: Decision) -> Ending:
    """The word for a decision, the same on every screen and in every file.

    An answer is a maybe where it is rather wrong than right, below a limit, contradicted, or to a part only; without a
    probability where its level is low.
    """
    if not decision.answered:
        return Ending.NO if decision.may_be is None else Ending.MAYBE
    missed = any(one.stage == "correctness" and one.state is State.FAILED for one in decision.trace.checks)
    part = decision.metadata.get(UNANSWERED) or any(one.can_answer == "partial" for one in decision.judgements)
    if missed or part or decision.conflicts:
        return Ending.MAYBE
    low = decision.confidence_level in (ConfidenceLevel.LOW, ConfidenceLevel.INSUFFICIENT)
    probability = decision.scores["correctness"]
    doubtful = probability < LIKELY if probability else low and decision.metadata.get("levels", True)
    return Ending.MAYBE if doubtful else Ending.SURE


@dataclass(frozen=True, slots=True)
class Summary:
    """How a question went."""

    status: AnswerStatus  # see `AnswerStatus`
    reason: Reason  # the first reason of a refusal
    searched: bool  # whether the documents were searched: not for small talk, nor where a failure came first
    ending: Ending = Ending.NO  # see `ending_of`
    correctness: float | None = None  # probability in [0, 1] that the extract is right; None without calibration
    claims: int = 0  # sentences of all drafts that were checked
    cited: int = 0  # those with a source that was retrieved and holds the quote
    drafts: int = 0  # that the grounding checks were run on
    failed: int = 0  # those that the checks rejected
    retrieval_ms: float | None = None  # for the search; None where there was none
    model_ms: float | None = None  # that language models took together; None where none was asked


def summarise(measurements: Measurements, decision: Decision) -> Summary:
    searched = "retrieve" in measurements.timings
    judged = [one for one in decision.attempts if one.outcome in _JUDGED]
    claims = [
        pair for one in judged for pair in zip(one.attempt.draft.claims, one.attempt.draft.measured, strict=False)
    ]
    drafts, failed = len(judged), sum(one.outcome == "rejected" for one in judged)
    if not judged and searched and _was_drafted(decision):
        claims = list(zip(measurements.draft.claims, measurements.draft.measured, strict=False))
        drafts, failed = 1, int(not decision.answered)
    trace = measurements.llm_trace
    asked = [call for call in trace.calls if call.made] if trace else []
    return Summary(
        decision.status,
        decision.reason,
        searched,
        ending_of(decision),
        measurements.correctness,
        len(claims),
        _cited(claims),
        drafts,
        failed,
        sum(measurements.timings.get(name, 0.0) for name in RETRIEVAL) if searched else None,
        sum(call.ms for call in asked) if asked else None,
    )


def _was_drafted(decision: Decision) -> bool:
    """Whether the extract itself was judged: it was shown, or a grounding check refused it."""
    return decision.answered or (
        decision.status is AnswerStatus.HALLUCINATION_DETECTED and decision.reason not in _NOT_DRAFTED
    )


def _cited(claims: Iterable[tuple[Claim, ClaimMeasurement]]) -> int:
    return sum(
        bool(claim.evidence) and measured.fabricated == () and measured.quotes_missing == ()
        for claim, measured in claims
    )


# upper ends of the groups in which values are counted; the alerts of the requirements are among them
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
SHARES = tuple(tenth / 10 for tenth in range(1, 11))


@dataclass
class Histogram:
    """How many values fell up to each end, how many in all, and their sum."""

    ends: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    sum: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.ends) + 1)

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.ends, value)] += 1
        self.sum += value


@dataclass
class Counted:
    """Counts of questions, sentences and drafts; seconds of searching and of models; probabilities."""

    questions: Counter[tuple[str, str]] = field(default_factory=Counter)
    claims: int = 0
    cited: int = 0
    drafts: int = 0
    failed: int = 0
    retrieval: Histogram = field(default_factory=lambda: Histogram(SECONDS))
    model: Histogram = field(default_factory=lambda: Histogram(SECONDS))
    correctness: Histogram = field(default_factory=lambda: Histogram(SHARES))


class Counts:
    """The counts of one collection. Safe to share between threads."""

    def __init__(self) -> None:
        self._counted, self._lock = Counted(), threading.Lock()

    def watch(self, measurements: Measurements, decision: Decision) -> None:
        summary, found = summarise(measurements, decision), self._counted
        with self._lock:
            found.questions[summary.status.value, summary.reason.value] += 1
            found.claims += summary.claims
            found.cited += summary.cited
            found.drafts += summary.drafts
            found.failed += summary.failed
            if summary.retrieval_ms is not None:
                found.retrieval.add(summary.retrieval_ms / 1000)
            if summary.model_ms is not None:
                found.model.add(summary.model_ms / 1000)
            if summary.correctness is not None and summary.searched:
                found.correctness.add(summary.correctness)

    def now(self) -> Counted:
        with self._lock:
            return deepcopy(self._counted)
