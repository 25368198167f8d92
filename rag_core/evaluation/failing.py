"""The questions that ended against their labels, as a labelled set that can be run again, with what happened beside
each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from rag_core.decision.decide import replay
from rag_core.domain.measurements import Measurements
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.report import Marks
from rag_core.settings import Settings

HAPPENED = "happened"  # a column that reading a labelled set passes over


def failing(
    questions: Sequence[LabelledQuestion], records: Sequence[Measurements], settings: Settings, marked: Marks
) -> bytes:
    """JSON lines: each failing question in the labelled shape, with `happened`: outcome, reason, scores, and what was
    answered from where.

    Args:
        questions: of the run.
        records: their measurements, with their texts.
        settings: under which they were judged for `marked`.
        marked: from `marks`; everything in the same order.
    """
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
    """The kind of error: needs_model, not_measured, false_refusal, wrong_answer, missed_answer; empty where it ended as
    labelled.
    """
    if marked.needs_model[row]:
        return "needs_model"
    if not marked.measured[row]:
        return "not_measured"
    if marked.false_refusal[row]:
        return "false_refusal"
    if marked.wrong_answer[row]:
        return "wrong_answer"
    return "missed_answer" if marked.missed[row] else ""
