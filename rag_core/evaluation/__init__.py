"""Measures each question of a labelled set once, and compares outcomes with labels under any settings."""

from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.labelled_files import read_labelled
from rag_core.evaluation.report import (
    BREAKDOWNS,
    Marks,
    Paired,
    Rate,
    Report,
    answer_hits,
    failing,
    judged_under,
    marks,
    paired,
    rates,
    report,
    reported,
)
from rag_core.evaluation.run import QUESTIONS, Ran, Results, begin, is_current, run, together, with_model

__all__ = [
    "BREAKDOWNS",
    "QUESTIONS",
    "LabelledQuestion",
    "Marks",
    "Paired",
    "Ran",
    "Rate",
    "Report",
    "Results",
    "answer_hits",
    "begin",
    "failing",
    "is_current",
    "judged_under",
    "marks",
    "paired",
    "rates",
    "read_labelled",
    "report",
    "reported",
    "run",
    "together",
    "with_model",
]
