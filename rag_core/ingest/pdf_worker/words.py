"""Words and runs of words of a page, as MuPDF gives them. Pure: it knows neither PDF nor PyMuPDF."""

from __future__ import annotations

from typing import NamedTuple

from .geometry import Rect

SAME_ROW_OVERLAP = (
    0.6  # share of the lower run's height; a superscript overlaps its line by about 0.65, the next line by about 0.1
)
CELL_GAP_EM = 1.0  # a stretched space of justified text mostly stays below about 0.8 em, where MuPDF itself parts runs
CELL_GAP = "\t"
EVEN_EM = 0.5  # how far the edges of what stands in one column may lie apart; chosen


class Word(NamedTuple):
    """A word and where it is shown: points, origin at the top left. `size` is the font size in points.

    `gap` is what stands before it where that is not measured: a blank, where a struck-out word stood there or both are
    in one cell; a tab, where a drawn rule or the heads of columns part them; nothing in a word that is broken.
    """

    text: str
    box: Rect
    size: float
    bold: bool
    mono: bool
    gap: str | None = None


class Run(NamedTuple):
    """Words that MuPDF gives as one line: never empty.

    `direction` is the unit step of its reading direction, (1, 0) for upright text.
    """

    words: list[Word]
    block: int
    direction: tuple[int, int]


def same_row(a: Rect, b: Rect) -> bool:
    """Whether two boxes stand on one row."""
    lower = min(a[3] - a[1], b[3] - b[1])
    return min(a[3], b[3]) - max(a[1], b[1]) > SAME_ROW_OVERLAP * lower > 0
