"""Finds the smallest change of each single setting that turns a refusal into an answer, or an answer into a refusal.

Only judging settings are tried, each by itself and from the question's own settings, by replaying what was measured: no
model, no index. A threshold is searched by bisection on the grid of its slider, since a stricter one never turns a
refusal into an answer. Where a language model drafted, some changes turn the outcome into neither: it would have to be
asked again, and what it would say is not known.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

from rag_core.decision.decide import decide, replay
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.replies import SETTLED
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.settings import Cost, Knob, Mode, Settings

_NO_JUDGEMENT = frozenset(SETTLED.values())


@dataclass(frozen=True, slots=True)
class Flip:
    """One setting, changed as little as possible so that the outcome is another one."""

    name: str  # the setting's
    before: Any  # its value in the measurements
    after: Any  # the nearest value on the setting's grid with another outcome; `observe` for a mode
    status: AnswerStatus  # how the question ends then
    reason: Reason  # its first reason then; `none` for an answer, `needs_generation` where a model has to be asked


def flips(measurements: Measurements) -> tuple[Flip, ...]:
    """The single changes that flip the outcome: thresholds by the share of their range that they move, then modes by
    stage.

    Tried are numeric settings with a stricter end, in the direction that can flip the outcome, and for a refusal each
    enforced check, which would only be observed. Empty for what was not judged.
    """
    decision = decide(measurements)
    if decision.status is AnswerStatus.ERROR or decision.reason in _NO_JUDGEMENT:
        return ()
    judging = [knob for knob in Settings.knobs() if knob.cost is Cost.REPLAY]
    thresholds = [
        (knob, flip) for knob in judging if knob.stricter and (flip := _threshold(measurements, knob, decision))
    ]
    thresholds.sort(key=lambda pair: _share(*pair))
    modes = [flip for knob in judging if not decision.answered and (flip := _mode(measurements, knob, decision))]
    return (*(flip for _, flip in thresholds), *modes)


def _threshold(measurements: Measurements, knob: Knob, now: Decision) -> Flip | None:
    """The nearest value of a threshold that flips the outcome: stricter for an answer, looser for a refusal."""
    current, upwards = getattr(measurements.settings, knob.name), (knob.stricter == "higher") == now.answered
    values = [value for value in knob.values if (value > current if upwards else value < current)]
    values = values if upwards else values[::-1]  # the nearest first
    # the outcome from this value on; one way to an outcome may follow another, and none comes back
    first, stretch = 0, now

    def leaves(value: float) -> bool:
        return _way(_replayed(measurements, knob.name, value)) != _way(stretch)

    while first < len(values) and leaves(values[-1]):
        # the last value leaves the stretch, and so does everything from some value on
        place = bisect_left(values, True, first, len(values) - 1, key=leaves)
        first, stretch = place + 1, _replayed(measurements, knob.name, values[place])
        if _outcome(stretch) != _outcome(now):
            return Flip(knob.name, current, values[place], stretch.status, stretch.reason)
    return None


def _mode(measurements: Measurements, knob: Knob, now: Decision) -> Flip | None:
    """An enforced check that would be observed, where the question would not be refused then."""
    if getattr(measurements.settings, knob.name) is not Mode.ENFORCE:
        return None
    then = _replayed(measurements, knob.name, Mode.OBSERVE)
    return (
        None
        if _outcome(then) == _outcome(now)
        else Flip(knob.name, Mode.ENFORCE, Mode.OBSERVE, then.status, then.reason)
    )


def _replayed(measurements: Measurements, name: str, value: Any) -> Decision:
    return replay(measurements, measurements.settings.changed(**{name: value}))


def _outcome(decision: Decision) -> tuple[bool, bool]:
    """An answer, a refusal, or neither."""
    return decision.answered, decision.reason is Reason.NEEDS_GENERATION


def _way(decision: Decision) -> tuple[object, ...]:
    """An outcome with what became of a model's drafts before it: an answer may be another draft's."""
    return (*_outcome(decision), *(one.outcome for one in decision.attempts))


def _share(knob: Knob, flip: Flip) -> float:
    """How far a threshold moves, as a share of its range, in (0, 1]."""
    reach = (knob.high or 0.0) - (knob.low or 0.0)
    return float(abs(flip.after - flip.before) / reach)
