"""Finds glyphs that are said to show more than they can.

`ToUnicode` may give a glyph many characters (the page shows 28, the text says 28000).
Honest files do that for ligatures, for fractions and other signs that Unicode has as one character, and for scripts that are drawn with
glyphs for groups of letters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from .replaced import JOINING, LETTERS_OF_A_GLYPH

Glyph = tuple[int, int]  # the number of a glyph in its font, and the character that the file gives it
FURTHER = -1  # the number that MuPDF gives to the further characters of a glyph
ONE_SIGN = (*range(0xA0, 0x3400), *range(0xF900, 0xFFF0), *range(0x1F100, 0x1F200))  # where Unicode has signs that stand for several


def crowded(items: Iterable[Glyph]) -> Iterator[Glyph]:
    """Of the items of a text, in order, the further characters of glyphs that cannot show them all."""
    group: list[Glyph] = []
    for item in items:
        if item[0] != FURTHER:
            yield from _refused(group)
            group = []
        group.append(item)
    yield from _refused(group)


def _refused(group: list[Glyph]) -> list[Glyph]:
    further = group[1:]
    return [] if not further or _is_one_sign("".join(chr(max(0, code)) for _, code in group)) else further


@cache
def _is_one_sign(text: str) -> bool:
    signs = [sign for sign in unicodedata.normalize("NFKD", text) if unicodedata.category(sign) != "Mn"]
    said = [sign for sign in signs if sign.isalnum()]
    if not any(sign.isalnum() for sign in text[1:]) or any(ord(sign) in JOINING for sign in text):
        return True
    if len(said) <= LETTERS_OF_A_GLYPH and len(said) == len(signs) and not any(sign.isdigit() for sign in said):
        return True
    return "".join(signs).replace("\u2044", "/") in _signs()


@cache
def _signs() -> frozenset[str]:
    return frozenset(unicodedata.normalize("NFKD", chr(code)).replace("\u2044", "/") for code in ONE_SIGN)
