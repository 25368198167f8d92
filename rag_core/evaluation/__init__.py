"""Runs a labelled set against a library: measures every question once, and compares outcomes with labels under any settings."""

from rag_core.evaluation.cost import Estimate, Sampled, estimate, sample
from rag_core.evaluation.failing import failing
from rag_core.evaluation.labelled import LabelledQuestion, read_labelled
from rag_core.evaluation.paired import Paired, paired
from rag_core.evaluation.report import BREAKDOWNS, Marks, Rate, Report, answer_hits, judged_under, marks, rates, report, reported
from rag_core.evaluation.run import QUESTIONS, Ran, Results, begin, is_current, run, together, unmeasured, with_model

__all__ = [
    "BREAKDOWNS", "QUESTIONS", "Estimate", "LabelledQuestion", "Marks", "Paired", "Ran", "Rate", "Report", "Results", "Sampled",
    "answer_hits", "begin", "estimate", "failing", "is_current", "judged_under", "marks", "paired", "rates", "read_labelled", "report",
    "reported", "run", "sample", "together", "unmeasured", "with_model",
]  # fmt: skip
