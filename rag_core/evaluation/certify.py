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
from rag_core.evaluation.certificate import Basis, Bound, Certificate, Part
from rag_core.evaluation.guarantee import (
    Choice,
    Counts,
    Kind,
    Shortage,
    Target,
    bounds,
    choose,
    errorless,
    shortages,
    tally,
)
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.metrics import clopper_pearson
from rag_core.gating.scores import question_hash
from rag_core.records import DELETED
from rag_core.settings import Cost, Mode, Scale, Settings

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

SHIFTED = "min_correctness"  # the threshold that question types may have limits of their own for
# what a question type adds to it
BY_TYPE: Mapping[str, str] = MappingProxyType(
    {intent: f"correctness_extra_{intent}" for intent in ("procedural", "comparative")}
)
OTHERS = "factual"  # the type that all other questions go with


@dataclass(frozen=True, slots=True)
class Request:
    """The targets that are asked for, to hold at once with `confidence` in (0, 1).

    `first` is one of `FIRST`, `second` another threshold or empty; `by_type` asks for a limit of its own for each
    question type with labels enough, of `SHIFTED` alone.
    """

    targets: tuple[Target, ...]
    confidence: float = 0.95
    first: str = SHIFTED
    second: str = ""
    by_type: bool = False

    def __post_init__(self) -> None:
        if self.first not in FIRST or (self.second and self.second not in second_thresholds(self.first)):
            raise ValueError(f"no thresholds to choose: {self.first!r}, {self.second!r}")
        if self.by_type and (self.second or self.first != SHIFTED):
            raise ValueError(f"limits by question type are limits of {SHIFTED} alone")


@dataclass(frozen=True, slots=True)
class Uncertified:
    """The reasons why a target is not met, by `type`; `needs_model` questions have to be measured more loosely."""

    type: str
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
    types = _types(records, grid, kept, request)
    share = 1 - (1 - request.confidence) / len(types)  # so that the limits of all types hold together
    chosen: dict[str, tuple[Counts, Choice]] = {}
    for name, members in types.items():
        counts = grid.counts(members)
        choice = choose(counts, request.targets, share)
        if choice.point is None:
            lacking, again = shortages(counts, request.targets, share), int(grid.open[..., members].any((0, 1)).sum())
            return Uncertified(name, lacking, int(members.sum()), int(used.sum()), int(failed.sum()), again)
        chosen[name] = counts, choice
    parts = tuple(_part(name, counts, choice, grid, request, types[name]) for name, (counts, choice) in chosen.items())
    final = settings.changed(**_values(parts, request))
    values = final.model_dump(mode="json", exclude={"preset"})
    return Certificate(
        date,
        request.confidence,
        parts,
        basis,
        set_name,
        _set_hash(questions),
        int(used.sum()),
        int(failed.sum()),
        values,
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
    extras: dict[str, float] = dict.fromkeys(BY_TYPE.values(), 0.0) if request.by_type else {}
    enforced = {MODE_OF[name]: Mode.ENFORCE for name in (request.first, request.second) if name}
    for row, other in enumerate(second):
        along = settings.changed(**enforced, **extras, **({request.second: other} if request.second else {}))
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


def _types(records: Sequence[Measurements], grid: _Grid, kept: Flags, request: Request) -> dict[str, Flags]:
    """The questions by type; a type with too few labels goes with the others."""
    if not request.by_type:
        return {"": kept}
    intents = np.array([measurements.understanding.intent for measurements in records], dtype=object)
    share = (1 - request.confidence) / (len(BY_TYPE) + 1)
    of = {
        Kind.WRONG_ANSWERS: ~grid.answerable,
        Kind.FALSE_REFUSALS: grid.answerable,
        Kind.MISSED_ANSWERS: grid.answerable & grid.known,
    }
    own = {}
    for name in BY_TYPE:
        members: Flags = kept & (intents == name)
        if all((members & of[target.kind]).sum() >= errorless(target.at_most, share) for target in request.targets):
            own[name] = members
    rest = kept & ~np.isin(intents, list(own))
    return {OTHERS: rest, **own}


def _part(name: str, counts: Counts, choice: Choice, grid: _Grid, request: Request, members: Flags) -> Part:
    assert choice.point is not None
    row, step = choice.point
    chosen = {request.first: grid.steps[step]} | ({request.second: grid.rows[row]} if request.second else {})
    upper = bounds(counts, choice.point, choice.levels)
    held = []
    for target in request.targets:
        errors, of = int(counts.errors[target.kind][choice.point]), int(counts.of[target.kind][choice.point])
        seen = clopper_pearson(errors, of)
        held.append(Bound(target.kind, target.at_most, errors, of, seen.low, seen.high, upper[target.kind]))
    return Part(
        name,
        chosen,
        tuple(held),
        counts.n,
        int((grid.answerable & members).sum()),
        int((grid.answerable & grid.known & members).sum()),
        int(counts.answered[choice.point]),
    )


def _values(parts: Sequence[Part], request: Request) -> dict[str, object]:
    """The settings that the thresholds make: those of all questions, and what each type adds to its limit."""
    values: dict[str, object] = {MODE_OF[name]: Mode.ENFORCE for name in parts[0].thresholds}
    values |= dict(parts[0].thresholds)
    if request.by_type:
        base = parts[0].thresholds[request.first]
        own = {part.type: part.thresholds[request.first] for part in parts}
        values |= {name: round(own.get(intent, base) - base, 10) for intent, name in BY_TYPE.items()}
    return values


def _set_hash(questions: Sequence[LabelledQuestion]) -> str:
    """16 hex digits of the labels, in any order: equal sets, equal hash."""
    rows = sorted(repr((question_hash(one.question), one.answerable, one.answers, one.documents)) for one in questions)
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]
