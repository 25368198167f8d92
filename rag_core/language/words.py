"""Words with their offsets, and the folding that makes spelling variants meet. Knows no language."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import regex
from icu4py.breakers import WordBreaker

# Soft hyphens and zero-width joiners stand inside a word; a full stop or comma stands inside a number.
# Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces: ICU's dictionaries say where a word ends.
# A raised or lowered digit belongs to the few letters before it ("m³", "CO₂", typed "n^2"). After a digit it is a word
# of its own, because "10²" is not 102; after a long word too, where it marks a footnote. So is a fraction or a circled
# number: "2½" is not 21⁄2, "5①" not 51.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Line_Break=SA}"
CIRCLED = r"\u2460-\u2473\u24EA-\u24FF\u2776-\u2793\u3251-\u325F\u32B1-\u32BF"  # for a set of a pattern
_ALONE = rf"\p{{Decomposition_Type=Fraction}}{CIRCLED}"
_RAISED = r"[\p{No}&&[\p{Decomposition_Type=Super}\p{Decomposition_Type=Sub}]]"
_LETTERS = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]--[{_ALONE}]--{_RAISED}]"
_RUN = rf"(?:{_LETTERS}++|(?<!\p{{Nd}}|\p{{Ll}}{{4}}){_RAISED}++)++"
_JOINT = r"(?:[\u00AD\u200C\u200D]|(?<=\p{Nd})[.,](?=\p{Nd})|(?<=\p{L})\^(?=\p{Nd}))"
_UNSPACED_RUN = rf"[[{_UNSPACED}]&&[\p{{L}}\p{{M}}\p{{N}}]][[{_UNSPACED}]\p{{M}}]*+"
_ANY_WORD = rf"(?P<unspaced>{_UNSPACED_RUN})|[{_ALONE}]|(?:{_RUN}|{_RAISED}++(?:{_RUN})?+)(?:{_JOINT}{_RUN})*+"
# Most words are letters of Latin script alone, and no mark, digit or joint follows: for these the first pattern says
# the same, sooner.
_PLAIN_WORD = r"[a-zA-Z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F]++(?![^\x00-\x7F]|[0-9^])"
_WORD = regex.compile(f"{_PLAIN_WORD}|{_ANY_WORD}", regex.V1)
_UNSPACED_LETTER = regex.compile(rf"[{_UNSPACED}]")
_DIGIT = regex.compile(r"\p{Nd}")
_POWER = regex.compile(r"(?<=\p{L})\^(?=\p{Nd})")
_MARKED_LETTER = regex.compile(r"([\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+")
_FOLDED_AWAY = {
    0xAD: None,
    0x200C: None,
    0x200D: None,
    0x93C: None,
    0x901: 0x902,
    ord("ł"): "l",
    ord("ø"): "o",
    ord("đ"): "d",
}

#: Longer runs are not words of a language (encoded data, hostile text): they are folded, never analysed nor cached.
MAX_WORD_CHARS = 64


class Word(NamedTuple):
    """One word of a text: `source[start:end] == text`."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """A text's words, in order: runs of letters, marks and digits, "1,250.5", "m³"; offsets in code points."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        if match.lastgroup is None:
            found.append(Word(match.group(), match.start(), match.end()))
        else:
            found += _parted(match.group(), match.start())
    return found


def word_texts(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        if match.lastgroup is None:
            yield match.group()
        else:
            yield from (word.text for word in _parted(match.group(), match.start()))


def _parted(run: str, start: int) -> Iterator[Word]:
    """The words of letters written without spaces; what ICU takes for no word, such as a mark alone, is one too."""
    for text in WordBreaker(run, ""):  # its offsets count code units of UTF-16, ours code points
        yield Word(text, start, start + len(text))
        start += len(text)


def unspaced(text: str, at: int) -> bool:
    """Whether the letter at an offset is of a script that is written without spaces, where a word's end is a guess."""
    return bool(_UNSPACED_LETTER.match(text, at))


def places(part: str, text: str) -> Iterator[int]:
    """The offsets at which a text stands in another one, rising; overlapping ones too, none of an empty text."""
    at = text.find(part) if part else -1
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def ascii_digits(text: str) -> str:
    """The text with every decimal digit of any script as 0-9; offsets stay."""
    return text if text.isascii() else _DIGIT.sub(lambda match: str(int(match.group())), text)


def fold(word: str) -> str:
    """Reduce a text to the form in which spelling variants are equal. Idempotent.

    NFKC, case folded, diacritics removed from Latin, Greek and Cyrillic letters ("záruční" -> "zarucni"); never empty
    for a text that is not. Marks of other scripts are letters in all but name and stay; of Devanagari only the nukta
    goes, and a candrabindu becomes an anusvara, because both are left out or exchanged freely in print ("हाँ", "हां").
    "n²", "n2" and "n^2" are equal.
    """
    if word.isascii():  # not remembered: to look it up takes as long, and each number of a question would be kept
        return _POWER.sub("", word.lower()) if "^" in word else word.lower()
    return _fold_short(word) if len(word) <= MAX_WORD_CHARS else _fold(word)


def _fold(word: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    bare = _MARKED_LETTER.sub(r"\1", unicodedata.normalize("NFD", folded).translate(_FOLDED_AWAY))
    return unicodedata.normalize("NFC", _POWER.sub("", bare)) or word


# 32,768 spellings are remembered, those of a large library in one language; chosen
_fold_short = lru_cache(maxsize=1 << 15)(_fold)
