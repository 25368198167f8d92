"""Counts of a collection's questions since the process began, for a program that watches it. They only grow.

No text is in them.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field

from rag_core.decision.summary import summarise
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements

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
        """Count a value."""
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
        """Count a question that was decided."""
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
        """The counts at this moment."""
        with self._lock:
            return deepcopy(self._counted)
