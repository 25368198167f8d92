"""The unit behind a number: a symbol ("5 mW"), a word, a compound ("5 Arbeitswochen"), words between them ("30 working days")."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise

import regex

from rag_core.facts.sentence.figure_units import WORD, FigureUnits, spelling, symbol
from rag_core.facts.sentence.lexicon import ValueWords, dimension, parted_units, qualified, value_words
from rag_core.language import fold, words

_MAX_BETWEEN = 2  # qualifiers and fillers between a number and its unit
_ROUND = ("1", "10", "100", "1000")  # how many of a unit a figure is counted by; any other number is a figure of its own
_MAX_BY = 2  # units that a figure is counted by: "5 mg/kg per day"
# "5 s" are seconds where no word follows, which may be a preposition's ("5 s přáteli", "5 s'ajoutent"), and no year stands before it
_SECONDS = regex.compile(r"(?<=\d)(?<!(?<!\d)\d{4})\ss(?![\p{L}\p{M}'’]|\s+\p{L})")
_LONE = regex.compile(r"(?![\p{L}\p{M}\p{N}'’]|\s+[\p{L}\p{N}])")
_ALONE = regex.compile(r"(?:(?<!\p{L})[(\[]\s?|\d\s)(\p{L})(?![\p{L}\p{M}'’])")  # the unit of a column, "Time (s)"; or behind a figure
_SIGN = regex.compile(r"(?:\p{Lu}{1,3})?\$|[%‰\p{Sc}]")
_GAP = regex.compile(r"\s?-?\s?")
_WRITTEN = regex.compile(WORD)
_BEHIND = regex.compile(r"\s(?P<word>\p{L}[\p{L}\p{M}]*)")


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
    figures = vocabulary.figures
    assert figures is not None, "the full reading has units behind figures"
    names = {**vocabulary.units, **{word: unit for word, unit in figures.units.items() if word not in figures.lone}}
    signs = {names[fold(sign)] for sign in _SIGN.findall(text) if fold(sign) in names}
    found = [word.text for word in words(text)]
    folded = [fold(word) for word in found]
    plural = [word.removesuffix("s") for word in folded]
    pairs = [*pairwise(("", *folded)), *(pairwise(reversed(folded)) if figures.qualifiers_behind else ())]
    named = {
        qualified(vocabulary.qualifiers[before], names[word]) if before in vocabulary.qualifiers else names[word]
        for (before, word), written in zip(pairs, (*found, *found[-2::-1]), strict=False)
        if word in names and (len(written) == 1 or symbol(written) not in figures.symbols)
    }  # "working days" are no days
    named |= {figures.symbols[symbol(word)] for word in found if len(word) > 1 and symbol(word) in figures.symbols}
    named |= {figures.symbols[letter] for letter in _ALONE.findall(text) if letter in figures.symbols}
    joined = f" {' '.join(folded)} "
    named |= {figures.units[phrase] for phrase in figures.phrases if f" {phrase} " in joined}
    units = {part for unit in signs | named for part in unit.split("/")}
    if "%" in units and not figures.points.isdisjoint(folded):
        units.add("percentage point")  # "decreased 3 points to 73 %"
    # "MN" over a column are meganewtons, "MN EUR" millions
    symbols = set() if any(dimension(unit) == "currency" for unit in units) else {fold(word) for word in found if word in figures.symbols}
    scales = {str(vocabulary.scales[word]) for word in {*folded, *plural} - symbols if word in vocabulary.scales}
    return frozenset(units | scales)


def counted_in(text: str, lang: str) -> frozenset[str]:
    """The units that a text says anywhere in one word that something is counted by: "monthly"."""
    figures = value_words(lang).figures
    assert figures is not None, "the full reading has units behind figures"
    return frozenset(filter(None, map(figures.rate_of, {fold(word.text) for word in words(text)})))


def unit_behind(text: str, end: int, vocabulary: ValueWords) -> tuple[str, int]:
    """The unit behind a number, and where it ends; words that change nothing about it or make another unit of it may stand between.

    What it is counted by is parted by a slash, where one word says both ("5 kph").
    """
    place, qualifier = end, ""
    for _ in range(_MAX_BETWEEN + 1):
        unit, after_unit = _of_figures(text, place, vocabulary.figures, vocabulary.units) if vocabulary.figures else ("", place)
        match = after().match(text, place)
        if not unit and match:
            unit, after_unit = _of_words(match, vocabulary)
        if unit:
            return _qualified_behind(text, qualified(qualifier, unit) if qualifier else unit, after_unit, vocabulary)
        if not match:
            break
        word = fold(match["unit"])
        if word not in vocabulary.fillers and word not in vocabulary.qualifiers:
            break
        place, qualifier = match.end(), vocabulary.qualifiers.get(word, qualifier)
    return "", end


def _of_words(match: regex.Match[str], vocabulary: ValueWords) -> tuple[str, int]:
    """The unit of a word or sign that is known to questions too, or of a compound."""
    word, sign = fold(match["unit"]), match["unit"][0]
    if unit := vocabulary.units.get(word) or _compound_unit(word, vocabulary):
        return unit, match.end()
    return ("", 0) if sign.isalpha() else (vocabulary.units.get(sign, ""), match.start("unit") + 1)


def _of_figures(text: str, place: int, figures: FigureUnits, known: Mapping[str, str]) -> tuple[str, int]:
    """The unit of a symbol as it is written, of several words, or of a word that is a unit behind figures only; of "m^2" a known one."""
    start = _GAP.match(text, place).end()
    if match := figures.phrase.match(text, start):
        return figures.units[spelling(match["unit"])], match.end()
    match = _WRITTEN.match(text, start)
    if not match or (match.group() == "s" and not _SECONDS.match(text, start - 1)):
        return "", place
    word = fold(match.group())
    unit = figures.symbols.get(symbol(match.group())) or figures.units.get(word) or (known.get(word, "") if "^" in match.group() else "")
    is_unit = word not in figures.lone or _LONE.match(text, match.end()) or _next(text, match.end()) in figures.after_lone
    return (unit, match.end()) if is_unit else ("", place)


def _next(text: str, end: int) -> str:
    match = _BEHIND.match(text, end)
    return fold(match["word"]) if match else ""


def _qualified_behind(text: str, unit: str, end: int, vocabulary: ValueWords) -> tuple[str, int]:
    """The unit with what stands behind it and makes it another: "metrů čtverečních"."""
    match = _BEHIND.match(text, end) if vocabulary.figures and vocabulary.figures.qualifiers_behind else None
    qualifier = vocabulary.qualifiers.get(fold(match["word"])) if match else None
    return (qualified(qualifier, unit), match.end()) if match and qualifier else (unit, end)


def counted_by(text: str, end: int, vocabulary: ValueWords, of_unit: str) -> tuple[str, int]:
    """The units that a figure is counted by, parted by slashes, and where they end: "kg" of "5 mg/kg", "100 km", "hour" of "an hour".

    `of_unit` is the figure's own.
    """
    figures, found = vocabulary.figures, list[str]()
    while figures and len(found) < _MAX_BY and (match := figures.by.match(text, end)):
        place, unit = match.end(), figures.rate_of(fold(match["rate"])) if match["rate"] else ""
        if not unit and not (match["one"] and fold(match["unit"]) in vocabulary.ordinals):  # "every second month"
            unit, place = _counted(text, match["unit"] or match["raised"], place, vocabulary, figures)
        if not unit or (match["count"] and not _may_count(match["count"], unit, of_unit)):
            break
        found.append((match["count"] or "") + unit)
        end = place
    return "/".join(found), end


def _may_count(count: str, unit: str, of_unit: str) -> bool:
    """Whether a figure may be counted by so many of a unit: "na 100 km", and not "z 30 minut na 20 minut" or "za 3 hodiny"."""
    is_change = unit == of_unit and dimension(unit) not in ("g", "l")  # "5 g na 100 g"
    return count.strip() in _ROUND and dimension(unit) not in ("currency", "share") and not is_change


def _counted(text: str, written: str, end: int, vocabulary: ValueWords, figures: FigureUnits) -> tuple[str, int]:
    """The unit of a word behind a slash or "per", with what qualifies it: "per square metre"."""
    qualifier = vocabulary.qualifiers.get(fold(written), "")
    if qualifier and (match := _BEHIND.match(text, end)):
        written, end = match["word"], match.end()
    word = fold(written)
    unit = figures.symbols.get(symbol(written)) or figures.counted.get(word) or figures.units.get(word) or vocabulary.units.get(word, "")
    if not unit:
        return "", end
    return (qualified(qualifier, unit), end) if qualifier else _qualified_behind(text, unit, end, vocabulary)


def _compound_unit(word: str, vocabulary: ValueWords) -> str:
    """The unit of a compound: "Arbeitswochen" are business weeks."""
    for prefix, qualifier in vocabulary.prefixes.items():
        if word.startswith(prefix) and (unit := vocabulary.units.get(word.removeprefix(prefix))):
            return qualified(qualifier, unit) if qualifier else unit
    return ""
