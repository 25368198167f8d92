"""Says whether text can be seen: by its own ink, or against what is painted behind it.

Found: transparent and render-mode-3 text, text of at most 1.5 pt, and near-white text on a near-white ground. Not found: text in any other
colour on a ground of that colour, and text that something was painted over; both would need a rendering of every page.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from enum import Enum
from typing import Any

import pymupdf

from .marks import fitting_zoom
from .rows import Rect

TINY_PT = 1.5  # no print is that small; the smallest legal notices are about 4 pt
TRANSPARENT = 12  # of 255: under 5 % opacity
PALE = 224  # lowest channel of a colour that is hard to see on white paper
ZOOM = 2.0  # pixels per point: a stem of 8-pt print is then about one pixel wide
# White letters cover at most about 45 % of their box on a dark ground (bold capitals), and on a white ground all of it except for what
# else is printed there, which is less than 30 % for black text under them.
SAME_SHARE = 0.6

_PALE_PIXELS = bytes(1 if value >= PALE else 0 for value in range(256))


class Ink(Enum):
    """How a span is painted."""

    PLAIN = "plain"
    PALE = "pale"  # depends on what is behind it
    NONE = "none"  # transparent, or neither filled nor stroked
    TINY = "tiny"


def ink_of(span: dict[str, Any]) -> Ink:
    """The ink of one span of PyMuPDF's `dict` text."""
    if span["alpha"] <= TRANSPARENT:
        return Ink.NONE
    if span["size"] <= TINY_PT:
        return Ink.TINY
    color = span["color"]
    if color and min(color >> 16 & 255, color >> 8 & 255, color & 255) >= PALE:
        return Ink.PALE
    return Ink.PLAIN


def style_of(span: dict[str, Any]) -> tuple[float, bool, bool]:
    """Font size in points, bold, fixed-width."""
    flags = span["flags"]
    bold = flags & pymupdf.TEXT_FONT_BOLD or "bold" in span["font"].lower()
    return span["size"], bool(bold), bool(flags & pymupdf.TEXT_FONT_MONOSPACED)


class Background:
    """What a page looks like, rendered only if asked."""

    def __init__(self, page: Any, max_pixels: int) -> None:
        self._page = page
        self._max_pixels = max_pixels
        self._picture: Any = None
        self._samples = b""
        self._zoom = 0.0

    def swallows(self, box: Rect) -> bool:
        """Whether pale text in `box` (points) cannot be told from its ground: most of the box is pale."""
        if self._picture is None:
            self._zoom = fitting_zoom(self._page, ZOOM, self._max_pixels)
            matrix = pymupdf.Matrix(self._zoom, self._zoom)
            self._picture = self._page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False)
            self._samples = self._picture.samples
        picture = self._picture
        left, right = (max(0, min(int(picture.width), round(x * self._zoom))) for x in (box[0], box[2]))
        top, bottom = (max(0, min(int(picture.height), round(y * self._zoom))) for y in (box[1], box[3]))
        if left >= right or top >= bottom:
            return True
        pale = 0
        for y in range(top, bottom):
            row = self._samples[y * picture.stride + left : y * picture.stride + right]
            pale += row.translate(_PALE_PIXELS).count(1)
        return pale > SAME_SHARE * (right - left) * (bottom - top)
