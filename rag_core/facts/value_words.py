"""The words that values are read with, by language: number words, ordinals, units. Read from `data/values.json` and `data/facts.json`.

There are two readings. The plain one knows the words of `facts.json` alone: questions are read with it, and a calibrated score rests on
that. The full one is for holding a sentence against its evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any

import regex

from rag_core.facts.lexicon import lexicon
from rag_core.language import fold
from rag_core.settings import DATA

_NEVER = regex.compile(r"(?!)")


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
    """

    families: Mapping[str, str]
    plurals: frozenset[str]
    levels: tuple[str, ...]
    lone: tuple[str, ...]
    joints: tuple[str, ...]
    of: tuple[str, ...]


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
    lex, row = lexicon(lang), _data()["languages"].get(lang, {})
    ones, joins = _folded(row.get("ones", "")), _folded(row.get("join", ""))
    numbers = {**lex.numbers, **_pairs(row.get("numbers", ""))}
    if joint := fold(row.get("tens_joint", "")):
        units = {**{word: 1 for word in ones}, **{word: value for word, value in numbers.items() if value < 10}}
        tens = {word: value for word, value in numbers.items() if 20 <= value < 100}
        numbers |= {f"{unit}{joint}{ten}": units[unit] + tens[ten] for unit, ten in product(units, tens)}
    scales = {**lex.scales, **_pairs(row.get("scales", ""))}
    return ValueWords(
        is_plain=False,
        numbers=numbers,
        ones=ones,
        joins=joins,
        ordinals=_ordinals(row, numbers),
        scales=scales,
        units={**_by_word(_data()["units"]), **lex.units},
        symbols=_data()["symbols"],
        qualifiers=_by_word(_data()["qualifiers"]),
        fillers=_folded(_data()["fillers"]),
        to=_joint(row.get("range", "").split()),
        between=regex.compile(rf"(?<!\p{{L}})(?:{row['between']})\s+$", regex.IGNORECASE) if row.get("between") else _NEVER,
        compound=_compound({*numbers, *scales, *ones, *joins}) if row.get("compound") else None,
        prefixes=_data()["prefixes"] if row.get("compound") else {},
        weekdays={word: day for day, names in enumerate(_data()["weekdays"].get(lang, "").split("|"), 1) for word in names.split()},
        relations=_folded(row.get("relations", "")),
        relations_before=bool(row.get("relations_before", False)),
    )


@cache
def law_words() -> LawWords:
    """The words of references to laws and clauses."""
    row = _data()["laws"]
    families = {word: name for name, words in row["families"].items() for word in words.split()}
    families |= {word[0].upper() + word[1:]: name for word, name in families.items()} | {
        word.upper(): name for word, name in families.items()
    }
    plurals = row["plurals"].split()
    return LawWords(
        families=families,
        plurals=frozenset([*plurals, *(word.capitalize() for word in plurals)]),
        levels=tuple(row["levels"].split()),
        lone=tuple(row["lone"].split()),
        joints=tuple(row["joints"].split()),
        of=tuple(row["of"].split()),
    )


@cache
def exact_units() -> Mapping[str, tuple[str, Decimal]]:
    """Of a unit another one and how many of that it is exactly: an hour is 3600 seconds; a year is 12 months and no number of days."""
    pairs = {unit: row.split() for unit, row in _data()["exact"].items()}
    return {unit: (base, Decimal(factor)) for unit, (base, factor) in pairs.items()}


@cache
def dimension(unit: str) -> str:
    """The dimension that a unit measures: units of one dimension may stand in each other's place."""
    named = next((name for name, units in _data()["dimensions"].items() if unit.split()[-1:] and unit.split()[-1] in units.split()), "")
    return named or exact_units().get(unit, (unit, Decimal(1)))[0]


def qualified(qualifier: str, unit: str) -> str:
    """The unit that a qualifier makes of another: "business day", "m2" of square metres."""
    name = f"{qualifier} {unit}"
    return str(_data()["qualified"].get(name, name))


@cache
def _data() -> Mapping[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "values.json").read_text(encoding="utf-8"))
    return data


def _folded(row: str) -> frozenset[str]:
    return frozenset(fold(word) for word in row.split())


def _by_word(rows: Mapping[str, str]) -> dict[str, str]:
    return {fold(word.replace("_", " ")): name for name, row in rows.items() for word in row.split()}


def _pairs(row: str) -> dict[str, int]:
    parts = row.split()
    return {fold(word): int(value) for word, value in zip(parts[::2], parts[1::2], strict=True)}


def _ordinals(row: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, int]:
    endings = row.get("ordinal_endings", "").split() or [""]
    parts = row.get("ordinals", "").split()
    found = {fold(stem + ending): int(value) for stem, value in zip(parts[::2], parts[1::2], strict=True) for ending in endings}
    found |= {word + fold(ending): value for word, value in numbers.items() for ending in row.get("cardinal_endings", "").split()}
    return {word: value for word, value in found.items() if word not in numbers}


def _joint(words: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile(rf"\s?[-\u2010-\u2015−]\s?|\s+(?:{'|'.join(map(regex.escape, words)) or '(?!)'})\s+", regex.IGNORECASE)


def _compound(parts: Iterable[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(regex.escape(part) for part in sorted(parts, key=len, reverse=True)))
