"""One run under one settings: outcomes against labels.

What no setting changes is worked out once, and lives as long as the replay set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from rag_core.decision.batch import Outcomes, ReplaySet, replay_many
from rag_core.decision.batch.columns import Flags, Objects
from rag_core.domain.measurements import Measurements
from rag_core.evaluation import BREAKDOWNS, Marks, answer_hits, judged_under, marks
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """The labels held against a run's drafts, which no setting changes.

    Args:
        hits: which claims hold a right answer, (n, most claims), from `answer_hits`.
        wrong: shape (n,); answering would be wrong: unanswerable, or the draft holds none of the given answers.
        parts: by name of a breakdown the part that each question belongs to, shape (n,); "" for none.
    """

    hits: Flags
    wrong: Flags
    parts: Mapping[str, Objects]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A run's outcomes under `settings`, which differ from the recorded ones in judgements only."""

    settings: Settings
    outcomes: Outcomes
    marked: Marks


_FIXED: WeakKeyDictionary[ReplaySet, Fixed] = WeakKeyDictionary()


def fixed(questions: Sequence[LabelledQuestion], of: ReplaySet, records: Sequence[Measurements]) -> Fixed:
    """Worked out once for each replay set; all three in the same order."""
    known = _FIXED.get(of)
    if known is None:
        hits = answer_hits(questions, records)
        missing = np.array([bool(question.answers) for question in questions], dtype=bool) & ~hits.any(axis=1)
        unanswerable = np.array([not question.answerable for question in questions], dtype=bool)
        parts = {
            name: np.array(
                [
                    *(part(question, measurements) for question, measurements in zip(questions, records, strict=True)),
                    None,
                ],
                dtype=object,
            )[:-1]
            for name, part in BREAKDOWNS.items()
        }
        known = _FIXED[of] = Fixed(hits, unanswerable | missing, parts)
    return known


def judge(
    questions: Sequence[LabelledQuestion],
    of: ReplaySet,
    records: Sequence[Measurements],
    recorded: Settings,
    settings: Settings,
) -> Judged:
    """Outcomes under the judging settings among `settings`; the others stay as they were recorded."""
    applied = judged_under(recorded, settings)
    outcomes = replay_many(of, applied)
    return Judged(applied, outcomes, marks(questions, outcomes, fixed(questions, of, records).hits, records))
