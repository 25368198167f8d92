"""Digits that are set raised, as what they are: "10²³", "within a year.¹". A file has plain digits there: "1023", "year.1". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SMALLER = 0.9  # parts of the line's font size; superscripts are set at 0.58 to 0.83 of it
RAISED = 0.15  # parts of the line's font size, from its baseline; print raises by 0.2 to 0.5

_RAISED = dict(zip("0123456789+-−()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾", strict=True))


def raised_signs(spans: Sequence[dict[str, Any]], ends: Sequence[int]) -> dict[int, str]:
    """The signs to write instead of those that a line has raised, by their place among its characters, white space not counted.

    Args:
        spans: of one line, as PyMuPDF gives them: `text`, `size` in points, `origin` of the first sign.
        ends: where each ends among those characters.
    """
    if len(spans) < 2:
        return {}
    main = max(spans, key=lambda span: len(span["text"].strip()))
    found: dict[int, str] = {}
    for span, start, end in zip(spans, [0, *ends], ends, strict=False):
        signs = "".join(span["text"].split())
        low = span["size"] > SMALLER * main["size"] or main["origin"][1] - span["origin"][1] < RAISED * main["size"]
        if low or len(signs) != end - start or not any(map(str.isdigit, signs)) or not all(sign in _RAISED for sign in signs):
            continue
        found.update((start + n, _RAISED[sign]) for n, sign in enumerate(signs))
    return found
