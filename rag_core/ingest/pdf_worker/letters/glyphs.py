"""Widens the boxes of words whose last signs MuPDF gives no width.

In scripts whose letters join (Devanagari), a file says in one text what a cluster of glyphs reads, and MuPDF gives that text the width of
the first glyph: the box of "हैं।" ends before its full stop. The glyphs themselves are listed where they are painted.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from ..basics.rows import Rect

NEAR_PT = 0.5  # glyphs of one word abut; a space between words is at least twice as wide, in print of 4 pt too
THIN_PT = 0.1  # what is thinner stands above or below another glyph


def widen(page: Any, text: str, words: Sequence[list[float]]) -> None:
    """Move the right edges of the words of `text` that have combining marks to where their last glyph ends, in place.

    Args:
        page: of PyMuPDF.
        text: of the page, in rows.
        words: [start, end, x0, y0, x1, y1] in points, as `rows.Rows` has them.

    A page that is shown turned is left as it is.
    """
    marks = {sign for sign in set(text) if unicodedata.category(sign).startswith("M")}
    if not marks or page.rotation:
        return
    marked = [word for word in words if not marks.isdisjoint(text[int(word[0]) : int(word[1])])]
    glyphs: dict[int, list[Rect]] = {}
    for span in page.get_texttrace():
        for code, _, _, box in span["chars"]:
            if box[2] - box[0] > THIN_PT and chr(max(code, 0)).strip():
                glyphs.setdefault(int(box[0]), []).append(box)
    for word in marked:
        word[4] = round(_end(word, glyphs), 2)


def _end(word: Sequence[float], glyphs: dict[int, list[Rect]]) -> float:
    """The right edge of the glyphs that follow one another from the word's own."""
    _, _, _, top, right, bottom = word
    while True:
        near = [box for column in range(int(right - NEAR_PT), int(right + NEAR_PT) + 1) for box in glyphs.get(column, ())]
        ends = [x1 for x0, y0, x1, y1 in near if abs(x0 - right) < NEAR_PT < x1 - right and top < (y0 + y1) / 2 < bottom]
        if not ends:
            return right
        right = max(ends)
