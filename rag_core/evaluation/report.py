"""The report of a run: counts, rates with exact intervals, breakdowns, time; and what each limit of one threshold would
do to it, with a limit for a price.

Pure: from labels, measurements and outcomes. An answer is wrong where the question is labelled unanswerable, or where
it holds none of the labelled right answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.decision.batch import Outcomes, ReplaySet, every_claim, replay_many
from rag_core.decision.decide import replay
from rag_core.domain.measurements import Measurements
from rag_core.evaluation.labelled import LabelledQuestion, holds_answer
from rag_core.evaluation.metrics import CONFIDENCE, Interval, clopper_pearson, mcnemar
from rag_core.records import DELETED
from rag_core.settings import Cost, Settings

Flags = NDArray[np.bool_]
_JUDGING = tuple(knob.name for knob in Settings.knobs() if knob.cost is Cost.REPLAY)


def judged_under(recorded: Settings, settings: Settings) -> Settings:
    """The settings that a run was measured under, with the judging ones of `settings`: what a replay of it can show."""
    return recorded.changed(preset=settings.preset, **{name: getattr(settings, name) for name in _JUDGING})


@dataclass(frozen=True, slots=True)
class Rate:
    """k of n; `share` is None where n is 0."""

    k: int
    n: int

    @property
    def share(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> Interval:
        """The exact 95 % interval of the share (Clopper and Pearson)."""
        return clopper_pearson(self.k, self.n, CONFIDENCE)

    def to_json(self) -> dict[str, Any]:
        return {"k": self.k, "n": self.n, "share": self.share, "low": self.interval.low, "high": self.interval.high}


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The labels held against n outcomes, each of shape (n,)."""

    answerable: Flags
    measured: Flags  # False where it was not measured, needs a model, or its text is gone: such are in no rate
    answered: Flags
    comparable: Flags  # an answer whose text is there, to an answerable question whose right answer is known
    missed: Flags  # comparable, and what is shown holds none of the right answers
    needs_model: Flags  # not measured, since a language model would have to be asked again under these settings
    lost: Flags  # its text is gone with its document: counted as right, a deletion would make a run look better

    @property
    def false_refusal(self) -> Flags:
        """An answerable question that was refused."""
        return self.measured & self.answerable & ~self.answered

    @property
    def wrong_answer(self) -> Flags:
        """An unanswerable question that was answered."""
        return self.measured & ~self.answerable & self.answered

    @property
    def correct(self) -> Flags:
        """Answered or refused as labelled, and the answer not missed."""
        as_labelled: Flags = self.answerable == self.answered
        return self.measured & as_labelled & ~self.missed

    def of(self, rows: NDArray[np.int64]) -> Marks:
        """The marks of these questions only, in this order."""
        return Marks(*(getattr(self, name)[rows] for name in self.__slots__))


def answer_hits(questions: Sequence[LabelledQuestion], records: Sequence[Measurements]) -> Flags:
    """The claims of each question that hold a right answer, shape (n, most claims); no setting changes it."""
    known = [question.answers for question in questions]
    return _of_claims(records, lambda row, text: holds_answer(text, known[row]) if known[row] else False)


def deleted_claims(records: Sequence[Measurements]) -> Flags:
    """The claims of each question whose text is gone with its document, shape and order as `answer_hits`."""
    return _of_claims(records, lambda _, text: text == DELETED)


def marks(
    questions: Sequence[LabelledQuestion],
    outcomes: Outcomes,
    hits: Flags,
    records: Sequence[Measurements],
    deleted: Flags | None = None,
) -> Marks:
    """Labels against outcomes; `hits` from `answer_hits`, `deleted` from `deleted_claims`, all in the same order."""
    answerable = np.array([question.answerable for question in questions], dtype=np.bool_)
    measured = np.array([not measurements.failure for measurements in records], dtype=np.bool_)
    measured &= ~outcomes.needs_model
    known = np.array([bool(question.answers) for question in questions], dtype=np.bool_)
    unreadable = ((deleted_claims(records) if deleted is None else deleted) & outcomes.shown).any(axis=1)
    held = (hits & outcomes.shown).any(axis=1)
    labelled: Flags = measured & answerable & outcomes.answered & known
    lost: Flags = labelled & unreadable & ~held
    comparable = labelled & ~lost
    return Marks(
        answerable,
        measured & ~lost,
        outcomes.answered.astype(np.bool_),
        comparable,
        comparable & ~held,
        outcomes.needs_model,
        lost,
    )


def _of_claims(records: Sequence[Measurements], holds: Callable[[int, str], bool]) -> Flags:
    """Shape (n, most claims); of which claims it holds, given the question's row and the claim's text."""
    claims = [every_claim(measurements) for measurements in records]
    found = np.zeros((len(records), max(map(len, claims), default=0)), dtype=np.bool_)
    for row, of_record in enumerate(claims):
        found[row, : len(of_record)] = [holds(row, claim.text) for claim in of_record]
    return found


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one set; what could not be judged is in no rate. `by` has the first three by part."""

    questions: int
    not_measured: int
    needs_model: int  # that cannot be judged without asking a language model again
    false_refusals: Rate
    wrong_answers: Rate
    missed_answers: Rate  # without the right answer, where that is known
    answered: Rate  # coverage
    by: Mapping[str, Mapping[str, tuple[Rate, Rate, Rate]]]
    latency: Mapping[str, tuple[float, float]]  # milliseconds by stage: median, 95th percentile; "total" is of all

    def to_json(self) -> dict[str, Any]:
        names = ("false_refusals", "wrong_answers", "missed_answers")
        by = {
            name: {
                part: {key: rate.to_json() for key, rate in zip(names, rates, strict=True)}
                for part, rates in parts.items()
            }
            for name, parts in self.by.items()
        }
        rates = {name: getattr(self, name).to_json() for name in (*names, "answered")}
        latency = {
            stage: {"p50_ms": round(p50, 2), "p95_ms": round(p95, 2)} for stage, (p50, p95) in self.latency.items()
        }
        counts = {"questions": self.questions, "not_measured": self.not_measured, "needs_model": self.needs_model}
        return {**counts, **rates, "by": by, "latency": latency}


BREAKDOWNS: Mapping[str, Callable[[LabelledQuestion, Measurements], str]] = {
    "language": lambda question, measurements: question.language or measurements.understanding.language,
    "kind": lambda question, measurements: question.kind,
    "intent": lambda question, measurements: measurements.understanding.intent,
    "document": lambda question, measurements: question.places[0].document if question.places else "",
}


def report(
    questions: Sequence[LabelledQuestion], records: Sequence[Measurements], outcomes: Outcomes, marked: Marks
) -> Report:
    """All figures; the arguments in the same order, `marked` from `marks`."""
    every = np.ones(len(questions), dtype=np.bool_)
    by: dict[str, dict[str, tuple[Rate, Rate, Rate]]] = {}
    for name, of in BREAKDOWNS.items():
        named = np.array(
            [of(question, measurements) for question, measurements in zip(questions, records, strict=True)],
            dtype=object,
        )
        parts = sorted({str(part) for part in named if part})
        if parts:
            by[name] = {part: rates(marked, named == part) for part in parts}
    refused, wrong, missed = rates(marked, every)
    return Report(
        questions=len(questions),
        not_measured=int((~marked.measured & ~marked.needs_model).sum()),
        needs_model=int(marked.needs_model.sum()),
        false_refusals=refused,
        wrong_answers=wrong,
        missed_answers=missed,
        answered=Rate(int((marked.measured & marked.answered).sum()), int(marked.measured.sum())),
        by=by,
        latency=latency(records),
    )


def rates(marked: Marks, of: Flags) -> tuple[Rate, Rate, Rate]:
    """False refusals, wrong answers and missed answers among the questions in `of`, shape (n,)."""
    measured = marked.measured & of
    return (
        _rate(marked.false_refusal & of, measured & marked.answerable),
        _rate(marked.wrong_answer & of, measured & ~marked.answerable),
        _rate(marked.missed & of, marked.comparable & of),
    )


def latency(records: Sequence[Measurements]) -> dict[str, tuple[float, float]]:
    """Median and 95th percentile of the milliseconds of each stage, and of the whole question."""
    stages: dict[str, list[float]] = {}
    for measurements in records:
        for stage, ms in measurements.timings.items():
            stages.setdefault(stage, []).append(ms)
        if measurements.timings:
            stages.setdefault("total", []).append(sum(measurements.timings.values()))
    return {stage: (float(np.percentile(ms, 50)), float(np.percentile(ms, 95))) for stage, ms in stages.items()}


def _rate(of: Flags, among: Flags) -> Rate:
    return Rate(int(of.sum()), int(among.sum()))


HAPPENED = "happened"  # a column that reading a labelled set passes over


def failing(
    questions: Sequence[LabelledQuestion], records: Sequence[Measurements], settings: Settings, marked: Marks
) -> bytes:
    """JSON lines: each failing question in the labelled shape, with `happened`: outcome, reason, scores, citations."""
    lines = []
    for row, (question, measurements) in enumerate(zip(questions, records, strict=True)):
        error = error_of(marked, row)
        if error:
            decision = replay(measurements, settings)
            happened = {
                "error": error,
                "status": decision.status.value,
                "reason": decision.reason.value,
                "explanation": decision.explanation,
                "answer": decision.answer,
                "cited": [{"document": one.document, "page": one.page} for one in decision.citations],
                "scores": {name: round(value, 4) for name, value in decision.scores.items()},
                "settings_hash": settings.hash(),
            }
            lines.append(json.dumps({**question.to_json(), HAPPENED: happened}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def error_of(marked: Marks, row: int) -> str:
    """The kind of error, such as false_refusal or missed_answer; empty where it ended as labelled."""
    if marked.needs_model[row]:
        return "needs_model"
    if not marked.measured[row]:
        return "not_measured"
    if marked.false_refusal[row]:
        return "false_refusal"
    if marked.wrong_answer[row]:
        return "wrong_answer"
    return "missed_answer" if marked.missed[row] else ""


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Two ways compared over n questions: `p` of McNemar's exact test, `differ` the rows on which they differ."""

    compared: int
    only_first: int
    only_second: int
    p: float
    differ: NDArray[np.int64]


def paired(first: Marks, second: Marks) -> Paired:
    """Compare; both are of the same questions, in the same order."""
    if first.answered.shape != second.answered.shape:
        raise ValueError(f"{first.answered.size} and {second.answered.size} questions cannot be paired")
    both = first.measured & second.measured
    b, c = int((both & first.correct & ~second.correct).sum()), int((both & ~first.correct & second.correct).sum())
    differ = both & ((first.answered != second.answered) | (first.correct != second.correct))
    return Paired(int(both.sum()), b, c, mcnemar(b, c), np.flatnonzero(differ))


STEPS = 100  # limits that are tried between both ends of a setting's range


@dataclass(frozen=True, slots=True)
class Effect:
    """How many questions end how: `wrong` also without a labelled answer, `spared` are rightly refused."""

    right: int
    wrong: int
    refused: int
    spared: int

    @property
    def answered(self) -> int:
        return self.right + self.wrong

    @property
    def questions(self) -> int:
        return self.answered + self.refused + self.spared


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """The effect of each limit, both in rising order of the limit and of the same length."""

    limits: tuple[float, ...]
    effects: tuple[Effect, ...]


def members(marked: Marks) -> dict[str, Flags]:
    """The questions behind each count of an `Effect`, by its name; shape (n,) each."""
    wrong = marked.wrong_answer | marked.missed
    right = marked.measured & marked.answered & ~wrong
    spared = marked.measured & ~marked.answerable & ~marked.answered
    return {"right": right, "wrong": wrong, "refused": marked.false_refusal, "spared": spared}


def effect(marked: Marks) -> Effect:
    return Effect(**{name: int(flags.sum()) for name, flags in members(marked).items()})


def tradeoff(
    questions: Sequence[LabelledQuestion],
    records: Sequence[Measurements],
    replayed: ReplaySet,
    hits: Flags,
    settings: Settings,
    name: str,
) -> Tradeoff:
    """Judge the run under each limit of the setting `name`; `hits` from `answer_hits`, all in the same order."""
    knob = Settings.knob(name)
    assert knob.low is not None
    assert knob.high is not None
    limits = tuple(round(float(limit), 6) for limit in np.linspace(knob.low, knob.high, STEPS + 1))
    deleted = deleted_claims(records)
    found = (replay_many(replayed, settings.changed(**{name: limit})) for limit in limits)
    return Tradeoff(limits, tuple(effect(marks(questions, outcomes, hits, records, deleted)) for outcomes in found))


def suggested(of: Tradeoff, at_most: float) -> int | None:
    """The place of the lowest limit at which at most this share of the answers is wrong, or None."""
    return next(
        (place for place, now in enumerate(of.effects) if now.answered and now.wrong <= at_most * now.answered), None
    )
