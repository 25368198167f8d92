"""Finds glyphs that a font's text map takes for another letter, digit or sign than they show (`ToUnicode`: the page
shows 28, not 38).

Two things are held against the map. What the font itself calls a glyph counts where the glyph's shape speaks for it
too, since programs that write fonts name glyphs wrongly. And the shape of each digit counts by itself, as does that of
the signs that change what a figure says: "≥ 5" is not "≤ 5". A glyph without ink shows nothing that could be said. A
letter whose font names it wrongly, or not at all, is not found out.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from pymupdf import mupdf

from .actual_text import FURTHER, Glyph
from .shapes import SIDE, Shape, away, glyph_code, is_blank, is_slanted, named_parts, references
from .shapes import distance as _distance
from .shapes import shape as _shape
from .symbols import FEW, meant, sign_of

CORNER = 3  # pixels of each corner, both ways, in which a "+" has no ink; chosen
MAX_FONTS = 64  # that are remembered, as each keeps its program in memory
DIGITS = "0123456789"
SIGNS = "≤≥<>=≠±+−×%‰€$£¥§"  # that change what a figure says
MINUS = "−"
# drawn so much like a minus that fonts use one for another
DASHES = dict.fromkeys("-\u2010\u2011\u2012\u2013\u2014\u2015", MINUS)
TIMES = frozenset("xX×")  # drawn alike, and files say one for another
# ASCII digits and letters, and the Latin letters with marks (U+00C0 to U+024F)
KNOWN = [
    chr(code)
    for code in (*range(0x30, 0x3A), *range(0x41, 0x5B), *range(0x61, 0x7B), *range(0xC0, 0x250))
    if chr(code).isalnum()
]
NEAR = 0.25  # a glyph may differ by so much of a square from the reference that it is taken for
RATHER = 1.25  # times as many pixels must differ from what the map says as from what the font says
APART = 1.5  # times as many pixels must differ from what the map says as from what is shown


class Fonts:
    """The fonts of one document, each glyph looked at once."""

    def __init__(self) -> None:
        self._fonts: dict[int, tuple[Any, dict[Glyph, bool]]] = {}
        self._own: dict[int, dict[int, set[str]]] = {}
        self._signs: dict[tuple[int, Glyph, bool], str] = {}
        self._away: dict[tuple[int, int, str], float | None] = {}

    def _known(self, address: int, font: Any) -> dict[Glyph, bool]:
        if address not in self._fonts:
            if len(self._fonts) >= MAX_FONTS:
                for known in (self._fonts, self._own, self._signs, self._away):
                    known.clear()
            self._fonts[address] = font, {}  # kept, or its address would come to name another
        return self._fonts[address][1]

    def signs(self, used: Mapping[int, tuple[Any, set[Glyph]]]) -> dict[tuple[int, Glyph], str]:
        """Of the glyphs `used` on a page, those that show something else than they say, by font address: a sign, with a
        blank behind it, where they say a letter or nothing; letters where they say one of them or a blank.
        """
        found: dict[tuple[int, Glyph], str] = {}
        for address, (font, glyphs) in used.items():
            self._known(address, font)
            few = sum(number >= 0 and not chr(max(0, code)).isspace() for number, code in glyphs) <= FEW
            for glyph in glyphs:
                key = address, glyph, few
                if key not in self._signs:
                    sign = sign_of(font, *glyph, few=few)
                    self._signs[key] = f"{sign} " if sign else _letters_of(font, *glyph, glyphs)
                if self._signs[key]:
                    found[address, glyph] = self._signs[key]
        return found

    def away(self, address: int, font: Any, number: int, text: str, glyphs: set[Glyph]) -> float | None:
        """How far the shape of a glyph is from a text, also in the font's own letters where that is several."""
        self._known(address, font)
        key = address, number, text
        if key not in self._away:
            own = {
                chr(code): other
                for other, code in glyphs
                if 0 < code < 0x250 and chr(code).isalpha() and other not in (number, FURTHER)
            }
            self._away[key] = away(font, number, text, own)
        return self._away[key]

    def false(self, used: Mapping[int, tuple[Any, set[Glyph]]]) -> dict[str, set[Glyph]]:
        """Of the glyphs `used` on a page, those that show another character than they say; by font name."""
        found: dict[str, set[Glyph]] = {}
        for address, (font, glyphs) in used.items():
            known = self._known(address, font)
            for glyph in glyphs - known.keys():
                known[glyph] = self._is_false(address, font, *glyph, glyphs)
            wrong = {glyph for glyph in glyphs if known[glyph]}
            if wrong:
                found.setdefault(bare_name(str(font.m_internal.name)), set()).update(wrong)
        return found

    def _is_false(self, address: int, font: Any, number: int, code: int, glyphs: set[Glyph]) -> bool:
        said = _plain(meant(str(font.m_internal.name), chr(max(0, min(code, 0x10FFFF)))))
        if said not in _KNOWN_SET or number <= 0:
            return False
        if is_blank(font, number):
            return said != MINUS  # fonts have blank hyphens
        if any(said in signs and _shows_other(font, number, said, signs, glyphs) for signs in (DIGITS, SIGNS)):
            return True
        shown = self._called(address, font, number)
        if not shown or any(_alike(said, other) for other in shown):
            return False
        return any(_looks_rather(font, number, other, said) for other in shown)

    def _called(self, address: int, font: Any, number: int) -> set[str]:
        """The characters that the font itself has this glyph for; empty where it does not say."""
        code = glyph_code(font, number)
        if code > 0 and _plain(chr(code)) in _KNOWN_SET:
            return {_plain(chr(code))}
        if address not in self._own:
            own: dict[int, set[str]] = {}
            for sign in (*KNOWN, *SIGNS, *DASHES):
                own.setdefault(mupdf.ll_fz_encode_character(font.m_internal, ord(sign)), set()).add(_plain(sign))
            self._own[address] = own
        return self._own[address].get(number, set())


def _letters_of(font: Any, number: int, code: int, glyphs: set[Glyph]) -> str:
    """The letters of a glyph that says the last one of them, as MuPDF has it of a ligature named "T_h", or the digit of
    one that says a blank; "" where it says what it is. `glyphs` are those of its font.
    """
    said = chr(max(0, min(code, 0x10FFFF)))
    parts = named_parts(font, number) if said.isalpha() and said.isascii() else ""
    if len(parts) > 1 and said == parts[-1] and (FURTHER, ord(parts[1])) not in glyphs:
        return parts
    shape = _shape(font, number) if number > 0 and said.isspace() and not is_blank(font, number) else None
    if not shape:
        return ""
    away, digit = min((_nearest(shape, digit, slanted=is_slanted(font)), digit) for digit in DIGITS)
    return digit if away < NEAR else ""


def shows_another_digit(font: Any, number: int, said: str) -> bool:
    """Whether a glyph that is said to be a digit has the shape of another."""
    return said in DIGITS and len(said) == 1 and _shows_other(font, number, said, DIGITS)


def bare_name(name: str) -> str:
    """A font's name without what marks it as a subset: "Arial" of "ABCDEF+Arial"."""
    return name.partition("+")[2] or name


_KNOWN_SET = frozenset((*KNOWN, *SIGNS))
_EDGE = {*range(CORNER), *range(SIDE - CORNER, SIDE)}
_CORNERS = int.from_bytes(
    bytes(row in _EDGE and column in _EDGE for row in range(SIDE) for column in range(SIDE)), "big"
)


def _plain(sign: str) -> str:
    """The sign itself, or the minus that a dash may be."""
    return DASHES.get(sign, sign)


def _alike(one: str, other: str) -> bool:
    """Whether two letters are the same but for case and marks; a sign is like itself alone."""
    if one in SIGNS or other in SIGNS:
        return one == other or {one, other} <= TIMES
    return unicodedata.normalize("NFKD", one).casefold()[:1] == unicodedata.normalize("NFKD", other).casefold()[:1]


def _shows_other(font: Any, number: int, said: str, signs: str, glyphs: Iterable[Glyph] = ()) -> bool:
    """Whether the glyph's shape is that of another one of these signs.

    It is not where the font's own glyph of that one, of `glyphs`, is further from it than two of one sign can be: the 5
    of a font for posters is as near to the 7 of print as its 7.
    """
    shape = _shape(font, number)
    if not shape:
        return False
    slanted = is_slanted(font)
    away = {sign: _nearest(shape, sign, slanted=slanted or sign == said) for sign in signs}
    nearest = min(away, key=lambda sign: away[sign])
    if nearest == "+" and shape[0] & _CORNERS:
        return False  # a thin "±", as TeX draws it, is nearer to a "+" than to the bold "±" of the references
    if nearest == said or away[nearest] >= NEAR or away[said] <= APART * away[nearest]:
        return False
    own = [one for other, code in glyphs if chr(max(0, code)) == nearest and (one := _shape(font, other))]
    return not own or any(
        _distance(shape, one) <= away[nearest] + _nearest(one, nearest, slanted=slanted) for one in own
    )


def _looks_rather(font: Any, number: int, shown: str, said: str) -> bool:
    shape = _shape(font, number)
    if not shape:
        return False
    one, other = (_nearest(shape, sign, slanted=sign in SIGNS or sign in DIGITS) for sign in (shown, said))
    return one < NEAR and RATHER * one < other


def _nearest(shape: Shape, sign: str, *, slanted: bool) -> float:
    return min((_distance(shape, one) for one in references(sign, slanted=slanted)), default=1.0)
