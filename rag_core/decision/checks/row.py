"""A check as one row: its value, the threshold that it is held against, and the meaning of a failure.

Judging one question, judging thousands as columns, the thresholds a certificate may choose, the page's limits and the
table in the documentation all follow from the rows. `rag_core.decision.checks` lists them in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_core.domain.status import AnswerStatus, Reason
from rag_core.domain.trace import CheckResult, Direction, judge
from rag_core.settings import Mode, Scale, Settings

Floats = NDArray[np.float64]
SHOWN = 3  # texts that are named in a check


def listed(texts: Sequence[str], between: str) -> str:
    """The first of these texts, and how many more there are; empty for none."""
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return between.join(texts[:SHOWN]) + more


class Subject(Protocol):
    """The subject of a check: measurements, or a draft of a language model with its measurements."""

    @property
    def settings(self) -> Settings: ...


S = TypeVar("S", bound=Subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Generic[S]):
    """One check."""

    name: str  # in the trace
    asks: str  # the question that it answers, in one sentence
    reason: Reason  # why it refuses; it brings the status with it
    scale: Scale  # the value's and the threshold's
    value: Callable[[S], float | None]  # None where it could not be measured, which has not passed
    threshold: str | float  # name of the setting, or a number that is no setting
    said: Callable[[S, float | None, float], str]  # the measurement in words, by value and threshold
    remedy: str | Callable[[S, float | None], str]  # for the reader of a failure
    passes: Direction = Direction.AT_LEAST  # which side of the threshold passes; equal passes on both
    mode: str = ""  # name of the setting that says what the check may do; empty where nothing switches it off
    abstains: Callable[[S], str] = lambda _: ""  # why it does not apply; empty where it does
    # the threshold of this question, from the setting's value; None: the setting itself
    threshold_of: Callable[[S, float], float] | None = None
    vetoes: Callable[[S], bool] = lambda _: False  # a failure whatever the threshold is
    also: tuple[str, ...] = ()  # further settings that it reads
    timing: str = ""  # name of the stage in `Measurements.timings` that measured it
    certifiable: bool = False  # whether a certificate may choose its threshold
    source: str = ""  # where the default threshold comes from
    # the values of many questions, shape (n,), from the columns of a replay set and the settings, where a value depends
    # on a setting; None: the value of each, read once
    value_column: Callable[[Any, Settings], Floats] | None = None
    threshold_column: Callable[[Any, Settings], Floats] | None = None  # their thresholds; None: the setting itself

    @property
    def status(self) -> AnswerStatus:
        return self.reason.status

    @property
    def settings(self) -> tuple[str, ...]:
        named = (self.mode, *self.also, self.threshold if isinstance(self.threshold, str) else "")
        return tuple(name for name in named if name)

    def mode_under(self, settings: Settings) -> Mode:
        return Mode(getattr(settings, self.mode)) if self.mode else Mode.ENFORCE

    def threshold_under(self, settings: Settings) -> float:
        """The threshold under these settings, before `threshold_of` looks at the question."""
        return float(getattr(settings, self.threshold) if isinstance(self.threshold, str) else self.threshold)

    def __call__(self, subject: S) -> CheckResult:
        """Judge what was measured under the subject's settings."""
        threshold = self.threshold_under(subject.settings)
        if self.threshold_of is not None:
            threshold = self.threshold_of(subject, threshold)
        value = self.value(subject)
        return judge(
            self.name,
            value,
            threshold,
            self.passes,
            self.scale,
            self.reason,
            self.mode_under(subject.settings),
            found=self.said(subject, value, threshold),
            remedy=self.remedy if isinstance(self.remedy, str) else self.remedy(subject, value),
            abstain=self.abstains(subject),
            veto=self.vetoes(subject),
            ms=getattr(subject, "timings", {}).get(self.timing, 0.0),
        )
