"""The words that values are read with, by language: number words, ordinals, units.

There are two readings. The plain one knows the words of `facts` alone: questions are read with it, and a calibrated score rests on
that. The full one is for holding a sentence against its evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import product

import regex

from rag_core.facts.lexicon import by_spelling, lexicon
from rag_core.language import LANGUAGES, ValueRows, any_language, fold

_NEVER = regex.compile(r"(?!)")
_NO_ROWS = ValueRows()
_FAMILIES = ("section", "article", "annex", "rule")  # what is numbered in laws and contracts


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
        symbols: units that are a letter, with its case.
        qualifiers: what a word between number and unit makes of the unit: "30 working days" are no days.
        fillers: words between number and unit that change nothing: "30 calendar days".
        to: what stands between the ends of a range.
        between: what stands before a range whose ends are joined by one of `joins`.
        compound: the parts of number words that are written as one, None where they are not.
        prefixes: what begins a compound with a unit, and the qualifier that it is: "Arbeitstage".
        weekdays: from 1, Monday, as they are written.
        relations: words between a value and what it is counted from, or is a part of: "30 days after", "5 % of".
        relations_before: whether that stands before the value, as in Hindi.
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


@dataclass(frozen=True, slots=True)
class LawWords:
    """The words of references to laws and clauses, of all languages together: a contract may cite a law of another country.

    Args:
        families: what is numbered, by each of its spellings, lower case or capitalised: "Article", "čl".
        plurals: those of them that may have a list behind them.
        levels: words for a part below, behind a number: "Absatz", "písm".
        lone: those of them that are a reference by themselves.
        joints: words within a list.
        of: words between a part and what it is a part of.
        number: before the number of a law: "nr.".
    """

    families: Mapping[str, str]
    plurals: frozenset[str]
    levels: tuple[str, ...]
    lone: tuple[str, ...]
    joints: tuple[str, ...]
    of: tuple[str, ...]
    number: tuple[str, ...]


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
def law_words() -> LawWords:
    """The words of references to laws and clauses."""
    rows = [info.laws for info in LANGUAGES.values() if info.laws]
    families = {word: name for name in _FAMILIES for row in rows for word in getattr(row, name)}
    families |= {word[0].upper() + word[1:]: name for word, name in families.items()} | {
        word.upper(): name for word, name in families.items()
    }
    plurals = [word for row in rows for word in row.plurals]
    return LawWords(
        families=families,
        plurals=frozenset([*plurals, *(word.capitalize() for word in plurals)]),
        levels=tuple(word for row in rows for word in row.levels),
        lone=tuple(word for row in rows for word in row.lone),
        joints=tuple(word for row in rows for word in row.joints),
        of=tuple(word for row in rows for word in row.of),
        number=tuple(word for row in rows for word in row.number),
    )


@cache
def exact_units() -> Mapping[str, tuple[str, Decimal]]:
    """Of a unit another one and how many of that it is exactly: an hour is 3600 seconds; a year is 12 months and no number of days."""
    pairs = {unit: row.split() for unit, row in any_language().exact.items()}
    return {unit: (base, Decimal(factor)) for unit, (base, factor) in pairs.items()}


@cache
def dimension(unit: str) -> str:
    """The dimension that a unit measures: units of one dimension may stand in each other's place."""
    named = next((name for name, units in any_language().dimensions.items() if unit.split()[-1:] and unit.split()[-1] in units), "")
    return named or exact_units().get(unit, (unit, Decimal(1)))[0]


def qualified(qualifier: str, unit: str) -> str:
    """The unit that a qualifier makes of another: "business day", "m2" of square metres."""
    name = f"{qualifier} {unit}"
    return any_language().qualified.get(name, name)


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold, words))


def _folded_keys(numbers: Mapping[str, int]) -> dict[str, int]:
    return {fold(word): value for word, value in numbers.items()}


def _ordinals(row: ValueRows, numbers: Mapping[str, int]) -> dict[str, int]:
    found = {fold(stem + ending): value for stem, value in row.ordinals.items() for ending in row.ordinal_endings or ("",)}
    found |= {word + fold(ending): value for word, value in numbers.items() for ending in row.cardinal_endings}
    return {word: value for word, value in found.items() if word not in numbers}


def _joint(words: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile(rf"\s?[-\u2010-\u2015−]\s?|\s+(?:{'|'.join(map(regex.escape, words)) or '(?!)'})\s+", regex.IGNORECASE)


def _compound(parts: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(regex.escape(part) for part in sorted(parts, key=len, reverse=True)))
