"""Signs of the fonts Symbol and Wingdings, as what they are: "•", "≤", "☒". Pure.

Files keep them in Unicode's private area, where they have no meaning; Word writes its bullets so. A reader would see an
empty box, and the items of a list would run into one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

PRIVATE = 0xF000  # a code of such a font, 0x20 to 0xFF, stands so many places further on

# Adobe's encoding of Symbol, from 0x21 and from 0xA0 on; a blank where there is no sign. `fonts` looks whether a glyph
# shows the sign that is meant. Digits are left out: files write them with a font for text
_LETTERS = "!∀#∃%&∋()∗+,−./          :;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SIGNS = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ ⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
# Of Wingdings the bullets, boxes, ticks, arrows and circled digits; squares and circles as the nearest that fonts for
# text have
_WINGDINGS = {
    **{
        0x6C: "●",
        0x6D: "❍",
        0x6E: "■",
        0x6F: "□",
        0x70: "□",
        0x71: "❑",
        0x72: "❒",
        0x73: "◆",
        0x74: "◆",
        0x75: "◆",
        0x76: "❖",
        0x77: "◆",
    },
    **{
        0x9E: "·",
        0x9F: "•",
        0xA1: "○",
        0xA4: "◉",
        0xA7: "▪",
        0xA8: "□",
        0xD8: "➢",
        0xFB: "✗",
        0xFC: "✓",
        0x78: "☒",
        0xFD: "☒",
        0xFE: "☑",
    },
    **{
        0xDF: "←",
        0xE0: "→",
        0xE1: "↑",
        0xE2: "↓",
        0xE8: "➔",
        0xEF: "⇦",
        0xF0: "⇨",
        0x28: "☎",
        0x2A: "✉",
        0x22: "✂",
        0x4A: "☺",
    },
    **{0x81 + n: sign for n, sign in enumerate("①②③④⑤⑥⑦⑧⑨⑩")},
    **{0x8C + n: sign for n, sign in enumerate("❶❷❸❹❺❻❼❽❾❿")},
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


def has_private_signs(span: dict[str, Any]) -> bool:
    """Whether a span of PyMuPDF's has any sign that `drawn_signs` may know."""
    return not span["text"].isascii() and _PRIVATE_SIGN.search(span["text"]) is not None


def meant(font: str, sign: str) -> str:
    """The sign that a font of this name has for a private sign; any other sign as it is."""
    return _signs_of(font).get(sign, sign) if PRIVATE < ord(sign) <= PRIVATE + 0xFF else sign


def wingding(font: str, code: int) -> str:
    """The sign of Wingdings at the place of a letter or a private sign; "" for any other font, and for signs that are
    not listed.
    """
    return _signs_of(font).get(chr(PRIVATE + code % 0x100), "") if "Wingdings" in font and code != 0xFFFD else ""


def drawn_signs(spans: Sequence[dict[str, Any]]) -> dict[int, str]:
    """The signs to write instead of private ones, by their place among the characters of a line, white space not
    counted.

    Args:
        spans: of one line, as PyMuPDF gives them: `text`, `font`.
    """
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
