"""Holds a check of the table against its threshold for many questions at once: one comparison of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rag_core.decision.batch.columns import CODE, Flags, Floats, Ints, ReplaySet
from rag_core.decision.checks import Check
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction
from rag_core.settings import Mode, Scale, Settings


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """One check of n questions.

    Args:
        name: of the check in the trace.
        values: shape (n,), on `scale`; NaN where nothing was measured.
        limits: shape (n,), or one for all.
        abstains: shape (n,); where it does not apply.
    """

    name: str
    reason: Reason
    mode: Mode
    scale: Scale
    values: Floats
    limits: Floats | float
    direction: Direction
    abstains: Flags

    @property
    def blocks(self) -> Flags:
        """Shape (n,); where it refuses: enforced, and failed or not measured. Equal passes."""
        if self.mode is not Mode.ENFORCE:
            return np.zeros_like(self.abstains)
        passes = self.values >= self.limits if self.direction is Direction.AT_LEAST else self.values <= self.limits
        return ~(passes | self.abstains)

    @property
    def codes(self) -> Ints:
        """Shape (n,); the reason a refusal by it has, as a code: its own, or that it could not be measured."""
        return np.where(np.isnan(self.values), CODE[Reason.NOT_RUN], CODE[self.reason])


def held(check: Check[Measurements], of: ReplaySet, settings: Settings) -> Held:
    """Judge all questions of a set by one check under these settings."""
    columns = check.columns
    values = of.values[check.name] if columns.values is None else columns.values(of, settings)
    limits = check.threshold_under(settings) if columns.thresholds is None else columns.thresholds(of, settings)
    return Held(
        check.name,
        check.reason,
        check.mode_under(settings),
        check.scale,
        values,
        limits,
        check.passes,
        of.abstains[check.name],
    )
