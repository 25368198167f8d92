"""Words with their offsets, and the folding that makes spelling variants meet. Knows no language."""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

import regex

# Soft hyphens and zero-width joiners stand inside a word; a full stop or comma stands inside a number.
# Han and kana are written without spaces: each character is a word of its own, so that they can be found at all.
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    r"|[[\p{L}\p{M}\p{N}]--[\p{Han}\p{Hiragana}\p{Katakana}]]+"
    r"(?:(?:[\u00AD\u200C\u200D]|(?<=\p{Nd})[.,](?=\p{Nd}))[[\p{L}\p{M}\p{N}]--[\p{Han}\p{Hiragana}\p{Katakana}]]+)*",
    regex.V1,
)
_MARKED_LETTER = regex.compile(r"([\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+")
_FOLDED_AWAY = {0xAD: None, 0x200C: None, 0x200D: None, 0x93C: None, 0x901: 0x902, ord("ł"): "l", ord("ø"): "o", ord("đ"): "d"}

#: Longer runs are not words of a language (encoded data, hostile text): they are folded, never analysed nor cached.
MAX_WORD_CHARS = 64


class Word(NamedTuple):
    """One word of a text: `source[start:end] == text`."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """Split a text into its words, in order.

    A word is a run of letters, combining marks and digits; "1,250.5" and "3.2" are one word. Offsets count code points.
    """
    return [Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def fold(word: str) -> str:
    """Reduce a text to the form in which spelling variants are equal. Idempotent.

    NFKC, case folded, diacritics removed from Latin, Greek and Cyrillic letters ("záruční" -> "zarucni"); never empty for
    a text that is not. Marks of other scripts are letters in all but name and stay; of Devanagari only the nukta goes, and a
    candrabindu becomes an anusvara, because both are left out or exchanged freely in print ("हाँ", "हां").
    """
    return _fold_short(word) if len(word) <= MAX_WORD_CHARS else _fold(word)


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    bare = unicodedata.normalize("NFD", folded).translate(_FOLDED_AWAY)
    return unicodedata.normalize("NFC", _MARKED_LETTER.sub(r"\1", bare)) or word


_fold_short = lru_cache(maxsize=1 << 17)(_fold)
