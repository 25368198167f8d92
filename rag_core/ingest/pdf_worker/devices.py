"""Devices of MuPDF, which it calls for what a page paints: one that hands all of it on, and the glyphs of a text."""

# mypy: allow-untyped-calls

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from typing import Any

from pymupdf import mupdf

from .glyphs.actual_text import FURTHER

ITEM_BYTES = 24  # the size of MuPDF's fz_text_item: x, y, advance as floats; glyph, character, code as integers
TEXT = ("fill_text", "stroke_text")
TEXT_CLIPS = ("clip_text", "clip_stroke_text")
PAINTING = ("fill_path", "stroke_path", "fill_shade", "fill_image", "fill_image_mask")
CLIPS = ("clip_path", "clip_stroke_path", "clip_image_mask", "pop_clip")
GROUPS = ("begin_mask", "end_mask", "begin_group", "end_group", "begin_tile", "end_tile")
_NAMED_OTHERWISE = {"end_mask": "ll_fz_end_mask_tr", "begin_tile": "ll_fz_begin_tile_tid"}


def call_back(device: Any, names: Collection[str]) -> None:
    """Have MuPDF call these methods of a device, or of a walker over a path."""
    for name in names:
        getattr(device, f"use_virtual_{name}")()


class HandOn(mupdf.FzDevice2):  # type: ignore[misc]
    """Hands on to `target` what is painted by the operations `names`, each text as `shown` gives it, if at all.

    MuPDF does not even call for an operation that is not named: on a map with 100,000 lines those calls take longer
    than the drawing.
    """

    def __init__(self, target: Any, names: Collection[str]) -> None:
        super().__init__()
        self.target = target.m_internal
        call_back(self, names)

    def shown(self, name: str, text: Any) -> Any:
        """The text to hand on for one that is painted by the operation of this name."""
        return text

    def fill_text(self, _ctx: Any, text: Any, ctm: Any, space: Any, color: Any, alpha: float, params: Any) -> None:
        """Hand on filled letters, in RGB: the bindings have room for four numbers of a colour."""
        shown = self.shown("fill_text", text)
        if shown is not None:
            rgb = mupdf.ll_fz_convert_color(space, color, mupdf.ll_fz_device_rgb(), None, params)[:3]
            mupdf.ll_fz_fill_text(self.target, shown, ctm, mupdf.ll_fz_device_rgb(), rgb, alpha, params)


def _hand_on(name: str) -> None:
    function = getattr(mupdf, _NAMED_OTHERWISE.get(name, f"ll_fz_{name}"))

    def method(self: HandOn, _ctx: Any, *what: Any) -> Any:
        return function(self.target, *what)

    def text_method(self: HandOn, _ctx: Any, text: Any, *how: Any) -> None:
        shown = self.shown(name, text)
        if shown is not None:
            function(self.target, shown, *how)

    setattr(HandOn, name, text_method if name.endswith("_text") else method)


for _name in ("stroke_text", "ignore_text", *TEXT_CLIPS, *PAINTING, *CLIPS, *GROUPS):
    _hand_on(_name)


def spans_of(text: Any) -> Iterator[Any]:
    span = text.head
    while span:
        yield span
        span = span.next


def glyphs_of(span: Any) -> Iterator[tuple[float, float, float, int, str]]:
    """x, y and advance in the space of the text, number, and characters of each glyph."""
    raw = mupdf.raw_to_python_bytes(span.items, ITEM_BYTES * span.len)
    places, numbers = array("f", raw), array("i", raw)
    found: list[Any] | None = None
    for at in range(0, len(numbers), 6):
        sign = chr(numbers[at + 4]) if 0 < numbers[at + 4] < 0x110000 else "\ufffd"
        if numbers[at + 3] == FURTHER and found:
            found[4] += sign
            continue
        if found:
            yield tuple(found)
        found = [*places[at : at + 3], numbers[at + 3], sign]
    if found:
        yield tuple(found)
