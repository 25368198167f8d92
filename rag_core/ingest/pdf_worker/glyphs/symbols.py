"""Signs as what they are: "•", "≤", "☒", although the file says that they are letters, or does not say.

Fonts of signs keep them at the places of letters, so that a triangle is said to be an "X", or in Unicode's private
area, where they have no meaning, as Word writes its bullets: a reader would see an empty box, and the items of a list
would run into one sentence. A font is known by its name, or, where it has few glyphs on a page, as a font for bullets
has, by their shapes.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from pymupdf import mupdf

from .shapes import SIDE, Shape, away, distance, glyph_code, is_blank, shape

PRIVATE = 0xF000  # a code of such a font, 0x20 to 0xFF, stands so many places further on

# Adobe's encoding of Symbol, from 0x21 and from 0xA0 on; a blank where there is no sign. `fonts` looks whether a glyph
# shows the sign that is meant. Digits are left out: files write them with a font for text
_LETTERS = "!∀#∃%&∋()∗+,−./          :;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SIGNS = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ ⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
# Of Wingdings the bullets, boxes, ticks, arrows and circled digits; squares and circles as the nearest that fonts for
# text have
_WINGDINGS = {
    int(one[:2], 16): one[2]
    for one in (
        "6C● 6D❍ 6E■ 6F□ 70□ 71❑ 72❒ 73◆ 74◆ 75◆ 76❖ 77◆ 78☒ 9E· 9F• A1○ A4◉ A7▪ A8□ D8➢ FB✗ FC✓ FD☒ FE☑ "
        "DF← E0→ E1↑ E2↓ E8➔ EF⇦ F0⇨ 28☎ 2A✉ 22✂ 4A☺ "
        "81① 82② 83③ 84④ 85⑤ 86⑥ 87⑦ 88⑧ 89⑨ 8A⑩ 8C❶ 8D❷ 8E❸ 8F❹ 90❺ 91❻ 92❼ 93❽ 94❾ 95❿"
    ).split()
}
_SYMBOL = {
    start + n: sign for start, row in ((0x21, _LETTERS), (0xA0, _SIGNS)) for n, sign in enumerate(row) if sign != " "
}
_FONTS = {
    name: {chr(PRIVATE + code): sign for code, sign in signs.items()}
    for name, signs in (("symbol", _SYMBOL), ("wingdings", _WINGDINGS))
}
_PRIVATE_SIGN = re.compile("[\uf020-\uf0ff]")
# not Wingdings 2 and 3
_NAME = re.compile(r"(?:[A-Z]{6}\+)?(Symbol|Wingdings)(?:MT|PS|PSMT|Std|Regular)?(?:[-,].*)?", re.ASCII)
FEW = 6  # glyphs with ink that a font for bullets has on a page; chosen
NEAR = 0.12  # a glyph may differ by so much from the sign that it is taken for; those of print are within 0.08
NEAR_STROKES = 0.2  # the same for ticks and arrows, of which each font has its own
APART = 0.3  # so much must it differ from the letter that the file says
MARKS = "•●■□❑❒◆❖·○▪➢✗✓☒☑"  # signs of Symbol and Wingdings that begin an item
PROPORTIONS = (0.85, 1.0), (0.7, 0.85, 1.0, 1.15, 1.3, 1.55)  # width against height; of triangles there are more
BULLET = "•"  # for signs of which only that is known
# Of fonts that hold nothing but signs; Symbol has Greek letters, too
_NAMES = re.compile(
    r"wingdings|webdings|dingbats|monotypesorts|europeanpi|marlett|awesome|bullets?\b|icons?\b", re.IGNORECASE
)
# arrows to dingbats
_DINGBATS = frozenset((*range(0x2190, 0x2200), *range(0x2500, 0x2800), *range(0x2900, 0x2980), *range(0x2B00, 0x2C00)))
_SIGNS_OF_LATIN = range(0xA1, 0x250)  # that the codes of such fonts come out as, beside letters and digits


def has_private_signs(span: dict[str, Any]) -> bool:
    """Whether a span of PyMuPDF's has any sign that `drawn_signs` may know."""
    return not span["text"].isascii() and _PRIVATE_SIGN.search(span["text"]) is not None


def meant(font: str, sign: str) -> str:
    """The sign that a font of this name has for a private sign; any other sign as it is."""
    return _signs_of(font).get(sign, sign) if PRIVATE < ord(sign) <= PRIVATE + 0xFF else sign


def wingding(font: str, code: int) -> str:
    """The sign of Wingdings at the place of a letter or private sign; "" for other fonts and signs not listed."""
    return _signs_of(font).get(chr(PRIVATE + code % 0x100), "") if "Wingdings" in font and code != 0xFFFD else ""


def drawn_signs(spans: Sequence[dict[str, Any]]) -> dict[int, str]:
    """The signs for private ones, by their place in a line of PyMuPDF's spans, white space not counted."""
    if not any(map(has_private_signs, spans)):
        return {}
    found: dict[int, str] = {}
    place = 0
    for span in spans:
        known = _signs_of(span["font"])
        signs = "".join(span["text"].split())
        found.update((place + n, known[sign]) for n, sign in enumerate(signs) if sign in known)
        place += len(signs)
    return found


def _signs_of(font: str) -> dict[str, str]:
    """The signs that a font of this name has for private ones; empty for a font for text."""
    named = _NAME.fullmatch(font)
    return _FONTS[named[1].lower()] if named else {}


def sign_of(font: Any, number: int, code: int, *, few: bool) -> str:
    """The sign that a glyph shows; "" where it is what the file says, the character `code`.

    `few`: the page has no more glyphs of the font than of one for bullets.
    """
    said = chr(code) if code >= 32 and code < 0x110000 else "\ufffd"
    valueless = said == "\ufffd" or PRIVATE < code <= PRIVATE + 0xFF
    name = str(font.m_internal.name)
    of_signs = bool(_NAMES.search(name))
    if code in _DINGBATS or said in MARKS:
        return said if of_signs or "Symbol" in name else ""
    if not (valueless or (said.isascii() and said.isalnum()) or code in _SIGNS_OF_LATIN):
        return ""
    known = meant(name, said)
    if known in MARKS:
        return known
    if of_signs:
        return wingding(name, ord(said)) or _named(font, number) or _looks_like(font, number) or BULLET
    if number <= 0 or is_blank(font, number):
        return ""
    looks = _named(font, number) or (_looks_like(font, number) if few else "")
    letter = None if valueless or not looks else away(font, number, said, {})
    return looks if valueless or (letter is not None and letter > APART) else ""


def _named(font: Any, number: int) -> str:
    code = glyph_code(font, number)
    return BULLET if code == 0xB7 else chr(code) if code in _DINGBATS or chr(code) in MARKS else ""


def _looks_like(font: Any, number: int) -> str:
    own = shape(font, number)
    if not own:
        return ""
    apart, near, sign = min((distance(own, one), near, sign) for sign, near, one in _shapes())
    return sign if apart < near else ""


@cache
def _shapes() -> list[tuple[str, float, Shape]]:
    """Signs with their shapes: plain ones by their outlines, ticks and arrows as ZapfDingbats has them."""
    middle = (SIDE - 1) / 2

    def drawn(inside: Any) -> int:
        return int.from_bytes(
            bytes(bool(inside(x - middle, y - middle)) for y in range(SIDE) for x in range(SIDE)), "big"
        )

    half = SIDE / 2
    shapes = {
        "■": lambda x, y: True,
        "●": lambda x, y: x * x + y * y <= half * half,
        "◆": lambda x, y: abs(x) + abs(y) <= half,
        "►": lambda x, y: abs(y) <= (half - x) / 2,
        "◄": lambda x, y: abs(y) <= (half + x) / 2,
        "▲": lambda x, y: abs(x) <= (half + y) / 2,
        "▼": lambda x, y: abs(x) <= (half - y) / 2,
        "□": lambda x, y: max(abs(x), abs(y)) > half - 2,
        "○": lambda x, y: (half - 2) ** 2 < x * x + y * y <= half * half,
    }
    found = [
        (sign, NEAR, (drawn(inside), proportion))
        for sign, inside in shapes.items()
        for proportion in PROPORTIONS[sign in "►◄▲▼"]
    ]
    for sign in "→✓✔✗✘➔➢➤❖❑❒":
        font = mupdf.fz_new_base14_font("Symbol" if sign == "→" else "ZapfDingbats")
        one = shape(font, mupdf.ll_fz_encode_character(font.m_internal, ord(sign)))
        if one:
            found.append((sign, NEAR_STROKES, one))
    return found
