"""A device of MuPDF that hands everything on to another device, but only some of the texts."""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from pymupdf import mupdf

# What MuPDF calls, and the function that hands it on; those that differ in name take the same parameters.
_HANDED_ON = {
    **{name: f"ll_fz_{name}" for name in ("fill_path", "stroke_path", "fill_shade", "fill_image", "fill_image_mask")},
    **{name: f"ll_fz_{name}" for name in ("clip_path", "clip_stroke_path", "clip_text", "clip_stroke_text", "clip_image_mask", "pop_clip")},
    **{name: f"ll_fz_{name}" for name in ("begin_mask", "begin_group", "end_group", "end_tile")},
    "end_mask": "ll_fz_end_mask_tr",
    "begin_tile": "ll_fz_begin_tile_tid",
}


class Chosen(mupdf.FzDevice2):  # type: ignore[misc]
    """Hands on to `target` what is painted, but for the operations `without`; a text only where `wanted` says so of its place among them.

    MuPDF does not even call for an operation that is not handed on: on a map with 100,000 lines those calls take longer than the drawing.
    """

    def __init__(self, target: Any, wanted: Callable[[int], bool], without: Collection[str] = ()) -> None:
        super().__init__()
        self.target = target.m_internal
        self._wanted = wanted
        self._texts = -1
        for name in {*_HANDED_ON, "fill_text", "stroke_text"}.difference(without):
            getattr(self, f"use_virtual_{name}")()

    def fill_text(self, _ctx: Any, text: Any, ctm: Any, space: Any, color: Any, alpha: float, params: Any) -> None:
        """Filled letters."""
        self._texts += 1
        if self._wanted(self._texts):  # this function alone takes its colour as numbers, of which it has room for four
            rgb = mupdf.ll_fz_convert_color(space, color, mupdf.ll_fz_device_rgb(), None, params)[:3]
            mupdf.ll_fz_fill_text(self.target, text, ctm, mupdf.ll_fz_device_rgb(), rgb, alpha, params)

    def stroke_text(self, _ctx: Any, *what: Any) -> None:
        """Outlined letters."""
        self._texts += 1
        if self._wanted(self._texts):
            mupdf.ll_fz_stroke_text(self.target, *what)


def _hand_on(name: str, to: str) -> None:
    function = getattr(mupdf, to)

    def method(self: Chosen, _ctx: Any, *what: Any) -> Any:
        return function(self.target, *what)

    setattr(Chosen, name, method)


for _name, _to in _HANDED_ON.items():
    _hand_on(_name, _to)
