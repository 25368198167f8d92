"""Reads a row of a page as the days that it names, in the words of a language and of English.

It does not know whose days they are.

Names of months and weekdays are those of the language's file and of babel. A day that can be meant in two ways
(3/12/2024 in English), that no calendar has, that is too early for a document or still to come, is known to be there,
and is not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

import regex
from babel import Locale, UnknownLocaleError

from rag_core.language import FALLBACK, LANGUAGES, DatedWords, Day, ascii_digits, dates, fold, months, spaced

FIRST_YEAR = 1900  # earlier years are those of what a document tells about; chosen
_SLACK = timedelta(days=1)  # where it is tomorrow already
_BRACKETS = regex.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*")
_PARTED = regex.compile(r"[\t|•·;]|\s{3,}")
_PLAIN = str.maketrans(dict.fromkeys('«»„“”"*_\u00a0\u2007\u202f\u2009', " ") | {"’": "'"})
# a part of a version, a range or a longer number is no date
_GOES_BEFORE, _GOES_ON = regex.compile(r"[\p{L}\p{N}./:-]$"), regex.compile(r"[\p{N}/-]|[.:,]\p{N}")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words around dates of a page: those of its language and English, in the form of `spaced`."""

    language: str
    rows: tuple[DatedWords, ...]
    months: Mapping[str, int]
    weekdays: frozenset[str]
    functions: frozenset[str]

    def has(self, name: str, phrase: str) -> bool:
        """Whether a whole phrase is one of a list."""
        return any(phrase in getattr(row, name) for row in self.rows)

    def meets(self, name: str, phrase: str) -> bool:
        """Whether any word of a phrase is one of a list of patterns."""
        return any(getattr(row, name).fullmatch(word) for row in self.rows for word in phrase.split())


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a row that names one day, with the text on both sides.

    `day` is ISO as far as stated; empty where it is not told.
    """

    before: str
    day: str
    behind: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row without what stands in brackets, and the parts that tabs and the like set apart: their texts, and those
    that name one day.
    """

    text: str
    texts: tuple[str, ...]
    parts: tuple[Part | None, ...]

    @property
    def said(self) -> str:
        """Its words, as phrases are compared."""
        return spaced(self.text)

    @property
    def only(self) -> Part | None:
        """The day that is all there is on the row; None where there is more, or none."""
        part = self.parts[0] if len(self.parts) == 1 else None
        return part if part and not spaced(part.before + part.behind) else None


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language with a file, and English; of English alone for any other."""
    codes = dict.fromkeys((language if language in LANGUAGES else FALLBACK, FALLBACK))
    infos = [LANGUAGES[code] for code in codes]
    named, weekdays = dict[str, int](), set[str]()
    functions = frozenset(spaced(word) for info in infos for word in info.function_words)
    # where both have a word, that of the page's own language counts
    for code, info in reversed([*zip(codes, infos, strict=True)]):
        # "pro" is Czech for "for"
        named |= {name: number for name, number in _months_of_babel(code).items() if name not in functions}
        weekdays |= {spaced(name) for name in _names_of_babel(code, "days")}
        weekdays |= {spaced(name) for names in (info.values.weekdays if info.values else ()) for name in names}
    rows = tuple(info.dated for info in infos if info.dated)
    # an unknown language may be written by anybody, as in English
    code = next(iter(codes))
    return Vocabulary(code, rows, {**named, **months(code)}, frozenset(weekdays), functions)


def _names_of_babel(code: str, kind: str) -> list[str]:
    try:
        forms = getattr(Locale.parse(code), kind)
    except (UnknownLocaleError, ValueError):
        return []
    return [
        name
        for use in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for name in forms[use][width].values()
    ]


def _months_of_babel(code: str) -> dict[str, int]:
    names = _names_of_babel(code, "months")
    return {fold(name.rstrip(".॰")): number % 12 + 1 for number, name in enumerate(names)}


def read_row(line: str, known: Vocabulary, today: date) -> Row:
    """A row with its days; `today` is the last day but one that is believed.

    Digits of two scripts in a row make no date.
    """
    whole = line[1:-1] if line.startswith("(") and line.endswith(")") else line
    scripts = {ord(char) - int(char) for char in whole if char.isdecimal()}
    plain = _BRACKETS.sub(" ", ascii_digits(whole).translate(_PLAIN)).strip()
    texts = tuple(part.strip() for part in _PARTED.split(plain) if part.strip())
    return Row(plain, texts, tuple(_part(text, known, today) if len(scripts) < 2 else None for text in texts))


def believed(stated: str, today: date) -> bool:
    """Whether an ISO date (YYYY, YYYY-MM or YYYY-MM-DD) can be a document's: of the calendar, not too early, not still
    to come.
    """
    try:
        year, month, day = [*map(int, stated.split("-")), 1, 1][:3]
        stands = date(year, month, day)
    except (ValueError, OverflowError):
        return False
    return stands.year >= FIRST_YEAR and stands <= today + _SLACK


def _part(text: str, known: Vocabulary, today: date) -> Part | None:
    found = [
        one
        for one in dates(text, known.language, known.months)
        if all(day.year for day in one.readings)
        and not (_GOES_BEFORE.search(text[: one.start]) or _GOES_ON.match(text, one.end))
    ]
    if len(found) != 1:
        return None
    (one,) = found
    days = [_iso(day) for day in one.readings]
    told = len(days) == 1 and believed(days[0], today)
    return Part(text[: one.start], days[0] if told else "", text[one.end :])


def _iso(day: Day) -> str:
    return f"{day.year:04}-{day.month:02}" + (f"-{day.day:02}" if day.day else "")
