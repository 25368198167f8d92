"""The reasons why text cannot be seen: from a span's attributes, with counts for each page, and layers that are
switched off.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pymupdf

from ..words import Ink

TINY_PT = 1.5  # no print is that small; the smallest legal notices are about 4 pt
TRANSPARENT = 12  # steps of 255: under 5 % opacity
PALE = 224  # lowest channel of a colour that is hard to see on white paper


def ink_of(span: dict[str, Any]) -> Ink:
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


class Layers:
    """A second look at a document with all its layers on; one that has none switched off costs nothing."""

    def __init__(self, document: Any, password: str) -> None:
        self._all: Any = None
        if not document.is_pdf:  # a web page has none
            return
        keys = ("OFF", "BaseState", "AS")  # each may switch a layer off
        if any(
            document.xref_get_key(document.pdf_catalog(), f"OCProperties/D/{key}")[1] not in ("null", "[]", "/ON")
            for key in keys
        ):
            self._all = pymupdf.open(stream=document.stream, filetype="pdf")
            if self._all.needs_pass:
                self._all.authenticate(password)
            self._all.xref_set_key(self._all.pdf_catalog(), "OCProperties", "null")  # then no layer is ever off

    def words(self, number: int, read: Iterable[str], flags: int) -> list[str]:
        """The words of page `number` (from 0) that are there only with all layers on; `read` are the others."""
        if self._all is None:
            return []
        page = self._all[number]
        more = Counter(word[4] for word in page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags).extractWORDS())
        return list((more - Counter(read)).elements())
