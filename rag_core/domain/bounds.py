"""Bounds that more than one package holds: the range of a number, the length of a question."""

from __future__ import annotations

MAX_QUESTION_CHARS = 2000  # about 300 words; a longer text is a document. Chosen, not measured


def require_between(name: str, value: float | None, low: float, high: float) -> None:
    """Raise ValueError unless low <= value <= high, or there is none: a NaN would slip past a gate."""
    if value is not None and not low <= value <= high:
        raise ValueError(f"{name} must be in [{low:g}, {high:g}], got {value}")
