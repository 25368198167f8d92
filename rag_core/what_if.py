"""What would have to change: the smallest change of each single setting that turns a refusal into an answer, or an answer into a refusal.

Only judging settings are tried, each by itself and from the case's own settings, by replaying what was measured: no model, no index. A
threshold is searched by bisection on the grid of its slider, since a stricter one never turns a refusal into an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rag_core.case import Case
from rag_core.pipeline import decide, replay
from rag_core.settings import Cost, Knob, Mode, Settings
from rag_core.status import AnswerStatus, Reason

_NO_JUDGEMENT = frozenset({Reason.GREETING, Reason.ABOUT_LIBRARY})


@dataclass(frozen=True, slots=True)
class Flip:
    """One setting, changed as little as possible so that the outcome is the other one.

    Args:
        name: of the setting.
        before: its value in the case.
        after: the nearest value on the setting's grid (`low`, `low + step`, …) with the other outcome; `observe` for a mode.
        status: how the question ends then.
        reason: its first reason then; `none` for an answer.
    """

    name: str
    before: Any
    after: Any
    status: AnswerStatus
    reason: Reason


def flips(case: Case) -> tuple[Flip, ...]:
    """The single changes that flip the outcome: thresholds by the share of their range that they move, then modes by stage.

    Tried are numeric settings with a stricter end, in the direction that can flip the outcome, and for a refusal each enforced check, which
    would only be observed. Empty for what was not judged: an error, a greeting, a question about the library itself.
    """
    decision = decide(case)
    if decision.status is AnswerStatus.ERROR or decision.reason in _NO_JUDGEMENT:
        return ()
    answered = decision.is_safe()
    judging = [knob for knob in Settings.knobs() if knob.cost is Cost.REPLAY]
    thresholds = [(knob, flip) for knob in judging if knob.stricter and (flip := _threshold(case, knob, answered))]
    thresholds.sort(key=lambda pair: _share(*pair))
    modes = [flip for knob in judging if not answered and (flip := _mode(case, knob))]
    return (*(flip for _, flip in thresholds), *modes)


def _threshold(case: Case, knob: Knob, answered: bool) -> Flip | None:
    """The nearest value of a threshold that flips the outcome: stricter for an answer, looser for a refusal."""
    values = _grid(knob, getattr(case.settings, knob.name), upwards=(knob.stricter == "higher") == answered)
    if not values or not _flip(case, knob.name, values[-1], answered):
        return None
    low, high = 0, len(values) - 1  # the last value flips, and so does everything from some value on
    while low < high:
        middle = (low + high) // 2
        if _flip(case, knob.name, values[middle], answered):
            high = middle
        else:
            low = middle + 1
    return _flip(case, knob.name, values[low], answered)


def _mode(case: Case, knob: Knob) -> Flip | None:
    """An enforced check that would be observed, where the question would be answered then."""
    enforced = getattr(case.settings, knob.name) is Mode.ENFORCE
    return _flip(case, knob.name, Mode.OBSERVE, answered=False) if enforced else None


def _flip(case: Case, name: str, value: Any, answered: bool) -> Flip | None:
    decision = replay(case, case.settings.changed(**{name: value}))
    if decision.is_safe() is answered:
        return None
    return Flip(name, getattr(case.settings, name), value, decision.status, decision.reason)


def _grid(knob: Knob, current: float, *, upwards: bool) -> list[float]:
    """The values of a knob's grid beyond the current one, nearest first; exact decimals, and integers where the knob counts."""
    if knob.low is None or knob.high is None or knob.step is None:
        return []
    kind = type(knob.default)
    first, step = Decimal(str(knob.low)), Decimal(str(knob.step))
    last = int((Decimal(str(knob.high)) - first) / step)
    place = (Decimal(str(current)) - first) / step
    numbers = range(math.floor(place) + 1, last + 1) if upwards else range(math.ceil(place) - 1, -1, -1)
    return [kind(first + number * step) for number in numbers]


def _share(knob: Knob, flip: Flip) -> float:
    """How far a threshold moves, as a share of its range, in (0, 1]."""
    reach = (knob.high or 0.0) - (knob.low or 0.0)
    return float(abs(flip.after - flip.before) / reach)
