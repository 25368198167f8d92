"""The words that carry facts, by language: months, number words, units, bounds, negative forms.

There are two readings. The plain one knows the words of `facts` in a language's file alone: questions are read with it, and a calibrated
score rests on that. The full one knows those of `values` too; it is for holding a sentence against its evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import product

import regex

from rag_core.language import FALLBACK, LANGUAGES, ValueRows, any_language, fold, months

_NEVER = regex.compile(r"(?!)")
_NO_ROWS = ValueRows()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language's words, English ones included where a document may mix both.

    Keys of `months` (1-12), `numbers`, `scales` (multiplier) and `units` (canonical unit) are folded words. `at_least` and `at_most`
    match whole words, whatever their case; `bounds_follow` says whether they may stand behind their number. `negated_words` maps a folded
    word to its positive. `names` of people, `titles` before a name and `auxiliaries` behind a verb tell names where capitals do not.
    """

    months: Mapping[str, int]
    months_capitalised: bool
    numbers: Mapping[str, int]
    scales: Mapping[str, int]
    units: Mapping[str, str]
    negative_prefixes: tuple[str, ...]
    not_prefixed: frozenset[str]
    negated_words: Mapping[str, str]
    at_least: regex.Pattern[str]
    at_most: regex.Pattern[str]
    bounds_follow: bool
    names: frozenset[str]
    titles: frozenset[str]
    auxiliaries: frozenset[str]

    def positive(self, word: str) -> str:
        """The word that a folded word negates by its form ("nesmi" -> "smi", "invalid" -> "valid"), or empty."""
        if word in self.negated_words:
            return self.negated_words[word]
        if word in self.not_prefixed:
            return ""
        return next((word[len(p) :] for p in self.negative_prefixes if word.startswith(p) and len(word) - len(p) >= 3), "")


@cache
def lexicon(lang: str) -> Lexicon:
    """The lexicon of a language; an unknown one gets the English."""
    english = LANGUAGES[FALLBACK].facts
    assert english is not None, "the English file has facts"
    row = LANGUAGES.or_fallback(lang).facts or english
    return Lexicon(
        months=months(lang),
        months_capitalised=row.months_capitalised,
        numbers=_folded_keys(row.numbers),
        scales={**_folded_keys(english.scales), **_folded_keys(row.scales)},
        units=by_spelling([info.units for info in LANGUAGES.values()], any_language().units),
        negative_prefixes=tuple(fold(prefix) for prefix in row.negative_prefixes),
        not_prefixed=_folded(row.not_prefixed),
        negated_words={fold(word): fold(positive) for word, positive in row.negated_words},
        at_least=_phrases(row.at_least),
        at_most=_phrases(row.at_most),
        bounds_follow=row.bounds_follow,
        names=_folded(row.names),
        titles=_folded(row.titles),
        auxiliaries=_folded(row.auxiliaries),
    )


def by_spelling(languages: Iterable[Mapping[str, Sequence[str]]], first: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The name of each folded spelling, from rows of spellings. Of two names that of `first` counts, then the earlier language's."""
    rows = [*reversed([*languages]), first]
    return {fold(word): name for row in rows for name, words in row.items() for word in words}


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold, words))


def _folded_keys(numbers: Mapping[str, int]) -> dict[str, int]:
    return {fold(word): value for word, value in numbers.items()}


def _phrases(phrases: Iterable[str]) -> regex.Pattern[str]:
    """Whole phrases, the longest first."""
    whole = "|".join(regex.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len, reverse=True) if phrase)
    parts = [rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?:{whole})(?![\p{{L}}\p{{M}}\p{{N}}])"] if whole else []
    return regex.compile("|".join(parts), regex.IGNORECASE) if parts else _NEVER


@dataclass(frozen=True, slots=True)
class ValueWords:
    """One language's words for values. Keys are folded.

    Args:
        is_plain: whether these are the words of the plain reading.
        numbers: words for whole numbers below 1,000; those of `compound` languages also match joined ("zweihundert").
        ones: words for one, which count only within a longer number: "a hundred", "twenty-one".
        joins: words that may stand between number words: "two hundred and five".
        ordinals: "third", "dvacátý", "तीसरा".
        scales: multipliers by word, from 100.
        units: canonical unit by spelling.
        symbols: units by a symbol whose case counts: "mW" is no "MW"; none in the plain reading.
        qualifiers: what a word between number and unit makes of the unit: "30 working days" are no days.
        fillers: words between number and unit that change nothing: "30 calendar days".
        to: what stands between the ends of a range.
        between: what stands before a range whose ends are joined by one of `joins`.
        compound: the parts of number words that are written as one, None where they are not.
        prefixes: what begins a compound with a unit, and the qualifier that it is: "Arbeitstage".
        weekdays: from 1, Monday, as they are written.
        relations: words between a value and what it is counted from, or is a part of: "30 days after", "5 % of".
        relations_before: whether that stands before the value, as in Hindi.
        possessives: words like "its" that do not say what a value is counted from, where they are no small words anyway.
    """

    is_plain: bool
    numbers: Mapping[str, int]
    ones: frozenset[str]
    joins: frozenset[str]
    ordinals: Mapping[str, int]
    scales: Mapping[str, int]
    units: Mapping[str, str]
    symbols: Mapping[str, str]
    qualifiers: Mapping[str, str]
    fillers: frozenset[str]
    to: regex.Pattern[str]
    between: regex.Pattern[str]
    compound: regex.Pattern[str] | None
    prefixes: Mapping[str, str]
    weekdays: Mapping[str, int]
    relations: frozenset[str]
    relations_before: bool
    possessives: frozenset[str] = frozenset()


def cover(text: str, taken: Iterable[tuple[int, int]]) -> bytearray:
    """For each character of a text whether one of the ranges holds it, 1 or 0."""
    covered = bytearray(len(text))
    for start, end in taken:
        covered[start:end] = b"\1" * (end - start)
    return covered


@cache
def plain_words(lang: str) -> ValueWords:
    """The words of the plain reading."""
    lex = lexicon(lang)
    none: frozenset[str] = frozenset()
    return ValueWords(True, lex.numbers, none, none, {}, lex.scales, lex.units, {}, {}, none, _NEVER, _NEVER, None, {}, {}, none, False)


@cache
def value_words(lang: str) -> ValueWords:
    """The words of the full reading; a language without a list of its own gets the plain words, and units in any language."""
    lex, row = lexicon(lang), (LANGUAGES[lang].values if lang in LANGUAGES else None) or _NO_ROWS
    ones, joins = _folded(row.ones), _folded(row.join)
    numbers = {**lex.numbers, **_folded_keys(row.numbers)}
    if joint := fold(row.tens_joint):
        units = {**{word: 1 for word in ones}, **{word: value for word, value in numbers.items() if value < 10}}
        tens = {word: value for word, value in numbers.items() if 20 <= value < 100}
        numbers |= {f"{unit}{joint}{ten}": units[unit] + tens[ten] for unit, ten in product(units, tens)}
    scales = {**lex.scales, **_folded_keys(row.scales)}
    return ValueWords(
        is_plain=False,
        numbers=numbers,
        ones=ones,
        joins=joins,
        ordinals=_ordinals(row, numbers),
        scales=scales,
        units={**by_spelling([one.units for one in _rows()], any_language().value_units), **lex.units},
        symbols=any_language().symbols,
        qualifiers=by_spelling([one.qualifiers for one in _rows()], {}),
        fillers=_folded(word for one in _rows() for word in one.fillers),
        to=_joint(row.range),
        between=regex.compile(rf"(?<!\p{{L}})(?:{row.between})\s+$", regex.IGNORECASE) if row.between else _NEVER,
        compound=_compound({*numbers, *scales, *ones, *joins}) if row.compound else None,
        prefixes=row.prefixes if row.compound else {},
        weekdays={word: day for day, names in enumerate(row.weekdays, 1) for word in names},
        relations=_folded(row.relations),
        relations_before=row.relations_before,
        possessives=row.possessives,
    )


def _rows() -> list[ValueRows]:
    return [info.values for info in LANGUAGES.values() if info.values]


@cache
def ordinal_suffixes() -> tuple[str, ...]:
    """Endings that make an ordinal of a number in digits, in any language: "3rd"."""
    return tuple(suffix for one in _rows() for suffix in one.ordinal_suffixes)


@cache
def units_before() -> tuple[str, ...]:
    """Units in words that stand before their number, in any language: "Euro 5"."""
    return tuple(regex.escape(word) for one in _rows() for word in one.units_before)


@cache
def parted_units() -> tuple[str, ...]:
    """Patterns of units of two words, in any language: "per cent"."""
    return tuple(pattern for one in _rows() for pattern in one.parted_units)


@cache
def exact_units() -> Mapping[str, tuple[str, Decimal]]:
    """Of a unit another one and how many of that it is exactly: an hour is 3600 seconds; a year is 12 months and no number of days."""
    rows = ((unit, row.rpartition(" ")) for unit, row in any_language().exact.items())
    return {unit: (of, Decimal(factor)) for unit, (of, _, factor) in rows}


@cache
def dimension(unit: str) -> str:
    """The dimension that a unit measures: units of one dimension may stand in each other's place."""
    named = next((name for name, units in any_language().dimensions.items() if unit.split()[-1:] and unit.split()[-1] in units), "")
    return named or exact_units().get(unit, (unit, 1))[0]


def qualified(qualifier: str, unit: str) -> str:
    """The unit that a qualifier makes of another: "business day", "m2" of square metres."""
    name = f"{qualifier} {unit}"
    return any_language().qualified.get(name, name)


def _ordinals(row: ValueRows, numbers: Mapping[str, int]) -> dict[str, int]:
    found = {fold(stem + ending): value for stem, value in row.ordinals.items() for ending in row.ordinal_endings or ("",)}
    found |= {word + fold(ending): value for word, value in numbers.items() for ending in row.cardinal_endings}
    return {word: value for word, value in found.items() if word not in numbers}


def _joint(words: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile(rf"\s?[-\u2010-\u2015−]\s?|\s+(?:{'|'.join(map(regex.escape, words)) or '(?!)'})\s+", regex.IGNORECASE)


def _compound(parts: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(regex.escape(part) for part in sorted(parts, key=len, reverse=True)))
