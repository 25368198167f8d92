"""Judges many recorded questions at once, from columns of numbers. Each outcome is that of `decide.replay`.

`ReplaySet.of` reads the records once; `replay_many` is then arithmetic on arrays of n questions. Those that a language
model was asked about are judged one by one once their gates pass. No model, index or file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.decision.batch.columns import CODE, REASONS, Flags, Floats, Ints, LlmOutcome, Objects, ReplaySet
from rag_core.decision.checks import GATING, GROUNDING, SUFFICIENCY, Check
from rag_core.decision.decide import require_replayable
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.domain.trace import Direction
from rag_core.gating.levels import (
    MAX_CONTRADICTED,
    MAX_HALF_FOUND,
    MAX_UNREAD,
    by_distance,
    by_score,
    cut_distance,
    looks_at_conflicts,
)
from rag_core.settings import Mode, Settings

_REASON = np.array([*REASONS, None], dtype=object)[:-1]  # the None keeps numpy from making strings of them
_STATUS = np.array([*(reason.status for reason in REASONS), None], dtype=object)[:-1]
_LEVEL = np.array([*ConfidenceLevel, None], dtype=object)[:-1]
_LEVELS = tuple(ConfidenceLevel)
_HIGH, _INSUFFICIENT = _LEVELS.index(ConfidenceLevel.HIGH), _LEVELS.index(ConfidenceLevel.INSUFFICIENT)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A check of n questions, held against its threshold in one comparison of arrays."""

    check: Check[Measurements]  # its row
    mode: Mode  # what it may do
    values: Floats  # shape (n,), on the check's scale; NaN where nothing was measured
    limits: Floats | float  # shape (n,), or one for all
    abstains: Flags  # shape (n,); where it does not apply

    @property
    def blocks(self) -> Flags:
        """Shape (n,); where it refuses: enforced, and failed or not measured. Equal passes."""
        if self.mode is not Mode.ENFORCE:
            return np.zeros_like(self.abstains)
        at_least = self.check.passes is Direction.AT_LEAST
        passes = self.values >= self.limits if at_least else self.values <= self.limits
        return ~(passes | self.abstains)

    @property
    def codes(self) -> Ints:
        """Shape (n,); the reason a refusal by it has, as a code: its own, or that it could not be measured."""
        return np.where(np.isnan(self.values), CODE[Reason.NOT_RUN], CODE[self.check.reason])


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """How n questions end under `settings`; `reason`, `status` and `level`, of shape (n,), are a decision's."""

    settings: Settings
    answered: Flags
    reason: Objects  # shape (n,), the first `Reason` of each; `status` and `level` are what a decision has of that name
    status: Objects
    level: Objects
    shown: Flags  # shape (n, most claims); which of `every_claim` the answer shows: the extract's come first
    conflicts: Flags  # shape (conflicts of the set,); which are shown, in the order of `ReplaySet.conflicts`
    scores: Mapping[str, Floats]
    failed_checks: Ints  # (n, checks): the code of the reason where a grounding check refuses, of `none` where not
    sides: Flags  # shape (n,); whether two passages are shown that a language model says contradict each other
    llm_outcomes: Mapping[int, LlmOutcome]  # rows that a language model's record decided

    def __len__(self) -> int:
        return len(self.answered)

    @property
    def needs_model(self) -> Flags:
        """Shape (n,); what would have to be asked of a language model first: neither an answer nor a refusal."""
        return np.asarray(self.reason == Reason.NEEDS_GENERATION)

    def reasons(self, row: int) -> tuple[Reason, ...]:
        """All reasons of one refusal, the first first; empty for an answer."""
        if self.answered[row]:
            return ()
        if row in self.llm_outcomes:
            return self.llm_outcomes[row].reasons
        failed = tuple(REASONS[code] for code in self.failed_checks[row] if code)
        return failed or (self.reason[row],)


def replay_many(records: Sequence[Measurements] | ReplaySet, settings: Settings) -> Outcomes:
    """As `replay` one by one, from a built set in milliseconds; raises InvalidSetting as `require_replayable`."""
    of = records if isinstance(records, ReplaySet) else ReplaySet.of(records)
    for before in of.measured_under:
        require_replayable(before, settings)
    code = _gated(of, settings)
    llm_outcomes = _llm_outcomes(of, settings, code)
    code[of.no_claims & (code == 0)] = CODE[Reason.EMPTY_DRAFT]
    checks = [_held(check, of, settings) for check in GROUNDING]
    drafted = code == 0
    failed = np.stack([np.where(check.blocks & drafted, check.codes, 0) for check in checks], axis=1)
    code = np.where(drafted, np.take_along_axis(failed, (failed != 0).argmax(axis=1)[:, None], axis=1)[:, 0], code)
    shown, conflicts = _shown(of, settings)
    code[(code == 0) & ~shown.any(axis=1)] = CODE[Reason.ALL_CLAIMS_CUT]
    level = _level(of, settings)
    shown = np.pad(shown & (code == 0)[:, None], ((0, 0), (0, of.most_claims - shown.shape[1])))
    for row, one in llm_outcomes.items():
        code[row], level[row], failed[row] = CODE[one.reasons[0]], _LEVELS.index(one.level), 0
        shown[row] = np.isin(np.arange(of.most_claims), one.shown)
    given = code == 0
    reply = (code == CODE[Reason.GREETING]) | (code == CODE[Reason.ABOUT_LIBRARY])
    level = np.where(reply, _HIGH, np.where(given, level, _INSUFFICIENT))
    return Outcomes(
        settings=settings,
        answered=given | reply,
        reason=_REASON[code],
        status=_STATUS[code],
        level=_LEVEL[level],
        shown=shown,
        conflicts=conflicts & given[of.conflicts[:, 0]],
        scores=of.scores,
        failed_checks=failed,
        sides=np.isin(np.arange(len(of)), [row for row, one in llm_outcomes.items() if one.sides]),
        llm_outcomes=llm_outcomes,
    )


def checks_of(of: ReplaySet, settings: Settings) -> tuple[Held, ...]:
    """Every check of all questions under these settings, in order; grounding is of the draft that is judged."""
    llm_outcomes = _llm_outcomes(of, settings, _gated(of, settings))
    checks = [_held(check, of, settings) for check in GROUNDING]
    return (
        *(_held(check, of, settings) for check in GATING),
        *(_of_llm(one, place, llm_outcomes) for place, one in enumerate(checks)),
    )


def _held(check: Check[Measurements], of: ReplaySet, s: Settings) -> Held:
    values = of.values[check.name] if check.value_column is None else check.value_column(of, s)
    limits = check.threshold_under(s) if check.threshold_column is None else check.threshold_column(of, s)
    return Held(check, check.mode_under(s), values, limits, of.abstains[check.name])


def _gated(of: ReplaySet, settings: Settings) -> Ints:
    """Shape (n,); the code of the reason of each question that no draft is judged of, of `none` where all gates let it
    pass.
    """
    code = of.settled.copy()
    for gate in (_held(check, of, settings) for check in GATING):
        refused = gate.blocks & (code == 0)
        code[refused] = gate.codes[refused]
    if SUFFICIENCY.mode_under(settings) is Mode.ENFORCE:
        without_llm = ~np.isin(np.arange(len(of)), of.llm_outcomes.rows)
        code[without_llm & (code == 0)] = CODE[Reason.NOT_RUN]
    return code


def _llm_outcomes(of: ReplaySet, settings: Settings, code: Ints) -> dict[int, LlmOutcome]:
    return of.llm_outcomes.under(settings, [row for row in of.llm_outcomes.rows if code[row] == 0])


def _of_llm(one: Held, place: int, llm_outcomes: Mapping[int, LlmOutcome]) -> Held:
    """A grounding check with the measurements of models' drafts in the place of their extracts'."""
    if not llm_outcomes:
        return one
    rows = list(llm_outcomes)
    values, abstains = one.values.copy(), one.abstains.copy()
    values[rows] = [outcome.values[place] for outcome in llm_outcomes.values()]
    abstains[rows] = [outcome.abstains[place] for outcome in llm_outcomes.values()]
    return replace(one, values=values, abstains=abstains)


def _shown(of: ReplaySet, s: Settings) -> tuple[Flags, Flags]:
    """The claims and the conflicts that an answer would show: see `compose`."""
    near = of.claims & ~(of.rests_on > cut_distance(s))
    row, claim, other, added = of.conflicts.T
    looked_at = looks_at_conflicts(s)
    dropped = (added == 1) & ~(near[row, claim] & looked_at)
    kept = near.copy()
    kept[row[dropped], other[dropped]] = False
    return kept, kept[row, claim] & kept[row, other] & looked_at


def _level(of: ReplaySet, s: Settings) -> Ints:
    """The confidence level of an answer, as a code, by the cuts and caps of `gating.levels`."""
    closest = np.fmin.reduce(of.distances, axis=1, initial=np.nan)
    score = of.values.get(s.main_gate, np.full(len(of), np.nan))  # no check is named as a distance is
    far, high = by_distance(s), by_score(s)
    of_distance = np.select([closest <= cut for cut, _ in far], [_LEVELS.index(name) for _, name in far])
    of_distance = np.maximum(of_distance, np.where(of.half_missing, _LEVELS.index(MAX_HALF_FOUND), 0))
    of_score = np.select([score >= cut for cut, _ in high], [_LEVELS.index(name) for _, name in high])
    reached = np.where(np.isnan(score), of_distance, of_score)
    reached = np.maximum(reached, np.where(of.unread, _LEVELS.index(MAX_UNREAD), 0))
    if looks_at_conflicts(s):
        contradicted = np.isin(np.arange(len(of)), of.conflicts[:, 0])
        reached = np.maximum(reached, np.where(contradicted, _LEVELS.index(MAX_CONTRADICTED), 0))
    return np.where(np.isnan(closest), _INSUFFICIENT, reached)
