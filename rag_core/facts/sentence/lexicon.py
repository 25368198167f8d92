"""The words that carry facts, by language: months, number words, units, bounds, negative forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Literal

import regex

from rag_core.language import FALLBACK, LANGUAGES, FactWords, ValueRows, any_language, fold, months

_NO_ROWS = ValueRows()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language's words with English ones; `months` are 1-12, `negated_words` maps one to its positive."""

    facts: FactWords
    months: Mapping[str, int]
    scales: Mapping[str, int]
    units: Mapping[str, str]
    negated_words: Mapping[str, str]

    def positive(self, word: str) -> str:
        """The word that a folded word negates by its form ("nesmi" -> "smi", "invalid" -> "valid"), or empty."""
        if word in self.negated_words:
            return self.negated_words[word]
        if word in self.facts.not_prefixed:
            return ""
        found = (word[len(p) :] for p in self.facts.negative_prefixes if word.startswith(p) and len(word) - len(p) >= 3)
        return next(found, "")


@cache
def lexicon(lang: str) -> Lexicon:
    """The lexicon of a language; an unknown one gets the English."""
    english = LANGUAGES[FALLBACK].facts
    assert english is not None, "the English file has facts"
    facts = LANGUAGES.or_fallback(lang).facts or english
    return Lexicon(
        facts=facts,
        months=months(lang),
        scales={**english.scales, **facts.scales},
        units=by_spelling([info.units for info in LANGUAGES.values()], any_language().units),
        negated_words={fold(word): fold(positive) for word, positive in facts.negated_words},
    )


def by_spelling(languages: Iterable[Mapping[str, Sequence[str]]], first: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The name of each folded spelling, from rows of spellings; that of `first`, then the earlier, counts."""
    rows = [*reversed([*languages]), first]
    return {fold(word): name for row in rows for name, words in row.items() for word in words}


@dataclass(frozen=True, slots=True)
class ValueWords:
    """One language's words for values. Keys are folded."""

    numbers: Mapping[str, int]  # below 1,000; those of `compound` languages also match joined ("zweihundert")
    scales: Mapping[str, int]  # multipliers by word, from 100
    units: Mapping[str, str]  # canonical unit by spelling
    ones: frozenset[str] = frozenset()  # count only within a longer number: "a hundred", "twenty-one"
    joins: frozenset[str] = frozenset()  # words that may stand between number words: "two hundred and five"
    ordinals: Mapping[str, int] = field(default_factory=dict)  # "third", "dvacátý", "तीसरा"
    symbols: Mapping[str, str] = field(default_factory=dict)  # whose case counts: "mW" is no "MW"
    # between number and unit: "30 working days" are no days
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    fillers: frozenset[str] = frozenset()  # words between number and unit that change nothing: "30 calendar days"
    compound: regex.Pattern[str] | None = None  # parts of number words written as one; None where they are not
    prefixes: Mapping[str, str] = field(default_factory=dict)  # in compounds, with qualifiers: "Arbeitstage"
    weekdays: Mapping[str, int] = field(default_factory=dict)  # from 1, Monday, as they are written
    relations: frozenset[str] = frozenset()  # between a value and what it is counted from: "30 days after", "5 % of"
    relations_before: bool = False  # whether that stands before the value, as in Hindi
    possessives: frozenset[str] = frozenset()  # words like "its" that do not say what a value is counted from


def cover(text: str, taken: Iterable[tuple[int, int]]) -> bytearray:
    """For each character of a text whether one of the ranges holds it, 1 or 0."""
    covered = bytearray(len(text))
    for start, end in taken:
        covered[start:end] = b"\1" * (end - start)
    return covered


@cache
def value_words(lang: str) -> ValueWords:
    """A language's words for values; one without a list gets those of `facts`, and any units."""
    lex, row = lexicon(lang), (LANGUAGES[lang].values if lang in LANGUAGES else None) or _NO_ROWS
    numbers = {**lex.facts.numbers, **row.numbers}
    if joint := fold(row.tens_joint):
        units = {**dict.fromkeys(row.ones, 1), **{word: value for word, value in numbers.items() if value < 10}}
        tens = {word: value for word, value in numbers.items() if 20 <= value < 100}
        numbers |= {f"{unit}{joint}{ten}": units[unit] + tens[ten] for unit, ten in product(units, tens)}
    scales = {**lex.scales, **row.scales}
    parts = sorted({*numbers, *scales, *row.ones, *row.join}, key=len, reverse=True)
    return ValueWords(
        numbers=numbers,
        ones=row.ones,
        joins=row.join,
        ordinals=_ordinals(row, numbers),
        scales=scales,
        units={**by_spelling([one.units for one in _rows()], any_language().value_units), **lex.units},
        symbols=any_language().symbols,
        qualifiers=by_spelling([one.qualifiers for one in _rows()], {}),
        fillers=frozenset[str]().union(*(one.fillers for one in _rows())),
        compound=regex.compile("|".join(map(regex.escape, parts))) if row.compound else None,
        prefixes=row.prefixes if row.compound else {},
        weekdays={word: day for day, names in enumerate(row.weekdays, 1) for word in names},
        relations=row.relations,
        relations_before=row.relations_before,
        possessives=row.possessives,
    )


def _rows() -> list[ValueRows]:
    return [info.values for info in LANGUAGES.values() if info.values]


def of_any_language(key: Literal["ordinal_suffixes", "units_before", "parted_units"]) -> str:
    """The entries of all languages under this key of `ValueRows`, as alternatives of a pattern."""
    listed = (one for row in _rows() for one in getattr(row, key))
    return "|".join(one if key == "parted_units" else regex.escape(one) for one in listed)


@cache
def exact_units() -> Mapping[str, tuple[str, Decimal]]:
    """Another unit and how many of that one is exactly: an hour is 3600 seconds; a year no number of days."""
    rows = ((unit, row.rpartition(" ")) for unit, row in any_language().exact.items())
    return {unit: (of, Decimal(factor)) for unit, (of, _, factor) in rows}


@cache
def dimension(unit: str) -> str:
    """The dimension that a unit measures: units of one dimension may stand in each other's place."""
    bare = unit.rpartition(" ")[2]
    named = (name for name, units in any_language().dimensions.items() if bare in units)
    return next(named, exact_units().get(unit, (unit, 1))[0])


def qualified(qualifier: str, unit: str) -> str:
    """The unit that a qualifier makes of another: "business day", "m2" of square metres."""
    name = f"{qualifier} {unit}"
    return any_language().qualified.get(name, name)


def _ordinals(row: ValueRows, numbers: Mapping[str, int]) -> dict[str, int]:
    found = {
        fold(stem + ending): value for stem, value in row.ordinals.items() for ending in row.ordinal_endings or ("",)
    }
    found |= {word + fold(ending): value for word, value in numbers.items() for ending in row.cardinal_endings}
    return {word: value for word, value in found.items() if word not in numbers}
