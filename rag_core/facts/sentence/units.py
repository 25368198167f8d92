"""The unit behind a number: a symbol ("5 mW"), a word, a compound ("5 Arbeitswochen"), "30 working days"."""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import pairwise

import regex

from rag_core.facts.sentence.lexicon import ValueWords, of_any_language, qualified, value_words
from rag_core.language import fold, words

_MAX_BETWEEN = 2  # qualifiers and fillers between a number and its unit
_SIGN = regex.compile(r"[%‰\p{Sc}]")


@cache
def after() -> regex.Pattern[str]:
    """The pattern of a scale or a unit behind a number, in its group `unit`."""
    return regex.compile(
        rf"\s?-?\s?(?P<unit>[%‰°\p{{Sc}}]\p{{L}}?|{of_any_language('parted_units')}"
        r"|\p{L}[\p{L}\p{M}]*(?:\d|(?<!\p{Ll}{4})\p{No})?)"
    )


def units_in(text: str, lang: str) -> frozenset[str]:
    """Every unit and scale named anywhere in a text: a table names them in its header."""
    vocabulary = value_words(lang)
    found = [word.text for word in words(text)]
    folded = [fold(word) for word in found]
    units = {vocabulary.units[fold(sign)] for sign in _SIGN.findall(text) if fold(sign) in vocabulary.units}
    units |= {
        vocabulary.symbols[symbol(word)] for word in found if len(word) > 1 and symbol(word) in vocabulary.symbols
    }
    for (before, word), written in zip(pairwise(("", *folded)), found, strict=True):
        if word in vocabulary.units and symbol(written) not in vocabulary.symbols:  # "working days" are no days
            qualifier = vocabulary.qualifiers.get(before, "")
            units.add(qualified(qualifier, vocabulary.units[word]) if qualifier else vocabulary.units[word])
    plural = [word.removesuffix("s") for word in folded]
    return frozenset(units | {str(vocabulary.scales[word]) for word in (*folded, *plural) if word in vocabulary.scales})


def symbol(text: str) -> str:
    """A symbol as it is looked up: the two signs for micro are one, and "m²" is "m2"."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def unit_behind(text: str, end: int, vocabulary: ValueWords) -> tuple[str, int]:
    """The unit behind a number, perhaps behind words that qualify it, and where it ends."""
    place, qualifier = end, ""
    for _ in range(_MAX_BETWEEN + 1):
        match = after().match(text, place)
        if not match:
            break
        unit, after_unit = _of_words(match, vocabulary)
        if unit:
            return qualified(qualifier, unit) if qualifier else unit, after_unit
        word = fold(match["unit"])
        if word not in vocabulary.fillers and word not in vocabulary.qualifiers:
            break
        place, qualifier = match.end(), vocabulary.qualifiers.get(word, qualifier)
    return "", end


def _of_words(match: regex.Match[str], vocabulary: ValueWords) -> tuple[str, int]:
    """The unit of a symbol, word or sign, or of a compound, and where it ends."""
    word, sign = fold(match["unit"]), match["unit"][0]
    if (
        unit := vocabulary.symbols.get(symbol(match["unit"]))
        or vocabulary.units.get(word)
        or _compound_unit(word, vocabulary)
    ):
        return unit, match.end()
    return ("", 0) if sign.isalpha() else (vocabulary.units.get(sign, ""), match.start("unit") + 1)


def _compound_unit(word: str, vocabulary: ValueWords) -> str:
    """The unit of a compound: "Arbeitswochen" are business weeks."""
    for prefix, qualifier in vocabulary.prefixes.items():
        if word.startswith(prefix) and (unit := vocabulary.units.get(word.removeprefix(prefix))):
            return qualified(qualifier, unit) if qualifier else unit
    return ""
