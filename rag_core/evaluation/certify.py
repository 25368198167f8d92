"""The thresholds that meet the targets on recorded questions, with their certificate.

The thresholds that may be chosen, and the values that are tried, follow from their declarations, never from the labels.
Replays; measures nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rag_core.decision.batch import ReplaySet, replay_many
from rag_core.decision.checks import CHECKS, GATING
from rag_core.domain.measurements import Measurements
from rag_core.errors import InvalidInput
from rag_core.evaluation.certificate import Basis, Bound, Certificate
from rag_core.evaluation.guarantee import (
    Choice,
    Counts,
    Kind,
    Shortage,
    Target,
    bounds,
    choose,
    shortages,
    tally,
)
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.metrics import clopper_pearson
from rag_core.gating.scores import question_hash
from rag_core.records import DELETED
from rag_core.settings import Cost, Mode, Scale, Settings

_OF = {name: check for check in CHECKS if check.certifiable for name in check.settings if name != check.mode}
# each threshold that may be chosen, and the mode that must enforce its check
MODE_OF: Mapping[str, str] = MappingProxyType({name: check.mode for name, check in _OF.items()})
# the first threshold cuts a score of the whole question
FIRST: Mapping[str, str] = MappingProxyType(
    {name: check.mode for name, check in _OF.items() if check in GATING and check.scale is not Scale.COUNT}
)
ROWS = 6  # values of the second threshold; each costs a share of the confidence


def second_thresholds(first: str) -> tuple[str, ...]:
    return tuple(name for name in MODE_OF if name != first and Settings.knob(name).cost is Cost.REPLAY)


def steps(name: str) -> tuple[float, ...]:
    """Every value of a threshold's slider, the strictest first."""
    knob = Settings.knob(name)
    if not knob.values:
        raise ValueError(f"{knob.name} is no threshold")
    return tuple(knob.values if knob.stricter == "lower" else knob.values[::-1])


def rows(name: str) -> tuple[float, ...]:
    """At most `ROWS` values of a second threshold, evenly over its range, the loosest first."""
    every = steps(name)[::-1]
    return tuple(every[round(n)] for n in np.linspace(0, len(every) - 1, min(ROWS, len(every))))


Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Request:
    """The targets that are asked for, to hold at once with `confidence` in (0, 1).

    `first` is one of `FIRST`, `second` another threshold or empty.
    """

    targets: tuple[Target, ...]
    confidence: float = 0.95
    first: str = "min_correctness"
    second: str = ""

    def __post_init__(self) -> None:
        if self.first not in FIRST or (self.second and self.second not in second_thresholds(self.first)):
            raise ValueError(f"no thresholds to choose: {self.first!r}, {self.second!r}")


@dataclass(frozen=True, slots=True)
class Uncertified:
    """The reasons why a target is not met; `needs_model` questions have to be measured more loosely."""

    shortages: tuple[Shortage, ...]
    questions: int
    left_out: int
    failed: int
    needs_model: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """Every point, what happened there, of shape (rows, steps, n), and the labels; `open` ends are not known."""

    rows: tuple[float, ...]
    steps: tuple[float, ...]
    answered: Flags
    missed: Flags
    open: Flags
    answerable: Flags
    known: Flags

    def counts(self, of: Flags) -> Counts:
        """The outcomes of these questions; an open one counts as an error of every kind."""
        answered, missed, open = self.answered[..., of], self.missed[..., of], self.open[..., of]
        labels = self.answerable[of], self.known[of]
        refusing, answering = tally(answered, missed, *labels), tally(answered | open, missed | open, *labels)
        refusals = Kind.FALSE_REFUSALS
        return replace(
            answering,
            errors={**answering.errors, refusals: refusing.errors[refusals]},
            answered=np.where(open.any(-1), 0, answering.answered),
        )


def certify(
    questions: Sequence[LabelledQuestion],
    records: Sequence[Measurements],
    hits: Flags,
    settings: Settings,
    request: Request,
    basis: Basis,
    *,
    set_name: str,
    date: str,
    fitted: Collection[str] = (),
    replayed: ReplaySet | None = None,
) -> Certificate | Uncertified:
    """The thresholds with the highest coverage that meet all targets, with their certificate; or what is missing.

    Args:
        questions: labelled, of one run, with `records` in the same order.
        records: their measurements.
        hits: which claims of each question hold a right answer; see `rag_core.evaluation.answer_hits`.
        settings: everything but the chosen thresholds.
        request: the targets and what may be chosen for them.
        basis: what the questions were asked of.
        set_name: as the user calls the set.
        date: ISO 8601.
        fitted: hashes of questions that the score was fitted on (`gating.scores.question_hash`); they are left out.
        replayed: the records, where they have been read already.
    """
    used = np.array([question_hash(question.question) in fitted for question in questions], dtype=np.bool_)
    failed = np.array([bool(measurements.failure) for measurements in records], dtype=np.bool_) & ~used
    kept = ~used & ~failed
    if not kept.any():
        raise InvalidInput(
            "No labelled question is left to certify on.", remedy="Label questions that the score was not fitted on."
        )
    grid = _measure(
        questions, records, hits, settings, request, ReplaySet.of(records) if replayed is None else replayed
    )
    counts = grid.counts(kept)
    choice = choose(counts, request.targets, request.confidence)
    if choice.point is None:
        lacking, again = shortages(counts, request.targets, request.confidence), grid.open[..., kept].any((0, 1))
        return Uncertified(lacking, int(kept.sum()), int(used.sum()), int(failed.sum()), int(again.sum()))
    row, step = choice.point
    chosen = {request.first: grid.steps[step]} | ({request.second: grid.rows[row]} if request.second else {})
    final = settings.changed(**{MODE_OF[name]: Mode.ENFORCE for name in chosen}, **chosen)
    return Certificate(
        date,
        request.confidence,
        chosen,
        _bounds(counts, choice, request.targets),
        counts.n,
        int((grid.answerable & kept).sum()),
        int(counts.answered[choice.point]),
        basis,
        set_name,
        _set_hash(questions),
        int(used.sum()),
        int(failed.sum()),
        final.model_dump(mode="json", exclude={"preset"}),
        final.hash(),
    )


def _measure(
    questions: Sequence[LabelledQuestion],
    records: Sequence[Measurements],
    hits: Flags,
    settings: Settings,
    request: Request,
    replayed: ReplaySet,
) -> _Grid:
    first, second = steps(request.first), rows(request.second) if request.second else (0.0,)
    shape = (len(second), len(first), len(records))
    answered, missed, open = (np.zeros(shape, np.bool_) for _ in range(3))
    width = min(hits.shape[1], replayed.most_claims)
    enforced = {MODE_OF[name]: Mode.ENFORCE for name in (request.first, request.second) if name}
    for row, other in enumerate(second):
        along = settings.changed(**enforced, **({request.second: other} if request.second else {}))
        for step, value in enumerate(first):
            outcomes = replay_many(replayed, along.changed(**{request.first: value}))
            answered[row, step] = outcomes.answered
            missed[row, step] = ~(hits[:, :width] & outcomes.shown[:, :width]).any(axis=1)
            open[row, step] = outcomes.needs_model
    answerable = np.array([question.answerable for question in questions], dtype=np.bool_)
    # a model's words may be gone before the documents are: such an answer counts as one that does not hold the right
    # one
    readable = [not any(claim.text == DELETED for claim in measurements.draft.claims) for measurements in records]
    known = [bool(question.answers) and text for question, text in zip(questions, readable, strict=True)]
    return _Grid(second, first, answered, missed, open, answerable, np.array(known, dtype=np.bool_))


def _bounds(counts: Counts, choice: Choice, targets: Sequence[Target]) -> tuple[Bound, ...]:
    assert choice.point is not None
    upper, held = bounds(counts, choice.point, choice.levels), []
    for target in targets:
        errors, of = int(counts.errors[target.kind][choice.point]), int(counts.of[target.kind][choice.point])
        seen = clopper_pearson(errors, of)
        held.append(Bound(target.kind, target.at_most, errors, of, seen.low, seen.high, upper[target.kind]))
    return tuple(held)


def _set_hash(questions: Sequence[LabelledQuestion]) -> str:
    """16 hex digits of the labels, in any order: equal sets, equal hash."""
    rows = sorted(repr((question_hash(one.question), one.answerable, one.answers, one.documents)) for one in questions)
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]
