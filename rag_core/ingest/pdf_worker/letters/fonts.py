"""Finds glyphs that a font's text map takes for another letter, digit or sign than they show (`ToUnicode`: the page shows 28, not 38).

Two things are held against the map. What the font itself calls a glyph (its name, or its own table of characters) counts where the glyph's
shape speaks for it too, since programs that write fonts name glyphs wrongly. And the shape of each digit counts by itself, as digits look
alike in all fonts; so does that of the signs that change what a figure says: "≥ 5" is not "≤ 5". A glyph without ink shows nothing that
could be said. A letter whose font names it wrongly, or not at all, is not found out.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

from pymupdf import mupdf

from .crowded import Glyph
from .symbols import meant

Shape = tuple[int, float]  # the pixels, and width against height

SIDE = 20  # pixels of the square into which a glyph's shape is drawn
CORNER = 3  # pixels of each corner, both ways, in which a "+" has no ink; chosen
MAX_FONTS = 64  # that are remembered, as each keeps its program in memory
DIGITS = "0123456789"
SIGNS = "≤≥<>=≠±+−×%‰€$£¥§"  # that change what a figure says
MINUS = "−"
DASHES = dict.fromkeys("-\u2010\u2011\u2012\u2013\u2014\u2015", MINUS)  # drawn so much like a minus that fonts use one for another
TIMES = frozenset("xX×")  # drawn alike, and files say one for another
# ASCII digits and letters, and the Latin letters with marks (U+00C0 to U+024F)
KNOWN = [chr(code) for code in (*range(0x30, 0x3A), *range(0x41, 0x5B), *range(0x61, 0x7B), *range(0xC0, 0x250)) if chr(code).isalnum()]
REFERENCES = ("Helvetica", "Helvetica-Bold", "Times-Roman", "Times-Bold", "Courier", "Courier-Bold")
# for digits and signs, whose slanted shapes are further from the upright ones than some are from each other
SLANTED = ("Helvetica-Oblique", "Helvetica-BoldOblique", "Times-Italic", "Times-BoldItalic", "Courier-Oblique", "Courier-BoldOblique")
MIN_EM = 0.001  # the least extent of a glyph with ink; MuPDF gives a blank one a ten-millionth
NEAR = 0.25  # a glyph may differ by so much of a square from the reference that it is taken for
RATHER = 1.25  # times as many pixels must differ from what the map says as from what the font says
APART = 1.5  # times as many pixels must differ from what the map says as from what is shown


class Fonts:
    """The fonts of one document, each glyph looked at once."""

    def __init__(self) -> None:
        self._fonts: dict[int, tuple[Any, dict[Glyph, bool]]] = {}
        self._own: dict[int, dict[int, set[str]]] = {}

    def false(self, used: dict[int, tuple[Any, set[Glyph]]]) -> dict[str, set[Glyph]]:
        """Of the glyphs `used` on a page, by font, those that show another character than they are said to; by the font's name."""
        found: dict[str, set[Glyph]] = {}
        for address, (font, glyphs) in used.items():
            if address not in self._fonts:
                if len(self._fonts) >= MAX_FONTS:
                    self._fonts.clear()
                    self._own.clear()
                self._fonts[address] = font, {}  # kept, or its address would come to name another
            known = self._fonts[address][1]
            for glyph in glyphs - known.keys():
                known[glyph] = self._is_false(address, font, *glyph)
            wrong = {glyph for glyph in glyphs if known[glyph]}
            if wrong:
                found.setdefault(bare_name(str(font.m_internal.name)), set()).update(wrong)
        return found

    def _is_false(self, address: int, font: Any, number: int, code: int) -> bool:
        said = _plain(meant(str(font.m_internal.name), chr(max(0, min(code, 0x10FFFF)))))
        if said not in _KNOWN_SET or number <= 0:
            return False
        if _is_blank(font, number):
            return said != MINUS  # fonts have blank hyphens
        if any(said in signs and _shows_other(font, number, said, signs) for signs in (DIGITS, SIGNS)):
            return True
        shown = self._called(address, font, number)
        if not shown or any(_alike(said, other) for other in shown):
            return False
        return any(_looks_rather(font, number, other, said) for other in shown)

    def _called(self, address: int, font: Any, number: int) -> set[str]:
        """The characters that the font itself has this glyph for; empty where it does not say."""
        name = str(mupdf.ll_fz_get_glyph_name2(font.m_internal, number)).partition(".")[0]
        code = 0 if name.isdigit() else mupdf.ll_fz_unicode_from_glyph_name(name)  # MuPDF makes names of numbers up
        if code > 0 and _plain(chr(code)) in _KNOWN_SET:
            return {_plain(chr(code))}
        if address not in self._own:
            own: dict[int, set[str]] = {}
            for sign in (*KNOWN, *SIGNS, *DASHES):
                own.setdefault(mupdf.ll_fz_encode_character(font.m_internal, ord(sign)), set()).add(_plain(sign))
            self._own[address] = own
        return self._own[address].get(number, set())


def bare_name(name: str) -> str:
    """A font's name without what marks it as a subset: "Arial" of "ABCDEF+Arial"."""
    return name.partition("+")[2] or name


_KNOWN_SET = frozenset((*KNOWN, *SIGNS))
_EDGE = {*range(CORNER), *range(SIDE - CORNER, SIDE)}
_CORNERS = int.from_bytes(bytes(row in _EDGE and column in _EDGE for row in range(SIDE) for column in range(SIDE)), "big")
_DARK = bytes(value < 128 for value in range(256))  # more ink than ground


def _plain(sign: str) -> str:
    """The sign itself, or the minus that a dash may be."""
    return DASHES.get(sign, sign)


def _alike(one: str, other: str) -> bool:
    """Whether two letters are the same but for case and marks; a sign is like itself alone."""
    if one in SIGNS or other in SIGNS:
        return one == other or {one, other} <= TIMES
    return unicodedata.normalize("NFKD", one).casefold()[:1] == unicodedata.normalize("NFKD", other).casefold()[:1]


def _shows_other(font: Any, number: int, said: str, signs: str) -> bool:
    """Whether the glyph's shape is that of another one of these signs."""
    shape = _shape(font, number)
    if not shape:
        return False
    slanted = _is_slanted(font)
    away = {sign: min(_distance(shape, one) for one in _references(sign, slanted or sign == said)) for sign in signs}
    nearest = min(away, key=lambda sign: away[sign])
    if nearest == "+" and shape[0] & _CORNERS:
        return False  # a thin "±", as TeX draws it, is nearer to a "+" than to the bold "±" of the references
    return nearest != said and away[nearest] < NEAR and away[said] > APART * away[nearest]


def _is_blank(font: Any, number: int) -> bool:
    """Whether the glyph has no ink: a blank that says a letter or a digit, beside others that show."""
    bounds = _bounds(font, number)
    return bool(bounds.x1 - bounds.x0 < MIN_EM or bounds.y1 - bounds.y0 < MIN_EM)


def _bounds(font: Any, number: int) -> Any:
    """The box around a glyph's ink. Of a font that a file only names, MuPDF gives the box that all its glyphs fit into."""
    plain = mupdf.FzMatrix()
    bounds, widest = mupdf.fz_bound_glyph(font, number, plain), mupdf.fz_font_bbox(font)
    if (bounds.x0, bounds.x1, bounds.y0, bounds.y1) != (widest.x0, widest.x1, widest.y0, widest.y1) or font.m_internal.t3procs:
        return bounds
    outline = mupdf.fz_outline_glyph(font, number, plain)
    return mupdf.ll_fz_bound_path(outline.m_internal, None, plain.internal()) if outline.m_internal else bounds


def _looks_rather(font: Any, number: int, shown: str, said: str) -> bool:
    shape = _shape(font, number)
    if not shape:
        return False
    one, other = (min((_distance(shape, reference) for reference in _references(sign, True)), default=1.0) for sign in (shown, said))
    return one < NEAR and RATHER * one < other


def _is_slanted(font: Any) -> bool:
    """Whether a font calls itself italic. Slanted shapes accuse no upright glyph: the narrow 7 of a heading is like a slanted 1."""
    name = str(font.m_internal.name).casefold()
    return bool(mupdf.ll_fz_font_is_italic(font.m_internal)) or "ital" in name or "obli" in name


@cache
def _references(sign: str, slanted: bool) -> tuple[Shape, ...]:
    shapes = []
    for name in (*REFERENCES, *SLANTED) if slanted and (sign in SIGNS or sign in DIGITS) else REFERENCES:
        font = mupdf.fz_new_base14_font(name)
        shape = _shape(font, mupdf.ll_fz_encode_character(font.m_internal, ord(sign)))
        if shape:
            shapes.append(shape)
    return tuple(shapes)


def _distance(one: Shape, other: Shape) -> float:
    """The share of the square in which two shapes differ, and how far their proportions do."""
    return (one[0] ^ other[0]).bit_count() / SIDE**2 + abs(one[1] - other[1])


def _shape(font: Any, number: int) -> Shape | None:
    """The glyph stretched to fill a square, one bit a pixel, and its width against its height; None without ink."""
    bounds = _bounds(font, number)
    width, height = bounds.x1 - bounds.x0, bounds.y1 - bounds.y0
    if not (0 < width < 10 and 0 < height < 10):
        return None
    text = mupdf.fz_new_text()
    mupdf.fz_show_glyph(text, font, mupdf.FzMatrix(), number, 0, 0, 0, mupdf.FZ_BIDI_LTR, mupdf.FZ_LANG_UNSET)
    fit = mupdf.FzMatrix(SIDE / width, 0, 0, -SIDE / height, -bounds.x0 * SIDE / width, bounds.y1 * SIDE / height)
    picture = mupdf.fz_new_pixmap_with_bbox(mupdf.fz_device_gray(), mupdf.FzIrect(0, 0, SIDE, SIDE), mupdf.FzSeparations(), 0)
    mupdf.fz_clear_pixmap_with_value(picture, 255)  # a glyph that has a colour of its own is black as a rule
    device = mupdf.fz_new_draw_device(mupdf.FzMatrix(), picture)
    mupdf.fz_fill_text(device, text, fit, mupdf.fz_device_gray(), (0.0,), 1.0, mupdf.FzColorParams())
    mupdf.fz_close_device(device)
    return int.from_bytes(bytes(mupdf.fz_pixmap_samples_memoryview(picture)).translate(_DARK), "big"), min(2.0, width / height)
