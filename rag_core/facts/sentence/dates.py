"""Dates and times of day in their many notations, and days of the week.

"12. 3. 2024", "12 March 2024", "March 12, 2024" and "2024-03-12" are one day.
"14:30", "2:30 p.m.", "14.30 Uhr" and "दोपहर 2:30 बजे" are one time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import regex

from rag_core.facts.sentence.lexicon import cover, lexicon, ordinal_suffixes, value_words
from rag_core.language import LANGUAGES, TimeWords, Word, fold, grammar

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
def _date_pattern(lang: str) -> regex.Pattern[str]:
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
    found, position, pattern = [], 0, _date_pattern(lang)
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


_HALF_DAY = 12 * 60  # minutes
_CLOCK = r"(?P<hour>[01]?\d|2[0-4])"
_MINUTE = r"(?P<minute>[0-5]\d)(?!\d|[.,:/]\d)"


@cache
def _time_words() -> list[TimeWords]:
    return [info.times for info in LANGUAGES.values() if info.times]


@cache
def _parts_of_day() -> Mapping[str, tuple[int, int]]:
    """The hours in which each part of the day may lie; those past 24 are of the next day's morning."""
    return {word: (int(first), int(last)) for one in _time_words() for word, first, last in one.parts_of_day}


@cache
def _time_pattern() -> regex.Pattern[str]:
    parts, joints = _any_of(_parts_of_day()), _any_of(one.joint for one in _time_words() if one.joint)
    bells, behind, with_minutes, before = (
        _any_of(word for one in _time_words() for word in getattr(one, name)) for name in ("bells", "behind", "behind_minutes", "before")
    )
    return regex.compile(
        rf"(?<![\p{{L}}\p{{M}}\p{{N}}.,:/-])(?:"
        rf"(?:(?P<part>{parts})\s{{1,2}}(?:{joints}\s)?)?{_CLOCK}(?:[.:]{_MINUTE})?\s{{1,2}}(?P<bell>{bells})"
        rf"|{_CLOCK}(?:[.:]{_MINUTE})?\s{{0,2}}(?P<half>[ap])\.?\s?m(?!\p{{L}})\.?"
        rf"|{_CLOCK}(?:[.:]{_MINUTE})?\s{{1,2}}(?:{behind})(?!\p{{L}})"
        rf"|{_CLOCK}[.:]{_MINUTE}\s{{0,2}}(?:{with_minutes})(?!\p{{L}})\.?"
        rf"|(?<=(?<!\p{{L}})(?:{before})\s){_CLOCK}\.{_MINUTE}"
        rf"|{_CLOCK}:{_MINUTE})",
        regex.IGNORECASE,
    )


def _any_of(words: Iterable[str]) -> str:
    """The words as alternatives, the longest first; of none what never stands."""
    return "(?:" + ("|".join(map(regex.escape, sorted(words, key=len, reverse=True))) or "(?!)") + ")"


@dataclass(frozen=True, slots=True)
class Time:
    """A time where it stands: `source[start:end] == text`.

    `minutes` of the day, from 0 to 1439, two where "2 बजे" leaves the half of the day open; `halves`: whether it tells halves of the day, so
    that "2:30 p.m." may be another text's "2:30".
    """

    minutes: frozenset[int]
    halves: bool
    text: str
    start: int
    end: int

    def agrees(self, other: Time) -> bool:
        """Whether both may be the same time."""
        if self.minutes & other.minutes:
            return True
        bare = self if other.halves else other
        early = all(minute < _HALF_DAY + 60 for minute in bare.minutes)
        return (
            self.halves != other.halves and early and bool({m % _HALF_DAY for m in self.minutes} & {m % _HALF_DAY for m in other.minutes})
        )


def times(text: str, taken: Iterable[tuple[int, int]] = ()) -> list[Time]:
    """The times of a text in order, those that touch a `taken` range left out. Digits must be ASCII."""
    found = [
        Time(_minutes(match), bool(match["half"] or match["bell"]), match.group(), *match.span())
        for match in _time_pattern().finditer(text)
    ]
    covered = cover(text, taken)
    return [time for time in found if not any(covered[time.start : time.end])]


def _minutes(match: regex.Match[str]) -> frozenset[int]:
    hour, minute = int(match["hour"]) % 24, int(match["minute"] or 0)
    at = hour * 60 + minute
    if match["half"]:
        return frozenset({hour % 12 * 60 + minute + (_HALF_DAY if fold(match["half"]) == "p" else 0)})
    if hour > 12 or not match["bell"]:
        return frozenset({at})
    both = {hour % 12 * 60 + minute, hour % 12 * 60 + minute + _HALF_DAY}
    if match["part"]:
        first, last = _parts_of_day()[match["part"]]
        both = {time for time in both if first * 60 <= time < last * 60 or first * 60 <= time + 2 * _HALF_DAY < last * 60} or both
    return frozenset(both)
