"""The shapes of glyphs, and how far they are from those of letters, digits and signs in common fonts."""

# mypy: allow-untyped-calls

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pymupdf import mupdf

from ..words import union

Shape = tuple[int, float]  # the pixels, and width against height

SIDE = 20  # pixels of the square into which a glyph's shape is drawn
REFERENCES = ("Helvetica", "Helvetica-Bold", "Times-Roman", "Times-Bold", "Courier", "Courier-Bold")
# for digits and signs, whose slanted shapes are further from the upright ones than some are from each other
SLANTED = tuple(
    "Helvetica-Oblique Helvetica-BoldOblique Times-Italic Times-BoldItalic Courier-Oblique Courier-BoldOblique".split()
)
MIN_EM = 0.001  # the least extent of a glyph with ink; MuPDF gives a blank one a ten-millionth

_MADE_UP = re.compile(r"[A-Za-z]{0,2}\d+")  # names of glyphs that have none; MuPDF takes "a71" for the 71st character
_DARK = bytes(value < 128 for value in range(256))  # more ink than ground


def distance(one: Shape, other: Shape) -> float:
    """The share of the square in which two shapes differ, and how far their proportions do."""
    return (one[0] ^ other[0]).bit_count() / SIDE**2 + abs(one[1] - other[1])


def shape(font: Any, *numbers: int) -> Shape | None:
    """The glyphs side by side, stretched to a square of one bit a pixel, and width by height; None without ink."""
    text = mupdf.fz_new_text()
    boxes, at = [], 0.0
    for number in numbers:
        bounds = _bounds(font, number)
        boxes.append((bounds.x0 + at, bounds.y0, bounds.x1 + at, bounds.y1))
        mupdf.fz_show_glyph(
            text, font, mupdf.FzMatrix(1, 0, 0, 1, at, 0), number, 0, 0, 0, mupdf.FZ_BIDI_LTR, mupdf.FZ_LANG_UNSET
        )
        at += mupdf.ll_fz_advance_glyph(font.m_internal, number, 0) if len(numbers) > 1 else 0.0
    x0, y0, x1, y1 = union(boxes)
    width, height = x1 - x0, y1 - y0
    if not (0 < width < 10 and 0 < height < 10):
        return None
    fit = mupdf.FzMatrix(SIDE / width, 0, 0, -SIDE / height, -x0 * SIDE / width, y1 * SIDE / height)
    picture = mupdf.fz_new_pixmap_with_bbox(
        mupdf.fz_device_gray(), mupdf.FzIrect(0, 0, SIDE, SIDE), mupdf.FzSeparations(), 0
    )
    mupdf.fz_clear_pixmap_with_value(picture, 255)  # a glyph that has a colour of its own is black as a rule
    device = mupdf.fz_new_draw_device(mupdf.FzMatrix(), picture)
    mupdf.fz_fill_text(device, text, fit, mupdf.fz_device_gray(), (0.0,), 1.0, mupdf.FzColorParams())
    mupdf.fz_close_device(device)
    samples = bytes(mupdf.fz_pixmap_samples_memoryview(picture))
    return int.from_bytes(samples.translate(_DARK), "big"), min(2.0, width / height)


def is_blank(font: Any, number: int) -> bool:
    """Whether the glyph has no ink: a blank that says a letter or a digit, beside others that show."""
    bounds = _bounds(font, number)
    return bool(bounds.x1 - bounds.x0 < MIN_EM or bounds.y1 - bounds.y0 < MIN_EM)


def _bounds(font: Any, number: int) -> Any:
    """The box around a glyph's ink; of a font that a file only names, MuPDF gives the box that fits all its glyphs."""
    plain = mupdf.FzMatrix()
    bounds, widest = mupdf.fz_bound_glyph(font, number, plain), mupdf.fz_font_bbox(font)
    own, most = ((box.x0, box.x1, box.y0, box.y1) for box in (bounds, widest))
    if own != most or font.m_internal.t3procs:
        return bounds
    outline = mupdf.fz_outline_glyph(font, number, plain)
    return mupdf.ll_fz_bound_path(outline.m_internal, None, plain.internal()) if outline.m_internal else bounds


def away(font: Any, number: int, text: str, own: Mapping[str, int]) -> float | None:
    """How far a glyph's shape is from that of a text of a few signs, in all references; None where it cannot be said.

    `own`: glyphs of the same font by the letters that they are, of which it may have made one for several.
    """
    own_shape = shape(font, number)
    if not own_shape or not text:
        return None
    known = list(references(text, slanted=is_slanted(font)))
    if len(text) > 1 and own.keys() >= set(text) and (reference := shape(font, *(own[sign] for sign in text))):
        known.append(reference)
    return min((distance(own_shape, reference) for reference in known), default=None)


@cache
def references(text: str, *, slanted: bool) -> tuple[Shape, ...]:
    """The shapes of a text in the fonts of the references that have all of its signs."""
    found = []
    for font in map(mupdf.fz_new_base14_font, (*REFERENCES, *(SLANTED if slanted else ()))):
        numbers = [mupdf.ll_fz_encode_character(font.m_internal, ord(sign)) for sign in text]
        if all(numbers) and (own := shape(font, *numbers)):
            found.append(own)
    return tuple(found)


def glyph_code(font: Any, number: int) -> int:
    """The character that a font names a glyph after; 0 where it has no such name."""
    name = str(mupdf.ll_fz_get_glyph_name2(font.m_internal, number)).partition(".")[0]
    return 0 if _MADE_UP.fullmatch(name) else max(0, mupdf.ll_fz_unicode_from_glyph_name(name))


def named_parts(font: Any, number: int) -> str:
    """The letters that a font names a ligature after, as "T_h" or "ffi"; "" for a glyph with no such name."""
    name = str(mupdf.ll_fz_get_glyph_name2(font.m_internal, number)).partition(".")[0]
    parts = name if name in ("ff", "fi", "fl", "ffi", "ffl") else name.split("_")
    return "".join(parts) if all(len(part) == 1 and part.isalpha() for part in parts) else ""


def is_slanted(font: Any) -> bool:
    """Whether a font calls itself italic.

    Slanted shapes accuse no upright glyph: the narrow 7 of a heading is like a slanted 1.
    """
    name = str(font.m_internal.name).casefold()
    return bool(mupdf.ll_fz_font_is_italic(font.m_internal)) or "ital" in name or "obli" in name
