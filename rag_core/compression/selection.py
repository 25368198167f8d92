"""The form in which the answerability model reads a sentence: with the place it stands in and the sentence before it."""

from __future__ import annotations

MARK = "¶"  # parts the sentence from what stands around it; one token of the embedded model


def reading(text: str, place: str, before: str) -> str:
    """A sentence as the model reads it: first itself, so that it is never cut, then title and section, then the sentence before."""
    return f" {MARK} ".join(part for part in (text, place, before) if part)
