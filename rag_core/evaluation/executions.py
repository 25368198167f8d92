"""Figures on what programs recorded of their work, by the profile that they worked under."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rag_core.evaluation.report import Rate
from rag_core.records.stored import Execution


@dataclass(frozen=True, slots=True)
class Recorded:
    """Executions under one profile; `confidence` and `citation_coverage` are means in [0, 1], None without any."""

    executions: int
    confidence: float | None
    citation_coverage: float | None
    hallucinations: Rate
    outcomes: Counter[str]
    feedback: Counter[str]

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "executions": self.executions, "confidence": self.confidence, "citation_coverage": self.citation_coverage,
            "hallucinations": self.hallucinations.to_json(), "outcomes": dict(self.outcomes), "feedback": dict(self.feedback),
        }  # fmt: skip


def recorded(executions: Iterable[Execution], profile: str) -> Recorded:
    """The figures of those under this profile, such as `legal`; "" for those under none."""
    own = [one for one in executions if one.profile == profile]
    return Recorded(
        len(own), _mean([one.metrics.confidence for one in own]), _mean([one.metrics.citation_coverage for one in own]),
        Rate(sum(one.metrics.hallucination_detected for one in own), len(own)), Counter(one.outcome.value for one in own),
        Counter(one.feedback.value for one in own if one.feedback),
    )  # fmt: skip


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
