"""One check of a number's range, used by every value of this package."""

from __future__ import annotations


def require_between(name: str, value: float, low: float, high: float) -> None:
    """Raise ValueError unless low <= value <= high.

    NaN is rejected too: `min()` and `max()` would let a NaN slip past a gate, so scores are checked here, once.
    """
    if not low <= value <= high:
        raise ValueError(f"{name} must be in [{low:g}, {high:g}], got {value}")
