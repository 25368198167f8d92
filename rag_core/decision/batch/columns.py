"""The numbers of many recorded questions as columns, for judging; those that a language model was asked about are
judged once for all settings that differ in gates only.

The columns are read once, and know no model, index or file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.decision.checks import GATING, GROUNDING
from rag_core.decision.decide import decide
from rag_core.decision.present import scores
from rag_core.domain.claims import Claim
from rag_core.domain.drafts import Draft
from rag_core.domain.measurements import Measurements
from rag_core.domain.replies import SETTLED
from rag_core.domain.status import Reason
from rag_core.domain.trace import State
from rag_core.settings import Mode, Settings

_MAX_SETTINGS = 64  # whose outcomes are remembered
_CUTS = ("distance_mode", "max_distance")  # mark passages too
# what only a check before the draft reads, and says nothing of a question that all of them let pass
_OF_GATING = tuple(name for check in GATING for name in check.settings if name not in _CUTS)
_OPEN = {name: Mode.OFF if name.endswith("_mode") else Settings.model_fields[name].default for name in _OF_GATING}


@dataclass(frozen=True, slots=True)
class LlmOutcome:
    """How a question ends by a language model's record."""

    reason: Reason  # the first; `none` for an answer
    shown: tuple[int, ...]  # the claims that the answer shows, by their places among `every_claim`
    values: tuple[float, ...]  # the grounding checks' values on the draft that was judged last, NaN where not measured
    abstains: tuple[bool, ...]  # which of them do not apply to it


class LlmOutcomes:
    """How some rows of a set end by their LLM traces, remembered for the last settings."""

    def __init__(self, records: Mapping[int, Measurements]) -> None:
        self.rows = tuple(records)
        self._records = records
        self._known = lru_cache(_MAX_SETTINGS)(self._none_yet)

    def under(self, settings: Settings, rows: Iterable[int]) -> dict[int, LlmOutcome]:
        """The ends of those of the rows, whose gates all pass."""
        judging = settings.changed(**_OPEN)
        known, asked = self._known(judging), list(rows)
        known.update({row: _llm_outcome(self._records[row], judging) for row in asked if row not in known})
        return {row: known[row] for row in asked}

    def _none_yet(self, _: Settings) -> dict[int, LlmOutcome]:
        return {}


def drafts_of(measurements: Measurements) -> tuple[Draft, ...]:
    """Every draft of an answer: the extract, those of a model, and two sides of a contradiction it named."""
    asked = measurements.llm_trace
    if asked is None:
        return (measurements.draft,)
    sides = (judgement.sides for judgement in asked.judgements if judgement.sides is not None)
    return (measurements.draft, *(attempt.draft for attempt in asked.attempts), *sides)


def every_claim(measurements: Measurements) -> tuple[Claim, ...]:
    """Every claim that an answer may show, the extract's first, those of the less likely half last; `Outcomes.shown`
    counts in this order.
    """
    own = tuple(claim for draft in drafts_of(measurements) for claim in draft.claims)
    return own if measurements.other is None else own + every_claim(measurements.other)


def _llm_outcome(measurements: Measurements, settings: Settings) -> LlmOutcome:
    decision = decide(replace(measurements, settings=settings))
    place = {id(claim): number for number, claim in enumerate(every_claim(measurements))}
    extract = bool(decision.metadata["drafter_note"])
    judged = decision.attempts[-1].checks if decision.attempts and not extract else decision.trace.checks
    checks = {check.stage: check for check in judged}
    measured = [checks.get(check.name) for check in GROUNDING]
    return LlmOutcome(
        decision.reason,
        tuple(place[id(claim)] for claim in decision.claims),
        tuple(math.nan if check is None or check.value is None else check.value for check in measured),
        tuple(check is None or check.state is State.ABSTAINED for check in measured),
    )


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Objects = NDArray[np.object_]

JUDGED = (*GATING, *GROUNDING)
REASONS = tuple(Reason)
CODE = {reason: code for code, reason in enumerate(REASONS)}  # 0 is `none`
_NO_CONFLICT: tuple[int, int, int, bool] = (0, 0, 0, False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)  # what is worked out from a set lives as long as it
class ReplaySet:
    """n questions as columns.

    A column of one number a question has shape (n,), one of claims (n, most claims), padded; NaN: not measured.

    `settled` is the code of a reason that no setting changes (a greeting, a failure), or of `none`. `rests_on` is the
    distance in [0, 2] of the farthest retrieved passage a claim rests on, -inf where none was retrieved. Conflicts are
    rows of (question, claim, other, added). Questions with a model's drafts, and of two halves, are judged by
    themselves once their gates pass.
    """

    measured_under: tuple[Settings, ...]  # each once
    # the named measurements of decisions, for charts; NaN where a question has none of that name
    scores: Mapping[str, Floats]
    values: Mapping[str, Floats]  # by the check's name; of those whose value is the same under all settings
    abstains: Mapping[str, Flags]  # by the check's name
    settled: Ints
    distances: Floats  # distances of the hits, (n, most hits)
    known_keywords: Floats
    searched: Floats  # passages that were searched; infinite where nobody noted how many
    claims: Flags
    rests: Flags  # a claim with evidence
    rests_on: Floats
    overlap: Floats
    changed_facts: Floats
    conflicts: Ints
    most_claims: int  # that a question has, its drafts all together; see `every_claim`
    llm_outcomes: LlmOutcomes
    of_two: Mapping[int, Measurements]  # by row, those that ask two things

    def __len__(self) -> int:
        return len(self.settled)

    @classmethod
    def of(cls, records: Sequence[Measurements]) -> ReplaySet:
        """Read the records once; raises ValueError for a draft whose claims were not all measured."""
        for draft in (draft for measurements in records for draft in drafts_of(measurements)):
            if len(draft.measured) != len(draft.claims):
                raise ValueError(f"{len(draft.claims)} claims need as many measurements, got {len(draft.measured)}")
        named_scores = [scores(measurements) for measurements in records]
        names = dict.fromkeys(name for row in named_scores for name in row)
        clashes = [
            (row, one.claim, one.other, one.added)
            for row, measurements in enumerate(records)
            for one in measurements.conflicts
        ]
        return cls(
            measured_under=tuple(dict.fromkeys(measurements.settings for measurements in records)),
            scores={name: _floats(row.get(name) for row in named_scores) for name in names},
            values={check.name: _floats(map(check.value, records)) for check in JUDGED if check.value_column is None},
            abstains={
                check.name: _flags(bool(check.abstains(measurements)) for measurements in records) for check in JUDGED
            },
            settled=np.array([CODE[_settled(measurements)] for measurements in records], dtype=np.int64),
            distances=_table(([hit.distance for hit in measurements.hits] for measurements in records), np.nan),
            known_keywords=_floats(
                len(measurements.keywords.matched) + len(measurements.keywords.missing) for measurements in records
            ),
            searched=_floats(measurements.library.passages or np.inf for measurements in records),
            claims=_of_claims(records, lambda claim: True),
            rests=_of_claims(records, lambda claim: bool(claim.evidence)),
            rests_on=_table((_rests_on(measurements) for measurements in records), -np.inf),
            overlap=_table(([one.overlap for one in of.draft.measured] for of in records), np.nan),
            changed_facts=_table(
                ([1 if (n := one.changed_facts) is None else len(n) for one in of.draft.measured] for of in records),
                0.0,
            ),
            conflicts=np.array(clashes or [_NO_CONFLICT], dtype=np.int64)[: len(clashes)],
            most_claims=max((len(every_claim(measurements)) for measurements in records), default=0),
            llm_outcomes=LlmOutcomes(
                {row: measurements for row, measurements in enumerate(records) if measurements.llm_trace is not None}
            ),
            of_two={row: measurements for row, measurements in enumerate(records) if measurements.other is not None},
        )

    @property
    def no_claims(self) -> Flags:
        """Shape (n,); no draft to check."""
        return np.asarray(~self.claims.any(axis=1))

    def grounded_share(self, min_overlap: float) -> Floats:
        """Shape (n,); the share of claims with evidence that are grounded, NaN where none has words."""
        compared = self.rests & ~np.isnan(self.overlap)
        grounded = compared & (self.overlap >= min_overlap) & (self.changed_facts == 0)
        count = compared.sum(axis=1)
        return np.where(count > 0, grounded.sum(axis=1) / np.maximum(count, 1), np.nan)


def _settled(measurements: Measurements) -> Reason:
    """The reason of a question that no gate or grounding check judges; `none` where they do."""
    if measurements.failure:
        return Reason.FAILURE
    if measurements.answer:
        return SETTLED.get(measurements.understanding.intent, Reason.ABOUT_LIBRARY)
    return Reason.NONE


def _rests_on(measurements: Measurements) -> list[float]:
    """For each claim the distance of the farthest passage it rests on; a passage counts by its nearest hit."""
    nearest: dict[str, float] = {}
    for hit in measurements.hits:
        nearest[hit.passage.id] = min(hit.distance, nearest.get(hit.passage.id, np.inf))
    return [
        max((nearest.get(piece.passage, -np.inf) for piece in claim.evidence), default=-np.inf)
        for claim in measurements.draft.claims
    ]


def _of_claims(records: Sequence[Measurements], holds: Callable[[Claim], bool]) -> Flags:
    return _table(
        ([float(holds(claim)) for claim in measurements.draft.claims] for measurements in records), 0.0
    ).astype(bool)


def _floats(values: Iterable[float | None]) -> Floats:
    """Shape (n,); NaN for None."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _flags(values: Iterable[bool]) -> Flags:
    return np.array(list(values), dtype=bool)


def _table(rows: Iterable[Sequence[float | None]], fill: float) -> Floats:
    """Shape (n, longest row); short rows are filled up, None is NaN."""
    listed: list[Any] = list(rows)
    table = np.full((len(listed), max(map(len, listed), default=0)), fill)
    for row, values in zip(table, listed, strict=True):
        row[: len(values)] = [np.nan if value is None else value for value in values]
    return table
