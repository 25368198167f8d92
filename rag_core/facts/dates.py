"""Dates in their many notations: "12. 3. 2024", "12 March 2024", "March 12, 2024", "2024-03-12" are one day. Days of the week."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import regex

from rag_core.facts.lexicon import lexicon
from rag_core.facts.value_words import ordinal_suffixes, value_words
from rag_core.language import LANGUAGES, Word, fold, grammar

_NUMERIC = (
    r"(?<![\p{N}.])(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)"
    r"|(?<![\p{N}.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})(?!\d)"
    r"|(?<![\p{N}/-])(?P<a>\d{1,2})(?P<sep>[/-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)"
)


class Day(NamedTuple):
    """A date as far as it is stated; 0 where a part is not."""

    year: int
    month: int
    day: int

    def within(self, other: Day) -> bool:
        """Whether every part stated here is stated equally there."""
        return all(mine in (0, theirs) for mine, theirs in zip(self, other, strict=True))


@dataclass(frozen=True, slots=True)
class Date:
    """A date where it stands: `source[start:end] == text`. `readings` holds both days of an ambiguous "3/12/2024"."""

    readings: frozenset[Day]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Weekday:
    """A day of the week where it stands: `source[start:end] == text`. `day` is from 1, Monday, to 7."""

    day: int
    text: str
    start: int
    end: int


def weekdays(tokens: Iterable[Word], lang: str) -> list[Weekday]:
    """The days of the week among the words of a text, in order. Where languages write them with a capital, it is needed."""
    names = value_words(lang).weekdays
    return [Weekday(day, *word) for word in tokens if (day := names.get(word.text) or names.get(word.text.lower()))]


@cache
def _pattern(lang: str) -> regex.Pattern[str]:
    # \p{M} after a letter: "फ़रवरी" may be written with a nukta of its own
    names = sorted(lexicon(lang).months, key=len, reverse=True)
    longest = max(map(len, names)) + 4  # folding may drop marks
    month = rf"(?P<month>\p{{L}}[\p{{L}}\p{{M}}]{{1,{longest}}})\.?"
    suffix = rf"(?:\.|{'|'.join(ordinal_suffixes())})?"
    facts = [info.facts for info in LANGUAGES.values() if info.facts]
    of = rf"(?:(?:{'|'.join(word for one in facts for word in one.date_joins)})\s+)?"
    of_year = rf"(?:(?:{'|'.join(word for one in facts for word in one.year_joins)})\s+)?"
    return regex.compile(
        rf"{_NUMERIC}"
        rf"|(?<![\p{{N}}.,])(?P<d>\d{{1,2}}){suffix}\s+{of}{month}(?:,?\s+{of_year}(?P<y>\d{{4}})(?!\d))?"
        rf"|(?<![\p{{L}}\p{{M}}]){month}\s+(?P<d>\d{{1,2}}){suffix}(?![\p{{N}}.,]\d|\d)(?:,?\s+(?P<y>\d{{4}})(?!\d))?"
        rf"|(?<![\p{{L}}\p{{M}}]){month},?\s+{of_year}(?P<y>\d{{4}})(?!\d)",
        regex.IGNORECASE,
    )


def dates(text: str, lang: str) -> list[Date]:
    """The dates of a text, in order. Digits must be ASCII; a month's name alone is no date."""
    found, position, pattern = [], 0, _pattern(lang)
    while match := pattern.search(text, position):
        readings = _readings(match, lang)
        if readings:
            found.append(Date(readings, match.group(), *match.span()))
        # a word that is no month may hide the start of a real date: "bis 5 Tage, 12. März"
        position = match.end() if readings else match.start() + 1
    return found


def _readings(match: regex.Match[str], lang: str) -> frozenset[Day]:
    part = match.groupdict()
    year, day = int(part["y"] or 0), int(part["d"] or 0)
    if part["a"]:
        first, second = int(part["a"]), int(part["b"])
        days = [Day(year, second, first)] + ([Day(year, first, second)] if grammar(lang).month_first else [])
    elif part["month"]:
        days = [Day(year, _month(part["month"], lang), day)]
    else:
        days = [Day(year, int(part["m"]), day)]
    return frozenset(d for d in days if 1 <= d.month <= 12 and 0 <= d.day <= 31)


def _month(word: str, lang: str) -> int:
    words = lexicon(lang)
    if words.months_capitalised and not word[0].isupper():
        return 0  # "may", "march" as verbs
    return words.months.get(fold(word), 0)
