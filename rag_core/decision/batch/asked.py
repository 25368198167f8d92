"""The questions of a batch that a language model was asked about.

Each is judged once for all settings that differ in gates only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rag_core.decision.checks import GATING, GROUNDING
from rag_core.decision.decide import decide
from rag_core.domain.claims import Claim
from rag_core.domain.drafts import Draft
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.domain.trace import State
from rag_core.gating.levels import level
from rag_core.settings import Mode, Settings

_MAX_SETTINGS = 64  # whose outcomes are remembered
_CUTS = ("distance_mode", "max_distance")  # mark passages too
# what only a check before the draft reads, and says nothing of a question that all of them let pass
_OF_GATING = tuple(name for check in GATING for name in check.settings if name not in _CUTS)
_OPEN = {name: Mode.OFF if name.endswith("_mode") else Settings.model_fields[name].default for name in _OF_GATING}


@dataclass(frozen=True, slots=True)
class LlmOutcome:
    """How a question ends whose gates all passed, where it is not its extract that is judged, or its extract at a lower
    level.

    Args:
        reasons: all of them, the first first; `none` for an answer.
        level: of confidence.
        shown: the claims that the answer shows, by their places among `every_claim`.
        sides: whether it shows two passages that the model says contradict each other.
        values: of the grounding checks on the draft that was judged last, NaN where one was not measured; all NaN
            without such a draft.
        abstains: which of them do not apply to it.
    """

    reasons: tuple[Reason, ...]
    level: ConfidenceLevel
    shown: tuple[int, ...]
    sides: bool
    values: tuple[float, ...]
    abstains: tuple[bool, ...]


class LlmOutcomes:
    """How some rows of a set end by their LLM traces, remembered for the last settings."""

    def __init__(self, records: Mapping[int, Measurements]) -> None:
        self.rows = tuple(records)
        self._records = records
        self._known: dict[Settings, dict[int, LlmOutcome | None]] = {}

    def under(self, settings: Settings, rows: Iterable[int]) -> dict[int, LlmOutcome]:
        """The ends of those of the rows whose outcome is not that of their extract at its own level; their gates must
        all pass.
        """
        judging = settings.changed(**_OPEN)
        known = self._known.setdefault(judging, {})
        if len(self._known) > _MAX_SETTINGS:
            self._known.pop(next(iter(self._known)))
        for row in rows:
            if row not in known:
                known[row] = _llm_outcome(self._records[row], judging)
        return {row: one for row in rows if (one := known[row]) is not None}


def drafts_of(measurements: Measurements) -> tuple[Draft, ...]:
    """Every draft that an answer may be composed of: the extract, those of a model, and two sides of a contradiction
    that it named.
    """
    asked = measurements.llm_trace
    if asked is None:
        return (measurements.draft,)
    sides = (judgement.sides for judgement in asked.judgements if judgement.sides is not None)
    return (measurements.draft, *(attempt.draft for attempt in asked.attempts), *sides)


def every_claim(measurements: Measurements) -> tuple[Claim, ...]:
    """Every claim that an answer may show, the extract's first; `Outcomes.shown` counts in this order."""
    return tuple(claim for draft in drafts_of(measurements) for claim in draft.claims)


def _llm_outcome(measurements: Measurements, settings: Settings) -> LlmOutcome | None:
    """None where the extract stands at its own level."""
    now = replace(measurements, settings=settings)
    decision = decide(now)
    extract = bool(decision.metadata["drafter_note"])
    if extract and (not decision.answered or decision.confidence_level is level(now)):
        return None
    place = {id(claim): number for number, claim in enumerate(every_claim(measurements))}
    judged = decision.attempts[-1].checks if decision.attempts and not extract else decision.trace.checks
    checks = {check.stage: check for check in judged}
    measured = [checks.get(check.name) for check in GROUNDING]
    return LlmOutcome(
        decision.reasons or (decision.reason,),
        decision.confidence_level,
        tuple(place[id(claim)] for claim in decision.claims),
        bool(decision.conflicts) and not extract,
        tuple(math.nan if check is None or check.value is None else check.value for check in measured),
        tuple(check is None or check.state is State.ABSTAINED for check in measured),
    )
