"""The words for what is a unit behind a figure and nowhere else, by language: "5 in", "5 mHz", "5 percentage points", "5 km an hour".

They are for holding a sentence against its evidence. Questions are read without them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import regex

from rag_core.language import FALLBACK, LANGUAGES, UnitRows, any_language, fold

_FLAGS = regex.IGNORECASE
WORD = r"\p{L}[\p{L}\p{M}]*(?:\^?\d(?!\d)|(?<!\p{Ll}{4})\p{No})?"
_NO_YEAR = r"(?!\s*(?:1[5-9]|2[01])\d\d(?!\d))"  # "za rok 2020" is no rate
_ENDS = r"(?![\p{L}\p{M}\p{N}])"
_DEGREE = "[°º]"  # the second, which marks an ordinal, is a letter "o" when it is folded


@dataclass(frozen=True, slots=True)
class FigureUnits:
    """One language's units behind figures. Keys are folded, but for those of `symbols`; a slash parts what a unit is counted by.

    Args:
        symbols, units: canonical units by spelling; of `symbols` the case counts.
        lone: spellings that are no unit where a word follows.
        qualifiers_behind: whether "square" may stand behind its unit.
        phrase: a spelling of several words, or with other signs than letters, in its group `unit`; `phrases`: those of words alone.
        by: what a figure is counted by, in its groups `unit` and `count` ("per 100 km"), or in `rate`.
        counted: units that count behind a slash or "per" only.
        rates: units by a word that says both ("monthly"); a star stands for the rest of a word.
        after_lone: words that may follow a lone spelling: "5 in wide".
        points: words for points, which are percentage points where a share is named.
    """

    symbols: Mapping[str, str]
    units: Mapping[str, str]
    lone: frozenset[str]
    qualifiers_behind: bool
    phrase: regex.Pattern[str]
    phrases: frozenset[str]
    by: regex.Pattern[str]
    counted: Mapping[str, str]
    rates: Mapping[str, str]
    after_lone: frozenset[str]
    points: frozenset[str]

    def rate_of(self, written: str) -> str:
        """The unit that a folded word like "monthly" counts by, or empty."""
        stems = (unit for word, unit in self.rates.items() if word[-1] == "*" and written.startswith(word[:-1]))
        return self.rates.get(written) or next(stems, "")


def spelling(text: str) -> str:
    """A spelling as it is looked up."""
    return fold(regex.sub(_DEGREE, "°", text))


def symbol(text: str) -> str:
    """A symbol as it is looked up: the two signs for micro are one, and "m²" is "m2"."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@cache
def figure_units(lang: str) -> FigureUnits:
    """The units behind figures in a language; one without its own has the English ones."""
    row = (LANGUAGES[lang].figure_units if lang in LANGUAGES else None) or LANGUAGES[FALLBACK].figure_units or UnitRows()
    symbols = {**_with_prefixes(), **any_language().symbols, **row.symbols}
    spellings = [*_spellings(any_language().figure_units), *_metric(row), *_spellings(row.units)]
    parted = [word for word, _ in spellings if not regex.fullmatch(WORD, word)]
    return FigureUnits(
        symbols={symbol(written): unit for written, unit in symbols.items()},
        units={fold(word): unit for word, unit in spellings},
        phrases=frozenset(fold(word) for word in parted if regex.fullmatch(r"[\p{L}\p{M} ]+", word)),
        lone=frozenset(map(fold, any_language().lone_units)),
        qualifiers_behind=row.qualifiers_behind,
        phrase=regex.compile(rf"(?P<unit>{_any(parted)}){_ENDS}", _FLAGS),
        by=_by(row, parted),
        counted={fold(word): unit for word, unit in _spellings(row.counted)},
        rates={fold(word): unit for word, unit in _spellings(row.rates)},
        after_lone=frozenset(map(fold, row.after_lone)),
        points=frozenset(map(fold, row.points)),
    )


@cache
def exact_units() -> Mapping[str, tuple[str, Decimal]]:
    """Of a unit another one and how many of that it is exactly: an hour is 3600 seconds; a year is 12 months and no number of days."""
    found = {unit: _factor(unit) for unit in any_language().exact}
    for base, prefixes in _prefixed().values():
        unit = base.partition("/")[0]
        of, factor = _factor(unit)
        found |= {_unit(prefix, unit): (of, factor * _prefix(prefix)) for prefix in prefixes}
    return found


def _spellings(rows: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
    """Each spelling with its unit."""
    return ((word, unit) for unit, words in rows.items() for word in words)


def _metric(row: UnitRows) -> Iterator[tuple[str, str]]:
    """The words for units that may have a prefix, with and without one."""
    for word, unit in _spellings(row.metric):
        yield word, unit.replace("_", " ")
        yield from ((prefix + word, _unit(of, unit.replace("_", " "))) for prefix, of in row.prefixes.items())


@cache
def _prefixed() -> Mapping[str, tuple[str, list[str]]]:
    """Of a symbol its unit and the prefixes that it may have."""
    rows = {written: row.split() for written, row in any_language().prefixed.items()}
    return {written: (unit.replace("_", " "), prefixes) for written, (unit, *prefixes) in rows.items()}


def _with_prefixes() -> dict[str, str]:
    """The symbols with a prefix: "mHz"."""
    return {prefix + written: _unit(prefix, unit) for written, (unit, prefixes) in _prefixed().items() for prefix in prefixes}


def _prefix(written: str) -> Decimal:
    return Decimal(any_language().prefixes[written])


@cache
def _factor(unit: str) -> tuple[str, Decimal]:
    of, _, factor = any_language().exact.get(unit, f"{unit} 1").rpartition(" ")
    return of, Decimal(factor)


@cache
def _unit(prefix: str, base: str) -> str:
    """The unit with a prefix: under the name that it has in `exact`, or one that is made of both."""
    base, slash, by = base.partition("/")
    of, factor = _factor(base)
    total = (of, factor * _prefix(prefix))
    named = (unit for unit in (prefix + base, *any_language().exact) if _factor(unit) == total)
    return next(named, of if total[1] == 1 else f"{total[1].normalize():f} {of}") + slash + by


def _any(words: Iterable[str]) -> str:
    """A pattern of any of these, the longest first; a star stands for the rest of a word."""
    longest = (regex.escape(word) for word in sorted(words, key=len, reverse=True))
    return "|".join(word.replace("°", _DEGREE).replace(r"\ ", r"\s").replace(r"\*", r"[\p{L}\p{M}]*") for word in longest) or "(?!)"


def _by(row: UnitRows, parted: Iterable[str]) -> regex.Pattern[str]:
    # words between a figure and what it is counted by: "5 % interest per year"
    between = rf"(?:\s(?!(?:{_any(row.no_rate_across)}){_ENDS})\p{{L}}[\p{{L}}\p{{M}}]*){{0,2}}?"
    unit = rf"(?P<count>\d{{1,4}}\s)?(?P<unit>(?:{_any(parted)}){_ENDS}|{WORD})"
    per = rf"(?:{_any(row.per)})(?:\s(?:{_any(row.per_one)}))?\s{unit}{_NO_YEAR}"
    no_time = rf"{_NO_YEAR}(?!\s(?:{_any(row.no_rate_before)}){_ENDS})"  # "5 km a year later", "5 Euro im Jahr 2022"
    one = rf"\s(?P<one>{_any(row.per_one)})\s{unit}{no_time}"
    raised = r"\s?·?\s?(?P<raised>\p{L}{1,3})(?:⁻¹|\^[-−]1(?!\d))"
    of_another = rf"(?<!(?<![\p{{L}}\p{{M}}])(?:{_any(row.no_rate_after)})\s)"  # "$5 million in annual sales"
    rates = [word for word, _ in _spellings(row.rates)]
    several = rf"(?:{_any(word for word in rates if ' ' in word)}){_ENDS}{no_time}"  # "im Jahr" may be a time, "jährlich" is none
    rate = rf"{of_another}(?P<rate>{several}|(?:{_any(word for word in rates if ' ' not in word)}){_ENDS})"
    return regex.compile(rf"\s?/\s?{unit}|{raised}|{one}|{between}\s(?:{rate}|{per})", _FLAGS)
