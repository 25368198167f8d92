"""Judges many recorded questions at once, from columns of numbers. Each outcome is that of `decide.replay`.

`ReplaySet.of` reads the records once; `replay_many` is then arithmetic on arrays of n questions. Those that a language
model was asked about are judged one by one once their gates pass. No model, index or file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.decision.batch.columns import (
    CODE,
    REASONS,
    Flags,
    Floats,
    Ints,
    LlmOutcome,
    Objects,
    ReplaySet,
    every_claim,
)
from rag_core.decision.checks import GATING, GROUNDING, SUFFICIENCY, Check
from rag_core.decision.decide import replay, require_replayable
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction
from rag_core.gating.levels import cut_distance, looks_at_conflicts
from rag_core.settings import Mode, Settings

_REASON = np.array([*REASONS, None], dtype=object)[:-1]  # the None keeps numpy from making strings of them


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
    """How n questions end under `settings`."""

    settings: Settings
    answered: Flags
    reason: Objects  # shape (n,), the first `Reason` of each
    shown: Flags  # shape (n, most claims); which of `every_claim` the answer shows: the extract's come first
    scores: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.answered)

    @property
    def needs_model(self) -> Flags:
        """Shape (n,); what would have to be asked of a language model first: neither an answer nor a refusal."""
        return np.asarray(self.reason == Reason.NEEDS_GENERATION)


def replay_many(records: Sequence[Measurements] | ReplaySet, settings: Settings) -> Outcomes:
    """As `replay` one by one, from a built set in milliseconds; raises InvalidSetting as `require_replayable`."""
    of = records if isinstance(records, ReplaySet) else ReplaySet.of(records)
    for before in of.measured_under:
        require_replayable(before, settings)
    code = _gated(of, settings)
    llm_outcomes = _llm_outcomes(of, settings, code)
    code[of.no_claims & (code == 0)] = CODE[Reason.EMPTY_DRAFT]
    for check in (_held(check, of, settings) for check in GROUNDING):
        failed = check.blocks & (code == 0)
        code[failed] = check.codes[failed]
    shown = _shown(of, settings)
    code[(code == 0) & ~shown.any(axis=1)] = CODE[Reason.ALL_CLAIMS_CUT]
    shown = np.pad(shown & (code == 0)[:, None], ((0, 0), (0, of.most_claims - shown.shape[1])))
    for row, one in llm_outcomes.items():
        code[row] = CODE[one.reason]
        shown[row] = np.isin(np.arange(of.most_claims), one.shown)
    for row, two in of.of_two.items():
        if code[row] == 0:
            claims = replay(two, settings).claims
            shown[row] = np.isin(
                np.arange(of.most_claims), [n for n, claim in enumerate(every_claim(two)) if claim in claims]
            )
    reply = (code == CODE[Reason.GREETING]) | (code == CODE[Reason.ABOUT_LIBRARY])
    return Outcomes(settings, (code == 0) | reply, _REASON[code], shown, of.scores)


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


def _shown(of: ReplaySet, s: Settings) -> Flags:
    """The claims that an answer would show: see `compose`."""
    kept = of.claims & ~(of.rests_on > cut_distance(s))
    row, claim, other, added = of.conflicts.T
    dropped = (added == 1) & ~(kept[row, claim] & looks_at_conflicts(s))
    kept[row[dropped], other[dropped]] = False
    return kept
