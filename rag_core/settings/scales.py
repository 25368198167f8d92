"""The scales on which values, thresholds and settings stand, with their bounds; and the units of settings that
count.
"""

from __future__ import annotations

import math
from enum import StrEnum


class Scale(StrEnum):
    """A scale: its published name, and the least and greatest value on it. An unknown one cannot be built."""

    low: float
    high: float

    def __new__(cls, name: str, low: float = math.nan, high: float = math.nan) -> Scale:
        """A member by its published name, with its bounds; `Scale(name)` looks one up."""
        if not low < high:
            raise TypeError(f"the scale {name!r} needs bounds")
        member = str.__new__(cls, name)
        member._value_, member.low, member.high = name, low, high
        return member

    COSINE = "cosine", -1.0, 1.0
    DISTANCE = "distance", 0.0, 2.0  # 1 - cosine
    CORRECTNESS = "correctness", 0.0, 1.0  # the calibrated probability that the answer is right
    ANSWERABILITY = "answerability", 0.0, 1.0  # the calibrated probability that the documents answer the question
    SUPPORT = "support", 0.0, 1.0  # an estimated probability
    SHARE = "share", 0.0, 1.0  # a part of a whole, or a weight beside others
    RATIO = "ratio", 0.0, math.inf  # one number against another; either may be the greater
    COUNT = "count", 0.0, math.inf

    def require(self, name: str, value: float) -> None:
        """Raise ValueError unless the value is finite and on the scale. NaN is neither."""
        if not math.isfinite(value) or not self.low <= value <= self.high:
            raise ValueError(
                f"{name}: a value on scale {self.value!r} must be finite and in [{self.low}, {self.high}], got {value}"
            )


class Unit(StrEnum):
    """The unit of a setting that stands on none of the scales; its own bounds say how far it goes."""

    PASSAGES = "passages"
    DAYS = "days"
    WORDS = "words"
    NAMES = "names"
    SENTENCES = "sentences"
    TEMPERATURE = "temperature"
    DRAFTS = "drafts"
    SEARCHES = "searches"
    SECONDS = "seconds"
    TOKENS = "tokens"
