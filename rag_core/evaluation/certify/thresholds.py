"""The thresholds that a certificate may choose, and the values that it tries: from their declarations, never from the
labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from rag_core.decision.checks import CHECKS, GATING
from rag_core.settings import Cost, Knob, Scale, Settings

# added to a threshold, none by themselves
_SHIFTS = tuple(
    f"{score}_extra_{intent}" for score in ("correctness", "answerability") for intent in ("procedural", "comparative")
)

_OF = {
    name: check
    for check in CHECKS
    if check.certifiable
    for name in check.settings
    if name not in (check.mode, *_SHIFTS)
}
# each threshold that may be chosen, and the mode that must enforce its check
MODE_OF: Mapping[str, str] = MappingProxyType({name: check.mode for name, check in _OF.items()})
# the first threshold cuts a score of the whole question
FIRST: Mapping[str, str] = MappingProxyType(
    {name: check.mode for name, check in _OF.items() if check in GATING and check.scale is not Scale.COUNT}
)
ROWS = 6  # values of the second threshold; each costs a share of the confidence


def second_thresholds(first: str) -> tuple[str, ...]:
    """The thresholds that may be chosen together with a first one."""
    return tuple(name for name in MODE_OF if name != first and Settings.knob(name).cost is Cost.REPLAY)


def steps(name: str) -> tuple[float, ...]:
    """Every value of a threshold's slider, the strictest first."""
    knob = Settings.knob(name)
    low, high, step = _bounds(knob)
    values = [round(low + n * step, 10) for n in range(round((high - low) / step) + 1)]
    return _typed(knob, values if knob.stricter == "lower" else values[::-1])


def rows(name: str) -> tuple[float, ...]:
    """At most `ROWS` values of a second threshold, evenly over its range, the loosest first: where the choice ties, it
    stays loose.
    """
    every = steps(name)[::-1]
    return tuple(every[round(n)] for n in np.linspace(0, len(every) - 1, min(ROWS, len(every))))


def _bounds(knob: Knob) -> tuple[float, float, float]:
    if knob.low is None or knob.high is None or not knob.step:
        raise ValueError(f"{knob.name} is no threshold")
    return knob.low, knob.high, knob.step


def _typed(knob: Knob, values: list[float]) -> tuple[float, ...]:
    return tuple(int(value) for value in values) if isinstance(knob.default, int) else tuple(values)
