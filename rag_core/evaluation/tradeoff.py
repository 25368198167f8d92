"""Counts what each limit of one threshold would do to a labelled run, and suggests a limit for a price.

Pure: from records alone.

The three errors and the right answers are counted as everywhere: an answer is wrong where the question is labelled
unanswerable, or where it holds none of the labelled right answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.decision.batch import ReplaySet, replay_many
from rag_core.domain.measurements import Measurements
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.report import Flags, Marks, deleted_claims, marks
from rag_core.settings import Settings

# right answers more for one wrong one more that are worth a word, and of those there are; chosen
MIN_GAIN, GAIN_SHARE = (3, 0.25)
STEPS = 100  # limits that are tried between both ends of a setting's range


@dataclass(frozen=True, slots=True)
class Effect:
    """How many of the measured questions end how; the four add up to `questions`.

    `right` are answers that are not wrong, `wrong` answers to unanswerable questions or without a labelled right
    answer, `refused` answerable and `spared` unanswerable questions that are refused.
    """

    right: int
    wrong: int
    refused: int
    spared: int

    @property
    def answered(self) -> int:
        """Questions that get an answer."""
        return self.right + self.wrong

    @property
    def questions(self) -> int:
        """All that could be measured."""
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
    """The counts of these marks."""
    return Effect(**{name: int(flags.sum()) for name, flags in members(marked).items()})


def tradeoff(
    questions: Sequence[LabelledQuestion],
    records: Sequence[Measurements],
    replayed: ReplaySet,
    hits: Flags,
    settings: Settings,
    name: str,
) -> Tradeoff:
    """Judge the run under each limit of the setting `name`, a number whose change only judges again.

    `hits` comes from `answer_hits`; all are in the same order.
    """
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


def one_more_wrong(of: Tradeoff, place: int) -> int | None:
    """The place of the lowest limit with one wrong answer more, where that answers many more rightly, or None.

    So one question decides about many, and it is worth looking at it: its label may be wrong, or its document.
    """
    now = of.effects[place]
    lower = next(at for at, found in enumerate(of.effects) if found.wrong <= now.wrong + 1)
    gain = of.effects[lower].right - now.right
    return lower if lower < place and gain >= max(MIN_GAIN, GAIN_SHARE * now.right) else None
