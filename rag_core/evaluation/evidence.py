"""Evidence for a change of settings: how the same questions end before and after it, with intervals, and which of them flip.

Labelled questions are measured under both settings (`rag_core.evaluation.run`); kept decisions are only judged again, and have no
labels. The evidence holds numbers and no text: a flip is told by a hash of the question's id, or by the id of the decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rag_core.decision.batch import ReplaySet, replay_many
from rag_core.decision.decide import replay
from rag_core.domain.acts import name_id
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.evaluation.failing import error_of
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.metrics import mcnemar
from rag_core.evaluation.paired import paired
from rag_core.evaluation.report import Marks, Rate, answer_hits, judged_under, marks, rates
from rag_core.settings import Settings

LABELLED, KEPT = "labelled", "kept"
CHANCE = 0.05  # from here on a difference may be chance, as the lab has it
MAX_FLIPS = 200  # that are listed; all are counted
Side = tuple[Mapping[str, Measurements], Settings]  # measurements by question id, and the settings that judge them


def of_labelled(questions: Sequence[LabelledQuestion], before: Side, after: Side) -> dict[str, Any]:
    """Evidence on labelled questions; all of them measured on both sides.

    Returns:
        `kind`, `questions`, the rates of both sides, `only_before` and `only_after` (questions that one side alone got right), `p` of
        McNemar's exact test, `said` (see `conclusion`), `flips` as {question, before, after}.
    """
    first, second = _marked(questions, *before), _marked(questions, *after)
    found = paired(first, second)
    flips = [
        {"question": name_id(questions[row].id), "before": _end(first, row), "after": _end(second, row)} for row in map(int, found.differ)
    ]
    return {
        "kind": LABELLED, "questions": found.compared, "before": _rates(first), "after": _rates(second), "only_before": found.only_first,
        "only_after": found.only_second, "p": found.p, "said": conclusion(found.only_first, found.only_second),
        "flipped": len(flips), "flips": flips[:MAX_FLIPS],
    }  # fmt: skip


def of_kept(kept: Mapping[int, Measurements], before: Settings, after: Settings) -> dict[str, Any]:
    """Evidence on kept decisions: how many are answered before and after, and which flip. Nobody knows which of them are right.

    Questions that would need a language model again are left out. Shape as of `of_labelled`.
    """
    ends = {id: (_answered(one, before), _answered(one, after)) for id, one in kept.items()}
    known = {id: (b, a) for id, (b, a) in ends.items() if b is not None and a is not None}
    flips = [{"question": str(id), "before": _word(b), "after": _word(a)} for id, (b, a) in known.items() if b != a]
    answered = [sum(bool(pair[side]) for pair in known.values()) for side in (0, 1)]
    lost, won = (sum(flip["before"] == word for flip in flips) for word in ("answered", "refused"))
    told = [{"answered": Rate(count, len(known)).to_json()} for count in answered]
    return {
        "kind": KEPT, "questions": len(known), "before": told[0], "after": told[1], "only_before": lost, "only_after": won,
        "p": mcnemar(lost, won), "said": "unlabelled", "flipped": len(flips), "flips": flips[:MAX_FLIPS],
    }  # fmt: skip


def conclusion(only_before: int, only_after: int) -> str:
    """`better`, `worse`, `chance` (the difference may be that) or `same` (no question was won or lost)."""
    if only_before == only_after == 0:
        return "same"
    if mcnemar(only_before, only_after) >= CHANCE:
        return "chance"
    return "better" if only_after > only_before else "worse"


def _marked(questions: Sequence[LabelledQuestion], by_id: Mapping[str, Measurements], settings: Settings) -> Marks:
    records = [by_id[one.id] for one in questions]
    return marks(questions, replay_many(ReplaySet.of(records), settings), answer_hits(questions, records), records)


def _rates(marked: Marks) -> dict[str, Any]:
    every = np.ones_like(marked.answered)
    known = int(marked.measured.sum())
    named = dict(zip(("false_refusals", "wrong_answers", "missed_answers"), rates(marked, every), strict=True))
    named |= {"answered": Rate(int((marked.measured & marked.answered).sum()), known), "right": Rate(int(marked.correct.sum()), known)}
    return {name: rate.to_json() for name, rate in named.items()}


def _end(marked: Marks, row: int) -> str:
    return error_of(marked, row) or ("answered" if marked.answered[row] else "refused")


def _answered(measurements: Measurements, settings: Settings) -> bool | None:
    """None where a language model would have to be asked again."""
    decision = replay(measurements, judged_under(measurements.settings, settings))
    return None if decision.reason is Reason.NEEDS_GENERATION else decision.is_safe()


def _word(answered: bool | None) -> str:
    return "answered" if answered else "refused"
