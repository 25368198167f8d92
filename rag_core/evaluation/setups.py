"""Four ways to guard a question that one of the sources compares, and its rule for choosing between them.

The source numbers its options and names them. Its recommendation confuses the two: "Option 2 (Hybrid)", though option 2 is the embedding
guard and the hybrid is option 4. Here an option is always told with its number and its name, and the rule follows the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.domain.llm_trace import Step
from rag_core.domain.measurements import Measurements
from rag_core.settings import Settings

HYBRID_FROM = 0.70  # effectiveness of prompt hardening from which on the source takes the hybrid
GUARD_ABOVE = 0.20  # hallucinations above which the source takes the model guard
GUARDS: Mapping[int, str] = {2: "relevance-guard", 4: "relevance-hybrid"}  # presets whose guard costs no model call, by option
ALL: Mapping[int, str] = {1: "relevance-prompt", **GUARDS, 3: "relevance-llm"}  # and those that a run with a model can be judged under
MEASURES_ALL = ALL[1]  # it refuses nothing and asks the model everything: a run under it holds what all four need
HALLUCINATIONS_BELOW, FALSE_NEGATIVES_BELOW, LATENCY_BELOW_MS = 0.05, 0.10, 100.0  # targets of the ticket


@dataclass(frozen=True, slots=True)
class Setup:
    """One of the four, by its number in the source. `model` says whether answers of a language model are needed to measure it whole."""

    option: int
    name: str
    model: bool


# numbered as the source numbers its options
SETUPS: Sequence[Setup] = (
    Setup(1, "prompt", model=True),
    Setup(2, "embedding_guard", model=False),
    Setup(3, "model_guard", model=True),
    Setup(4, "hybrid", model=True),
)


@dataclass(frozen=True, slots=True)
class Pick:
    """The pick of the rule: a set-up, none where neither condition holds, or the figures that are still missing."""

    setup: Setup | None
    missing: tuple[str, ...] = ()


def pick(effectiveness: float | None, hallucinations: float | None) -> Pick:
    """The rule: the hybrid when prompt hardening is at least 70 % effective, the model guard when hallucinations exceed 20 %.

    Where both hold, the model guard: what is left over is still too much.

    Args:
        effectiveness: share of hallucinations that prompt hardening removes, in [0, 1], against a model that answers every question; None
            where it was not measured.
        hallucinations: share of unanswerable questions that are answered with the hardened prompt alone; None where it was not measured.
    """
    if hallucinations is not None and hallucinations > GUARD_ABOVE:
        return Pick(SETUPS[2])
    missing = [name for name, value in (("effectiveness", effectiveness), ("hallucinations", hallucinations)) if value is None]
    if missing:
        return Pick(None, tuple(missing))
    return Pick(SETUPS[3] if (effectiveness or 0.0) >= HYBRID_FROM else None)


def presets_for(measured_under: Settings) -> Mapping[int, str]:
    """The presets, by option, that stand for the set-ups on the records of a run: all four only where a language model drafted."""
    return ALL if measured_under.drafter == "model" else GUARDS


def guard_latency(cases: Sequence[Measurements], option: int = 2) -> float | None:
    """The 95th percentile of the milliseconds that the guard of an option adds to a question; None where it was never measured.

    The hardened prompt of option 1 adds no step. A verdict of the model that came from the cache says nothing about time.
    """
    if option == 1:
        return 0.0
    if option == 3:
        calls = [call for case in cases if case.generation for call in case.generation.calls]
        ms = [call.ms for call in calls if call.step is Step.SUFFICIENCY and not call.cached and not call.failure]
    else:
        ms = [case.timings["relevance"] for case in cases if "relevance" in case.timings]
    return float(np.percentile(ms, 95)) if ms else None
