"""Counts the tokens that a run spends on a language model, stops it at its budget, and says whether the model can be
asked at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.domain.measurements import Measurements
from rag_core.errors import ModelUnavailable

SILENT = 5  # questions in a row for which the model could not be asked: then it is not a matter of one question


@dataclass(slots=True)
class Spending:
    """Counts what the questions of one call of `run` cost; answers from the cache cost nothing.

    Args:
        budget: tokens; None for no end. The question that passes it is finished, so a run may spend the tokens of one
            question more.
        tokens: spent so far.
        silent: questions since the model last answered for which it could not be asked.
    """

    budget: int | None = None
    tokens: int = 0
    silent: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent."""
        return self.budget is not None and self.tokens >= self.budget

    def add(self, measurements: Measurements) -> None:
        """Count a question that was measured."""
        self.tokens += measurements.llm_trace.tokens if measurements.llm_trace else 0
        if unasked(measurements):
            self.silent += 1
        elif measurements.llm_trace is not None and measurements.llm_trace.calls:
            self.silent = 0

    def require_a_model(self, measurements: Measurements) -> None:
        """Raise ModelUnavailable where the model could not be asked for `SILENT` questions in a row; `measurements` are
        the last one's.
        """
        if self.silent >= SILENT:
            raise ModelUnavailable(
                f"The run was stopped: the language model could not be asked for {self.silent} questions in a row. "
                f"{unasked(measurements)}",
                remedy="What was measured is kept. Check the model's server, then resume the run.",
            )


def unasked(measurements: Measurements) -> str:
    """Why no endpoint answered a call of a question, in a sentence; empty where each did, or nothing was asked.

    What a question may take of the model (`model_seconds`, `model_budget`) is a setting: where it is spent, nothing was
    tried, and that is what was measured.
    """
    calls = measurements.llm_trace.calls if measurements.llm_trace else ()
    return next((call.failure for call in calls if call.failure and call.ms and not call.endpoint), "")
