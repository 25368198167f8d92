"""The trace: each measurement with the threshold it was held against, stage by stage. Immutable, JSON in and out.

A `CheckResult` is one judgement: a measured value against a threshold, under a mode. It is built by `judge()`, so that
the boundary rule (a value equal to its threshold passes, in both directions) stands in one place.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from rag_core.domain.status import Reason
from rag_core.settings import Mode, Scale


def several(count: int, noun: str) -> str:
    """A count in English words: "1 passage", "0 passages", "2 passages"; for a noun whose plural ends in s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class State(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    ABSTAINED = "abstained"  # does not apply and says why; passes
    NOT_RUN = "not_run"  # could not be measured, or is off; under enforce it refuses
    NOT_REACHED = "not_reached"  # an earlier gate refused


class Direction(StrEnum):
    """The side of the threshold that passes."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One judgement of the trace."""

    stage: str  # name of the gate, grounding check or step
    state: State
    mode: Mode
    value: float | None = None  # what was measured, on `scale`; None when it was not measured
    threshold: float | None = None  # the limit it was held against; None for a step that judges nothing
    direction: Direction | None = None
    scale: Scale | None = None
    reason: Reason = Reason.NONE
    found: str = ""  # the measurement in words ("cosine 0.61, 0.72 required"), plain text
    note: str = ""  # why it abstained or was not run
    remedy: str = ""  # what the reader can do when it failed
    ms: float = 0.0  # milliseconds the measurement took

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", Scale(self.scale) if self.scale else None)  # an unknown scale is a ValueError
        if self.value is not None and self.scale is not None:
            self.scale.require(self.stage, self.value)
        elif self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.stage}: a value must be finite, got {self.value}")

    @property
    def blocks(self) -> bool:
        """Whether it refuses: enforced, and failed or could not run."""
        return self.mode is Mode.ENFORCE and self.state in (State.FAILED, State.NOT_RUN)

    def not_reached(self) -> CheckResult:
        """The same, marked as not reached because an earlier check refused, unless it never applied."""
        settled = self.state is State.ABSTAINED or self.mode is Mode.OFF
        return self if settled else replace(self, state=State.NOT_REACHED)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ms": round(self.ms, 3)}


def judge(
    stage: str,
    value: float | None,
    threshold: float,
    direction: Direction,
    scale: Scale,
    reason: Reason,
    mode: Mode,
    *,
    found: str = "",
    remedy: str = "",
    abstain: str = "",
    veto: bool = False,
    ms: float = 0.0,
) -> CheckResult:
    """Hold a value against its threshold. Equal passes, in both directions. A `veto` fails whatever the threshold is.

    `abstain` says why the check does not apply. A value of None without it could not be measured: `not_run`, which
    refuses under enforce.
    """
    note = abstain
    if mode is Mode.OFF:
        state, note = State.NOT_RUN, "switched off"
    elif abstain:
        state = State.ABSTAINED
    elif value is None:
        state, note = State.NOT_RUN, found or "could not be measured"
    else:
        passes = value >= threshold if direction is Direction.AT_LEAST else value <= threshold
        state = State.PASSED if passes and not veto else State.FAILED
    shown = None if mode is Mode.OFF else value
    return CheckResult(stage, state, mode, shown, threshold, direction, scale, reason, found, note, remedy, ms)


@dataclass(frozen=True, slots=True)
class Trace:
    """All checks of one decision, in the order of the line."""

    checks: tuple[CheckResult, ...] = ()

    def plus(self, *checks: CheckResult) -> Trace:
        return Trace((*self.checks, *checks))

    def __getitem__(self, stage: str) -> CheckResult:
        for check in self.checks:
            if check.stage == stage:
                return check
        raise KeyError(stage)

    def to_json(self) -> list[dict[str, Any]]:
        return [check.to_json() for check in self.checks]
