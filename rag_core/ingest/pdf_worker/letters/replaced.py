"""Finds words that a file says in place of what it paints: `ActualText` with other letters or digits than the glyphs under it.

Honest files use it for hyphens, for capitals in small print, for ligatures, and for scripts whose glyphs have no value of their own. There
the glyphs leave something open, or say the same but for case and hyphens. Where a glyph has no value, it may stand for letters; it never
may stand for a digit.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import pymupdf

LETTERS_OF_A_GLYPH = 3  # that one glyph without a value may stand for, as in "ffi"
JOINING = range(0x0590, 0x1B00)  # Hebrew to Balinese: scripts that are drawn with glyphs for parts and groups of letters


def replaced(page: Any, words: Sequence[str], flags: int) -> set[int]:
    """The places in `words` (as MuPDF reads them with `flags`) of those that say other letters or digits than are painted."""
    painted = page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags | pymupdf.TEXT_IGNORE_ACTUALTEXT).extractWORDS()
    found: set[int] = set()
    for what, first, last, start, end in SequenceMatcher(None, words, [word[4] for word in painted], autojunk=False).get_opcodes():
        if what != "equal" and not _agree("".join(words[first:last]), "".join(word[4] for word in painted[start:end])):
            found.update(index for index in range(first, last) if any(map(str.isalnum, words[index])))
    return found


@dataclass
class _Signs:
    letters: str
    digits: str
    joining: str
    unknown: int


def _agree(said: str, painted: str) -> bool:
    one, other = _signs(said), _signs(painted)
    if one.digits != other.digits:
        return False
    if not other.unknown:
        return one.letters == other.letters and bool(one.joining) <= bool(other.joining)
    room = LETTERS_OF_A_GLYPH * other.unknown
    return len(one.letters) - len(other.letters) <= room and _in_order(other.letters, one.letters)


def _signs(text: str) -> _Signs:
    signs = _Signs("", "", "", 0)
    for sign in unicodedata.normalize("NFKD", text).casefold():
        digit = unicodedata.digit(sign, None)
        if digit is not None:
            signs.digits += str(digit)
        elif ord(sign) in JOINING:
            signs.joining += sign
            signs.unknown += 1
        elif sign.isalpha():
            signs.letters += sign
        elif sign == "\ufffd" or unicodedata.category(sign) in ("Co", "Cn", "Cc"):
            signs.unknown += 1
    return signs


def _in_order(few: str, many: str) -> bool:
    """Whether the letters of `few` stand in `many` in their order."""
    rest = iter(many)
    return all(letter in rest for letter in few)
