"""Which thresholds a certificate may choose, and the values that come into question: from their declarations, never from the labels."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from rag_core.settings import Cost, Knob, Settings

# judging thresholds and the mode that must enforce them; the first ones cut a score of the whole question
FIRST: Mapping[str, str] = MappingProxyType(
    {
        "min_answerability": "answerability_mode",
        "min_top_cosine": "top_cosine_mode",
        "min_mean_cosine": "mean_confidence_mode",
        "min_relevance": "relevance_mode",
        "max_distance": "distance_mode",
    }
)
MODE_OF: Mapping[str, str] = MappingProxyType(
    {
        **FIRST,
        "min_keywords": "keywords_mode",
        "max_missing_entities": "required_entities_mode",
        "min_sentence_overlap": "overlap_mode",
        "min_grounded": "overlap_mode",
        "min_similarity": "similarity_mode",
        "min_support": "support_mode",
    }
)
ROWS = 6  # values of the second threshold; each costs a share of the confidence


def second_thresholds(first: str) -> tuple[str, ...]:
    """What may be chosen together with a first threshold."""
    return tuple(name for name in MODE_OF if name != first and _knob(name).cost is Cost.REPLAY)


def steps(name: str) -> tuple[float, ...]:
    """Every value of a threshold's slider, the strictest first."""
    knob = _knob(name)
    low, high, step = _bounds(knob)
    values = [round(low + n * step, 10) for n in range(round((high - low) / step) + 1)]
    return _typed(knob, values if knob.stricter == "lower" else values[::-1])


def rows(name: str) -> tuple[float, ...]:
    """At most `ROWS` values of a second threshold, evenly over its range, the loosest first: where the choice ties, it stays loose."""
    every = steps(name)[::-1]
    return tuple(every[round(n)] for n in np.linspace(0, len(every) - 1, min(ROWS, len(every))))


def _bounds(knob: Knob) -> tuple[float, float, float]:
    if knob.low is None or knob.high is None or not knob.step:
        raise ValueError(f"{knob.name} is no threshold")
    return knob.low, knob.high, knob.step


def _typed(knob: Knob, values: list[float]) -> tuple[float, ...]:
    return tuple(int(value) for value in values) if isinstance(knob.default, int) else tuple(values)


def _knob(name: str) -> Knob:
    return next(knob for knob in Settings.knobs() if knob.name == name)
