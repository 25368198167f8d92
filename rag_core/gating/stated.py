"""A light reading of a sentence: its numbers by kind, its years, its names, and its words.

Cheap on purpose: a question looks at some hundred sentences. To read a value exactly costs several times as much
(`rag_core.facts.differences.values`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache

import regex

from rag_core.facts.sentence.lexicon import dimension, lexicon, value_words
from rag_core.language import LANGUAGES, AskedWords, any_language, ascii_digits, fold, grammar, is_known

MAX_CHARS = 4000  # read of a text: a sentence is shorter; chosen
# "2026/041", "89/2012": no date, and not "2021/22"
_REFERENCE = r"\d{4}/\d{3,}(?![\d/])|(?:1[3-9]|[2-9]\d|\d{3})/\d{4}(?![\d/])"
_CLOCK = r"(?<![\p{Nd}:])(?:[01]?\d|2[0-4]):[0-5]\d(?![\p{Nd}:])"
_TOKEN = regex.compile(
    rf"{_REFERENCE}|{_CLOCK}|\p{{Sc}}|[%‰°§]|[\p{{L}}\p{{M}}\p{{N}}]++(?:[.,](?=\p{{Nd}})[\p{{L}}\p{{M}}\p{{N}}]++)*+"
)
_ADDRESS = regex.compile(r"(?:\w+://|www\.)\S+")
_NUMBER = regex.compile(r"\d[\d.,]*(?P<ordinal>\p{L}{1,3})?")
_TIME = regex.compile(_CLOCK)
_MARK = regex.compile(  # the number of an item or a section: "5. The board", "(2) the", "7.1 Fees"
    r"\s*(?:\(?\d{1,3}\)|\d{1,3}(?:\.\d{1,3}){0,4}\.|\d{1,2}(?:\.\d{1,2}){1,4}(?=\s+\p{Lu}\p{Ll}))\s+(?=\p{L})"
)
_MAX_HOUR = 24  # hours in a day
_DAY = regex.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")
_DECADE = regex.compile(r"(?:1\d|20)\d0s")
_CODE = regex.compile(r"(?=.*\d)(?=.*\p{Lu})[\p{L}\d]+")
CASED = frozenset({"Latin", "Cyrillic", "Greek", "Armenian", "Georgian"})  # scripts with capitals
_NEVER = regex.compile(r"(?!)")
_ROMAN = regex.compile(r"[IVX]{1,6}")
_FIRST_CLEAR_YEAR = 1500  # below it a number is a year only where a word says so
_FIRST_YEAR, _LAST_YEAR = 1000, 2199  # a number beyond is no year; chosen
KINDS = ("money", "percentage", "duration", "date", "time", "month", "ordinal", "code", "count")
_BEHIND_MARK = frozenset({"date", "ordinal"})  # "3. Oktober" is no third item


@dataclass(frozen=True, slots=True)
class Number:
    """A number, month or code: `at` counts tokens, `kind` is one of `KINDS`, `word` is folded."""

    at: int
    kind: str
    word: str


@dataclass(frozen=True, slots=True)
class NameRun:
    """Capitalised words side by side, tokens from `at` to `end`; `clear` ones are hardly ordinary words."""

    at: int
    end: int
    clear: bool


@dataclass(frozen=True, slots=True)
class Stated:
    """The reading of one text."""

    words: tuple[str, ...]  # its tokens, folded
    numbers: tuple[Number, ...]  # in order; `years`: those of them that are years, decades as all of their years
    years: frozenset[int]
    own_years: frozenset[int]  # years behind a word that says that something is of that year ("in 2022")
    names: tuple[NameRun, ...]  # in order; in a script without capitals the words that no dictionary has
    spaced: str  # its words joined by single spaces, without symbols


@lru_cache(maxsize=1 << 11)
def read(text: str, language: str) -> Stated:
    """The reading of a text in a language; at most its first `MAX_CHARS` characters.

    Of an unknown language units and digits are known.
    """
    plain = ascii_digits(text[:MAX_CHARS])
    raw = tuple(_TOKEN.findall(plain))
    words = tuple(map(fold, raw))
    within = _in_addresses(plain)
    numbers = tuple(
        found for at in range(len(raw)) if at not in within and (found := _number(raw, words, at, language))
    )
    if numbers and numbers[0].at == 0 and numbers[0].kind not in _BEHIND_MARK and _MARK.match(plain):
        numbers = numbers[1:]  # it says which item it is, and nothing of it
    years = {number.at: int(number.word[:4]) for number in numbers if number.kind == "date" and _is_year(number.word)}
    own = frozenset(year for at, year in years.items() if at and words[at - 1] in asked_words(language).in_year)
    decades = {
        number.at: int(number.word[:4])
        for number in numbers
        if number.kind == "date" and _DECADE.fullmatch(number.word)
    }
    spans = {year for first in decades.values() for year in range(first, first + 10)}
    said = " ".join(word for word in words if word[0].isalnum())
    return Stated(
        words,
        numbers,
        frozenset(years.values()) | spans | _between(years),
        own,
        _names(raw, language),
        said,
    )


def _in_addresses(text: str) -> Collection[int]:
    """Places of the tokens within addresses of pages: "https://example.org/2022/02/23" has no date."""
    spans = [match.span() for match in _ADDRESS.finditer(text)] if "://" in text or "www." in text else []
    if not spans:
        return ()
    return {
        at
        for at, token in enumerate(_TOKEN.finditer(text))
        if any(start <= token.start() < end for start, end in spans)
    }


@cache
def asked_words(language: str) -> AskedWords:
    """The words of a language that tell what is asked for; none of one without a list."""
    info = LANGUAGES.get(language)
    return (info.asked if info else None) or AskedWords({}, {}, frozenset(), frozenset())


def names_only_periods(text: str, language: str) -> bool:
    """Whether a text is dates alone, as a row that heads columns is: "January 28, 2023"."""
    stated = read(text, language)
    if not stated.years or any(number.kind not in _OF_PERIODS for number in stated.numbers):
        return False
    dated = {number.at for number in stated.numbers}
    left = " ".join(word for at, word in enumerate(stated.words) if at not in dated and word[0].isalnum())
    for pattern in asked_words(language).periods.values():
        left = pattern.sub(" ", left)
    return not set(left.split()) - small_words(language)


_OF_PERIODS = frozenset({"date", "month", "ordinal", "duration"})


@cache
def small_words(language: str) -> frozenset[str]:
    """The folded question words and stop words of a language; none of an unknown one."""
    return frozenset(map(fold, LANGUAGES[language].function_words)) if language in LANGUAGES else frozenset()


def _number(raw: tuple[str, ...], words: tuple[str, ...], at: int, language: str) -> Number | None:
    """The number, month or code at a token."""
    token, asked = raw[at], asked_words(language)
    if not token[0].isdigit():
        return _in_letters(raw, words, at, language)
    if _TIME.fullmatch(token) or (asked.clock and _is_hour(words, at, asked.clock)):
        return Number(at, "time", words[at])
    match = _NUMBER.fullmatch(token)
    refers = "/" in token or raw[max(0, at - 1)] == "§"
    if refers or not match:
        return Number(at, "code" if refers or _CODE.fullmatch(token) else "count", words[at])
    if _DAY.fullmatch(token) or regex.fullmatch(r"(?:\d\d)?\d0s", words[at]):
        return Number(at, "date", words[at])
    before, after = words[max(0, at - 2) : at], words[at + 1 : at + 3]
    if (unit := _by_unit(raw, words, at, language)) and not (
        unit == "duration" and _is_year(token) and after[0] in asked.in_year
    ):
        return Number(at, unit, words[at])  # "1992 года" is a date
    if _is_year(token) and (int(token) >= _FIRST_CLEAR_YEAR or (before and before[-1] in asked.in_year)):
        return Number(at, "date", words[at])
    eras, months = asked.nouns.get("date", _NEVER), lexicon(language).months
    if any(word in months for word in (*before, *after)) or any(map(eras.fullmatch, (*before[-1:], *after[:1]))):
        return Number(at, "date", words[at])
    return Number(at, "ordinal" if match["ordinal"] else "count", words[at])


def _in_letters(raw: tuple[str, ...], words: tuple[str, ...], at: int, language: str) -> Number | None:
    token, known = raw[at], lexicon(language)
    if words[at] in known.months and (token[0].isupper() or not known.facts.months_capitalised):
        return Number(at, "month", words[at])
    if words[at] in value_words(language).numbers:
        return Number(at, _by_unit(raw, words, at, language) or "count", words[at])
    beside = (*words[max(0, at - 1) : at], *words[at + 1 : at + 2])
    if _ROMAN.fullmatch(token) and any(map(asked_words(language).nouns.get("date", _NEVER).fullmatch, beside)):
        return Number(at, "date", words[at])
    return Number(at, "code", words[at]) if _CODE.fullmatch(token) else None


def _is_hour(words: tuple[str, ...], at: int, clock: regex.Pattern[str]) -> bool:
    """Whether a number is an hour of the day by the words behind it: "9 a.m.", "16.30 Uhr"."""
    hour = words[at].partition(".")[0]
    behind = words[at + 1 : at + 3]
    named = any(clock.fullmatch(" ".join(behind[:count])) for count in range(1, len(behind) + 1))
    return named and hour.isdecimal() and int(hour) <= _MAX_HOUR


def _by_unit(raw: tuple[str, ...], words: tuple[str, ...], at: int, language: str) -> str:
    """The kind of number that its unit makes it; empty without one."""
    units = value_words(language).units
    if at and not raw[at - 1].islower() and dimension(units.get(words[at - 1], "")) == "currency":
        return "money"  # "EUR 5", but not "in dollars 5 percent"
    if _is_year(raw[at]) and _heads_column(raw, words, at, language):
        return ""
    place = at + 1 + sum(word in value_words(language).scales for word in words[at + 1 : at + 2])
    for unit in (" ".join(words[place : place + 2]), *words[place : place + 1]):
        measured = dimension(units.get(unit, ""))
        if measured in _KIND_OF:
            return "date" if units[unit] == "century" and raw[at][0].isdigit() else _KIND_OF[measured]  # "12th century"
    return ""


def _heads_column(raw: tuple[str, ...], words: tuple[str, ...], at: int, language: str) -> bool:
    """Whether a year stands before the unit of its column: "2023 $ million", which no amount is written as."""
    symbol = (
        at + 2 < len(raw)
        and not raw[at + 1].isalnum()
        and dimension(value_words(language).units.get(words[at + 1], "")) == "currency"
    )
    return symbol and words[at + 2] in value_words(language).scales


_KIND_OF = {"currency": "money", "share": "percentage", "time": "duration"}


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and _FIRST_YEAR <= int(word) <= _LAST_YEAR


def _between(years: dict[int, int]) -> frozenset[int]:
    """The years within a span of two that stand near each other: "from 1990 to 2005"."""
    spans: set[int] = set()
    for at, year in years.items():
        last = next((years[other] for other in range(at + 1, at + 5) if other in years), year)
        spans.update(range(year, last + 1) if last - year < 200 else ())
    return frozenset(spans)


def _names(raw: tuple[str, ...], language: str) -> tuple[NameRun, ...]:
    """Runs of capitalised words; the first word of a sentence counts where something says that it is a name."""
    if not any(word[0].isupper() or word[0].islower() for word in raw):
        if grammar(language).script in CASED:
            return ()
        return tuple(
            NameRun(at, at + 1, True)
            for at, word in enumerate(raw)
            if word[0].isalpha() and not is_known(word, language)
        )
    found: list[NameRun] = []
    nouns, known = grammar(language).nouns_capitalised, small_words(language)
    at = 0
    while at < len(raw):
        end = at
        while end < len(raw) and raw[end][0].isupper():
            end += 1
        start = at + (end > at and fold(raw[at]) in known and (at == 0 or end - at > 1))
        if end > start:
            found.append(NameRun(start, end, _clear(raw[start:end], start == 0, nouns, language)))
            while end + 1 < len(raw) and fold(raw[end]) in any_language().connectors and raw[end + 1][0].isupper():
                end += 1
        at = max(end, at + 1)
    return tuple(found)


def _clear(run: tuple[str, ...], first: bool, nouns_capitalised: bool, language: str) -> bool:
    if any(len(word) > 1 and word.isupper() for word in run):
        return True
    if nouns_capitalised:
        return len(run) > 1 or not is_known(run[0], language)
    return not first or len(run) > 1 or not is_known(run[0].lower(), language)
