"""A threshold whose errors stay below a target with a stated confidence: Learn-then-Test with exact binomial tails.

The thresholds that come into question are fixed before the labels are looked at: a row of steps, strictest first, for
one threshold; for a pair several rows, one for each value of the second threshold. For each point the hypothesis "a
risk is not below its target here" is tested with the exact binomial tail, and the points at which it is rejected are
certified together: with probability `confidence` over the draw of the labelled questions *every* certified point meets
*all* targets, so that any of them may be taken (Angelopoulos, Bates, Candès, Jordan, Lei: "Learn then Test", 2021,
theorem 1). What is promised by that, and what is not, stands in docs/guarantees.md.

- Risks that rise as the threshold is loosened are tested at once: the p-value of "one of them is too high" is the
  largest of theirs.
- A row is tested in its fixed order and stops at its first failure (fixed-sequence testing), which costs no confidence
  however fine the steps are. Rows, and several starts in a row, share it evenly (Bonferroni).
- False refusals rise the other way: their rows are tested from the loose end. Both directions share the confidence
  evenly.

Pure: counts in, a choice out. It knows nothing about settings, documents or models.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import scipy  # loads `scipy.stats`, a second and a half, where that is first used
from numpy.typing import NDArray

from rag_core.evaluation.metrics import CONFIDENCE, upper_bound

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# shares of a row from which a share of given answers is tested: at the strict end few are given
STARTS = (0.1, 0.3, 0.5, 0.7, 0.9)
MAX_LABELS = 100_000  # more are as good as never
BATCH = 256  # error counts that are looked at together
NEAREST = 1e-3  # how closely a feasible target is looked for


class Kind(StrEnum):
    """The kinds of error that can be bounded."""

    WRONG_ANSWERS = "wrong_answers"  # unanswerable questions that are answered, of the unanswerable ones
    MISSED_ANSWERS = "missed_answers"  # answers that do not hold the known answer, of those given where it is known
    FALSE_REFUSALS = "false_refusals"  # answerable questions that are refused, of the answerable ones


@dataclass(frozen=True, slots=True)
class Target:
    """At most this share of errors, in (0, 1)."""

    kind: Kind
    at_most: float

    def __post_init__(self) -> None:
        if not 0 < self.at_most < 1:
            raise ValueError(f"Target.at_most must be between 0 and 1, got {self.at_most}")


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts at each point, of shape (rows, steps), the strictest step first; `n` is the number of questions."""

    errors: Mapping[Kind, Ints]
    of: Mapping[Kind, Ints]
    answered: Ints
    n: int


@dataclass(frozen=True, slots=True)
class Shortage:
    """The reason why one target could not be certified.

    `needed` is None where no number would do at the error rate seen. `nearest` is the lowest target of its kind that
    can be certified beside those that can be met alone; None where none can.
    """

    target: Target
    alone: bool  # it can be met when it is the only one
    have: int  # questions of its kind, at the point where it comes closest
    errors: int  # among them
    errorless: int  # questions that would do if none were an error; 59 for 5 % at 95 %
    needed: int | None  # questions that would do at the error rate seen
    nearest: float | None


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen point, as (row, step) or None, all certified ones, and the error probability of each kind's tests."""

    point: tuple[int, int] | None
    certified: Flags
    levels: Mapping[Kind, float]


def tally(answered: Flags, missed: Flags, answerable: Flags, known: Flags) -> Counts:
    """Count what happened at each point.

    `answered` and `missed` have the shape (rows, steps, n), `answerable` and `known` (whether the text of its answer
    is) the shape (n,); `missed` is read only where answered and known.
    """
    given, n = answered & answerable & known, len(answerable)
    everywhere = np.ones(answered.shape[:2], np.int64)
    errors = {
        Kind.WRONG_ANSWERS: (answered & ~answerable).sum(-1),
        Kind.MISSED_ANSWERS: (given & missed).sum(-1),
        Kind.FALSE_REFUSALS: (~answered & answerable).sum(-1),
    }
    of = {
        Kind.WRONG_ANSWERS: everywhere * int((~answerable).sum()),
        Kind.MISSED_ANSWERS: given.sum(-1),
        Kind.FALSE_REFUSALS: everywhere * int(answerable.sum()),
    }
    return Counts(errors, of, answered.sum(-1), n)


def choose(counts: Counts, targets: Sequence[Target], confidence: float = CONFIDENCE) -> Choice:
    """The certified point that answers most questions; with false refusals as the only target, fewest.

    Ties go to the stricter step, then to the earlier row; a point at which nothing is answered is never chosen. The
    bound on missed answers has a denominator that depends on the point: given that m questions are answered there,
    their misses are binomial with the point's own risk, so that the tail given m is a valid p-value whatever m is. But
    m must not choose where testing begins, since few answers at the strict end would end it at once; so its rows begin
    at fixed places (`STARTS`), which share the confidence.

    Raises:
        ValueError: no target, two of one kind, or a confidence outside (0, 1).
    """
    kinds = [target.kind for target in targets]
    if not kinds or len(set(kinds)) != len(kinds):
        raise ValueError(f"need one target or several of different kinds, got {kinds}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence:g}")
    rows, steps = counts.answered.shape
    rising = [target for target in targets if target.kind is not Kind.FALSE_REFUSALS]
    falling = [target for target in targets if target.kind is Kind.FALSE_REFUSALS]
    level = (1 - confidence) / ((1 if rising else 0) + (1 if falling else 0)) / rows
    certified = np.ones((rows, steps), np.bool_)
    levels: dict[Kind, float] = {}
    if rising:
        starts = sorted({int(part * steps) for part in STARTS}) if Kind.MISSED_ANSWERS in kinds else [0]
        certified &= _rejected(_p_values(counts, rising), starts, level / len(starts))
        levels |= {target.kind: level / len(starts) for target in rising}
    if falling:
        certified &= _rejected(_p_values(counts, falling)[:, ::-1], [0], level)[:, ::-1]
        levels[Kind.FALSE_REFUSALS] = level
    return Choice(_best(counts.answered, certified, most=bool(rising)), certified, levels)


def shortages(counts: Counts, targets: Sequence[Target], confidence: float = CONFIDENCE) -> tuple[Shortage, ...]:
    """Why nothing could be certified, target by target."""
    levels = choose(counts, targets, confidence).levels
    alone = [target for target in targets if choose(counts, [target], confidence).point is not None]
    return tuple(_shortage(counts, alone, target, confidence, levels[target.kind]) for target in targets)


def bounds(counts: Counts, point: tuple[int, int], levels: Mapping[Kind, float]) -> dict[Kind, float]:
    """The exact one-sided upper bound of each risk at a point, at the level of its test."""
    return {
        kind: upper_bound(int(counts.errors[kind][point]), int(counts.of[kind][point]), 1 - level)
        for kind, level in levels.items()
    }


def errorless(at_most: float, level: float = 0.05) -> int:
    """How many questions without an error show that a risk is below `at_most` at this level."""
    return int(scipy.stats.nbinom.ppf(1 - level, 1, at_most)) + 1


def needed(at_most: float, level: float, rate: float) -> int | None:
    """How many questions show it at this error rate; None where `MAX_LABELS` would not do."""
    if rate >= at_most:
        return None
    for first in range(0, int(MAX_LABELS * at_most) + 1, BATCH):
        errors = np.arange(first, first + BATCH)
        # questions of which so many may be errors
        enough = scipy.stats.nbinom.ppf(1 - level, errors + 1, at_most) + errors + 1
        fits = np.flatnonzero(errors >= rate * enough)
        if fits.size:
            return int(enough[fits[0]]) if enough[fits[0]] <= MAX_LABELS else None
    return None


def _p_values(counts: Counts, targets: Sequence[Target]) -> Floats:
    """The exact binomial tail of "a risk is at least its target", the largest of several; shape (rows, steps)."""
    tails = [
        scipy.stats.binom.cdf(counts.errors[target.kind], counts.of[target.kind], target.at_most) for target in targets
    ]
    worst: Floats = np.max(tails, axis=0)
    return worst


def _rejected(p_values: Floats, starts: Sequence[int], level: float) -> Flags:
    """Fixed-sequence testing of each row from each start: what is reached before the first p-value above the level."""
    passed = np.zeros(p_values.shape, np.bool_)
    for start in starts:
        passed[:, start:] |= np.logical_and.accumulate(p_values[:, start:] <= level, axis=1)
    return passed


def _best(answered: Ints, certified: Flags, *, most: bool) -> tuple[int, int] | None:
    open_to = certified & (answered > 0)
    if not open_to.any():
        return None
    value = answered[open_to].max() if most else answered[open_to].min()
    rows, steps = np.nonzero(open_to & (answered == value))
    first = np.lexsort((rows, steps))[0]
    return int(rows[first]), int(steps[first])


def _shortage(counts: Counts, alone: Sequence[Target], target: Target, confidence: float, level: float) -> Shortage:
    """The reason why a target was not met; `alone` are the targets that can be met alone."""
    points = counts.answered > 0
    errors, of = counts.errors[target.kind][points], counts.of[target.kind][points]
    tails = scipy.stats.binom.cdf(errors, of, target.at_most)
    closest = np.lexsort((-of, tails))[:1]
    have, wrong = int(of[closest].sum()), int(errors[closest].sum())  # 0 where nothing is answered anywhere
    return Shortage(
        target,
        target in alone,
        have,
        wrong,
        errorless(target.at_most, level),
        needed(target.at_most, level, wrong / have if have else 0.0),
        _nearest(counts, [one for one in alone if one is not target], target, confidence),
    )


def _nearest(counts: Counts, others: Sequence[Target], target: Target, confidence: float) -> float | None:
    """The lowest target of this kind that can be certified beside the others, to `NEAREST`, by bisection."""

    def feasible(units: int) -> bool:
        return choose(counts, [*others, replace(target, at_most=units * NEAREST)], confidence).point is not None

    highest = round(1 / NEAREST) - 1  # in units of NEAREST
    if not feasible(highest):
        return None
    return bisect_left(range(highest), True, 1, key=feasible) * NEAREST
