"""The unit behind a number: a symbol ("5 mW"), a word, a compound ("5 Arbeitswochen"), words between them ("30 working days")."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import regex

from rag_core.facts.sentence.lexicon import ValueWords, parted_units, qualified, value_words
from rag_core.language import fold, words

_MAX_BETWEEN = 2  # qualifiers and fillers between a number and its unit
# "5 s" are seconds where no word follows, which may be a preposition's ("5 s přáteli", "5 s'ajoutent"), and no year stands before it
_SECONDS = regex.compile(r"(?<=\d)(?<!(?<!\d)\d{4})\ss(?![\p{L}\p{M}'’]|\s+\p{L})")
_BY = regex.compile(r"\s?/\s?(?P<unit>\p{L}[\p{L}\p{M}]*(?:\d|\p{No})?)")
_ALONE = regex.compile(r"(?:(?<!\p{L})[(\[]\s?|\d\s)(\p{L})(?![\p{L}\p{M}'’])")  # the unit of a column, "Time (s)"; or behind a figure


@cache
def after() -> regex.Pattern[str]:
    """The pattern of a scale or a unit behind a number, in its group `unit`."""
    return regex.compile(
        rf"\s?-?\s?(?P<unit>[%‰°\p{{Sc}}]\p{{L}}?|{'|'.join(parted_units())}"
        r"|\p{L}[\p{L}\p{M}]*(?:\d|(?<!\p{Ll}{4})\p{No})?)"
    )


def units_in(text: str, lang: str) -> frozenset[str]:
    """Every unit and scale named anywhere in a text: a table names them in its header."""
    vocabulary = value_words(lang)
    signs = {vocabulary.units[symbol] for symbol in regex.findall(r"[%‰\p{Sc}]", text) if symbol in vocabulary.units}
    found = [word.text for word in words(text)]
    folded = [fold(word) for word in found]
    plural = [word.removesuffix("s") for word in folded]
    pairs = pairwise(("", *folded))
    named = {
        qualified(vocabulary.qualifiers[before], vocabulary.units[word]) if before in vocabulary.qualifiers else vocabulary.units[word]
        for (before, word), written in zip(pairs, found, strict=True)
        if word in vocabulary.units and (len(written) == 1 or written not in vocabulary.symbols)
    }  # "working days" are no days
    named |= {vocabulary.symbols[word] for word in found if len(word) > 1 and word in vocabulary.symbols}
    named |= {vocabulary.symbols[letter] for letter in _ALONE.findall(text) if letter in vocabulary.symbols}
    return frozenset(signs | named | {str(vocabulary.scales[word]) for word in (*folded, *plural) if word in vocabulary.scales})


def unit_behind(text: str, end: int, vocabulary: ValueWords) -> tuple[str, int]:
    """The unit behind a number, and where it ends; words that change nothing about it or make another unit of it may stand between."""
    place, qualifier = end, ""
    for _ in range(_MAX_BETWEEN + 1):
        match = after().match(text, place)
        if not match:
            break
        word, symbol = fold(match["unit"]), match["unit"][0]
        if unit := _symbol(text, match, vocabulary) or vocabulary.units.get(word) or _compound_unit(word, vocabulary):
            return qualified(qualifier, unit) if qualifier else unit, match.end()
        if not symbol.isalpha() and (unit := vocabulary.units.get(symbol, "")):
            return unit, match.start("unit") + 1
        if word not in vocabulary.fillers and word not in vocabulary.qualifiers:
            break
        place, qualifier = match.end(), vocabulary.qualifiers.get(word, qualifier)
    return "", end


def _symbol(text: str, match: regex.Match[str], vocabulary: ValueWords) -> str:
    """The unit of a symbol as it is written."""
    if match["unit"] == "s" and not _SECONDS.match(text, match.start("unit") - 1):
        return ""
    return vocabulary.symbols.get(match["unit"], "")


def counted_by(text: str, end: int, vocabulary: ValueWords) -> str:
    """The unit behind the slash of "5 mg/kg"."""
    match = _BY.match(text, end)
    return (vocabulary.symbols.get(match["unit"]) or vocabulary.units.get(fold(match["unit"]), "")) if match else ""


def _compound_unit(word: str, vocabulary: ValueWords) -> str:
    """The unit of a compound: "Arbeitswochen" are business weeks."""
    for prefix, qualifier in vocabulary.prefixes.items():
        if word.startswith(prefix) and (unit := vocabulary.units.get(word.removeprefix(prefix))):
            return qualified(qualifier, unit) if qualifier else unit
    return ""
