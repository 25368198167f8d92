"""Dates in their many notations: "12. 3. 2024", "12 March 2024", "March 12, 2024" and "2024-03-12" are one day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import regex

from rag_core.language.loader import FALLBACK, LANGUAGES, grammar
from rag_core.language.words import fold


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


@cache
def months(lang: str) -> Mapping[str, int]:
    """The folded names of the months, from 1, in a language and in English."""
    rows = [facts.months for code in (FALLBACK, lang) if code in LANGUAGES and (facts := LANGUAGES[code].facts)]
    return {fold(name): number for row in rows for number, names in enumerate(row, 1) for name in names}


@cache
def _pattern() -> regex.Pattern[str]:
    infos = LANGUAGES.values()
    suffixes = [suffix for info in infos if info.values for suffix in info.values.ordinal_suffixes]
    suffix = rf"(?:\.|º|ª|°|er|re|{'|'.join(suffixes)})?"
    words = sorted({word for info in infos if info.dated for word in info.dated.within}, key=len, reverse=True)
    of = rf"(?:(?:{'|'.join(map(regex.escape, words))})\s+)?"
    # \p{M} after a letter: "फ़रवरी" may be written with a nukta of its own
    month, gap, year = r"(?P<month>\p{L}[\p{L}\p{M}]{1,20})[.॰]?", r"(?:\s+|-)", r"(?P<y>\d{4})(?!\d)"
    return regex.compile(
        rf"(?<![\p{{N}}.])(?P<y>\d{{4}})(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}})(?!\d)"
        rf"|(?<![\p{{N}}.])(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.\s?{year}"
        rf"|(?<![\p{{N}}/-])(?P<a>\d{{1,2}})(?P<sep>[/-])(?P<b>\d{{1,2}})(?P=sep){year}"
        rf"|(?<![\p{{N}}.,])(?P<d>\d{{1,2}}){suffix}{gap}{of}{month}(?:,?{gap}{of}{year})?"
        rf"|(?<![\p{{L}}\p{{M}}]){month}{gap}(?P<d>\d{{1,2}}){suffix}(?![\p{{N}}.,]\d|\d)(?:,?{gap}{year})?"
        rf"|(?<![\p{{L}}\p{{M}}]){month},?{gap}{of}{year}",
        regex.IGNORECASE,
    )


def dates(text: str, lang: str, named: Mapping[str, int] | None = None) -> list[Date]:
    """The dates of a text, in order, in ASCII digits, no month alone; `named` are months by folded name."""
    found, position = list[Date](), 0
    while match := _pattern().search(text, position):
        readings = _readings(match, lang, months(lang) if named is None else named)
        if readings:
            found.append(Date(readings, match.group(), *match.span()))
        # a word that is no month may hide the start of a real date: "bis 5 Tage, 12. März"
        position = match.end() if readings else match.start() + 1
    return found


def _readings(match: regex.Match[str], lang: str, named: Mapping[str, int]) -> frozenset[Day]:
    part = match.groupdict()
    year, day = int(part["y"] or 0), int(part["d"] or 0)
    if part["a"]:
        first, second = int(part["a"]), int(part["b"])
        days = [Day(year, second, first)] + ([Day(year, first, second)] if grammar(lang).month_first else [])
    elif part["month"]:
        facts = LANGUAGES.or_fallback(lang).facts
        is_verb = facts is not None and facts.months_capitalised and not part["month"][0].isupper()  # "may", "march"
        days = [Day(year, 0 if is_verb else named.get(fold(part["month"]), 0), day)]
    else:
        days = [Day(year, int(part["m"]), day)]
    return frozenset(d for d in days if 1 <= d.month <= 12 and 0 <= d.day <= 31)
