"""The word lists of one language, from `words/<language>.json`: written by hand for this program, and read by no parser
of the product.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import regex

from rag_core.language import FALLBACK

FOLDER = Path(__file__).resolve().parent / "words"
LANGUAGES = tuple(sorted((path.stem for path in FOLDER.glob("*.json")), key=lambda code: (code != FALLBACK, code)))
CURRENCY_CODES = ("USD", "EUR", "GBP", "CZK", "INR", "CHF")
PHRASE_OPERATORS = ("negation", "modality", "comparison", "quantifier")

_BEFORE, _AFTER = r"(?<![\p{L}\p{M}\p{N}]|\p{L}['’-])", r"(?![\p{L}\p{M}\p{N}]|['’-]\p{L})"


class Row(NamedTuple):
    """One thing in its inflected forms, by column. Rows with one key are the same thing."""

    key: str
    forms: tuple[str, ...]


Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True, eq=False)  # one for a language: patterns made of it are kept by identity
class Lists:
    """One language's words.

    Phrases are (pattern, replacements), whole words whatever their case; a replacement may quote a group of its
    pattern. Rows of one group may stand for each other column by column. `numbers` maps words to the whole numbers they
    mean. `notations` are (pattern, replacement) that write the same fact otherwise, `synonyms` groups of words that
    mean the same. `capitals` says what a capital marks: "names", "nouns" or "none". `names` and `parties` (of a
    contract: they stand for each other only) are words that are names though nothing in the script says so, `common`
        capitalised words that are none.
    `dotted_dates`: dates as "3. 12. 2024"; `month_first`: "March 12, 2024" too; `own_digits`: other digits than 0-9 may
        be used.
    """

    phrases: Mapping[str, tuple[tuple[regex.Pattern[str], tuple[str, ...]], ...]]
    months: Rows
    weekdays: Rows
    year_before: regex.Pattern[str]
    numbers: Mapping[str, str]
    unit_groups: tuple[Rows, ...]
    currency_words: Rows
    scales: Rows
    decimal: str
    group: str
    laws: tuple[regex.Pattern[str], ...]
    capitals: str
    names: frozenset[str]
    parties: frozenset[str]
    titles: frozenset[str]
    common: frozenset[str]
    conjunctions: tuple[str, ...]
    no_items: frozenset[str]
    notations: tuple[tuple[regex.Pattern[str], str], ...]
    synonyms: tuple[tuple[str, ...], ...]
    dotted_dates: bool
    month_first: bool
    own_digits: bool


@cache
def lists(lang: str) -> Lists:
    """The lists of a language.

    Raises:
        ValueError: there are none; the languages are `LANGUAGES`.
    """
    if lang not in LANGUAGES:
        raise ValueError(f"no word lists for {lang!r}; there are lists for {', '.join(LANGUAGES)}")
    row = json.loads((FOLDER / f"{lang}.json").read_text(encoding="utf-8"))
    return Lists(
        phrases={
            name: tuple((whole(pattern), tuple(texts.split("|"))) for pattern, texts in row["phrases"][name].items())
            for name in PHRASE_OPERATORS
        },
        months=_rows(row["months"]),
        weekdays=_rows(row["weekdays"]),
        year_before=regex.compile(rf"(?:{row['year_before']})\s*$", regex.IGNORECASE),
        numbers=dict(pair.split("=") for pair in row["numbers"].split()),
        unit_groups=tuple(_rows(group) for group in row["units"]),
        currency_words=_rows(row["currency_words"]),
        scales=_rows(row["scales"]),
        decimal=row["decimal"],
        group=row["group"],
        laws=tuple(regex.compile(pattern) for pattern in row["laws"]),
        capitals=row["capitals"],
        names=frozenset(row["names"].split()),
        parties=frozenset(row["parties"].split()),
        titles=frozenset(row["titles"].split()),
        common=frozenset(row["common"].split()),
        conjunctions=tuple(row["conjunctions"].split()),
        no_items=frozenset(row["no_items"].split()),
        notations=tuple((regex.compile(pattern), text) for pattern, text in row["notations"].items()),
        synonyms=tuple(tuple(group.split("/")) for group in row["synonyms"].split("|")),
        dotted_dates="dotted" in row.get("dates", ""),
        month_first="month first" in row.get("dates", ""),
        own_digits=row.get("own_digits", False),
    )


def whole(pattern: str) -> regex.Pattern[str]:
    """A pattern that matches whole words only, whatever their case; not inside a compound with a hyphen."""
    return regex.compile(rf"{_BEFORE}(?:{pattern}){_AFTER}", regex.IGNORECASE)


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first."""
    return "|".join(regex.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))


def forms(rows: Rows) -> set[str]:
    """Every form of every row."""
    return {form for row in rows for form in row.forms}


def others(rows: Rows, form: str) -> list[str]:
    """The forms of the other rows that stand in the same column as a form does in its own row."""
    for row in rows:
        for column, own in enumerate(row.forms):
            if own.lower() == form.lower():
                return [other.forms[min(column, len(other.forms) - 1)] for other in rows if other.key != row.key]
    return []


def _rows(text: str) -> Rows:
    """Rows parted by bars, each "one two" or, with a key of its own, "key:one two"; without one the first form is the
    key.
    """
    return tuple(_row(*row.partition(":")) for row in text.split("|"))


def _row(key: str, mark: str, words: str) -> Row:
    found = tuple(word.replace("_", " ") for word in (words if mark else key).split())
    return Row(key if mark else found[0], found)
