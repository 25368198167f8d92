"""Runs a labelled set against a library: measures every question once, and compares outcomes with labels under any settings."""

from rag_core.evaluation.cost import Estimate, estimate, sample
from rag_core.evaluation.failing import failing
from rag_core.evaluation.paired import Paired, paired
from rag_core.evaluation.report import BREAKDOWNS, Marks, Rate, Report, answer_hits, judged_under, marks, rates, report
from rag_core.evaluation.run import QUESTIONS, Ran, Results, begin, is_current, run, unmeasured, with_model
from rag_core.evaluation.setups import MEASURES_ALL, SETUPS, Pick, Setup, guard_latency, pick, presets_for

__all__ = [
    "BREAKDOWNS", "MEASURES_ALL", "QUESTIONS", "SETUPS", "Estimate", "Marks", "Paired", "Pick", "Ran", "Rate", "Report", "Results",
    "Setup", "answer_hits", "begin", "estimate", "failing", "guard_latency", "is_current", "judged_under", "marks", "paired", "pick",
    "presets_for", "rates", "report", "run", "sample", "unmeasured", "with_model",
]  # fmt: skip
