"""The words that carry facts, by language: months, number words, scales, units, bounds, negative forms. Read from `data/facts.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex

from rag_core.language import fold
from rag_core.settings import DATA

_NEVER = regex.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language's words, English ones included where a document may mix both.

    Keys of `months` (1-12), `numbers`, `scales` (multiplier) and `units` (canonical unit) are folded words. `at_least` and `at_most`
    match whole words, whatever their case; `bounds_follow` says whether they may stand behind their number. `negated_words` maps a folded
    word to its positive. `names` of people, `titles` before a name and `auxiliaries` behind a verb tell names where capitals do not.
    """

    months: Mapping[str, int]
    months_capitalised: bool
    numbers: Mapping[str, int]
    scales: Mapping[str, int]
    units: Mapping[str, str]
    negative_prefixes: tuple[str, ...]
    not_prefixed: frozenset[str]
    negated_words: Mapping[str, str]
    at_least: regex.Pattern[str]
    at_most: regex.Pattern[str]
    bounds_follow: bool
    names: frozenset[str]
    titles: frozenset[str]
    auxiliaries: frozenset[str]

    def positive(self, word: str) -> str:
        """The word that a folded word negates by its form ("nesmi" -> "smi", "invalid" -> "valid"), or empty."""
        if word in self.negated_words:
            return self.negated_words[word]
        if word in self.not_prefixed:
            return ""
        return next((word[len(p) :] for p in self.negative_prefixes if word.startswith(p) and len(word) - len(p) >= 3), "")


@cache
def lexicon(lang: str) -> Lexicon:
    """The lexicon of a language; an unknown one gets the English."""
    data = _data()
    rows = data["languages"]
    row = rows.get(lang, rows["en"])
    english = rows["en"]
    return Lexicon(
        months={**_months(english["months"]), **_months(row["months"])},
        months_capitalised=row["months_capitalised"],
        numbers=_pairs(row["numbers"]),
        scales={**_pairs(english["scales"]), **_pairs(row["scales"])},
        units={fold(word.replace("-", " ")): unit for unit, words in data["units"].items() for word in words.split()},
        negative_prefixes=tuple(fold(prefix) for prefix in row["negative_prefixes"].split()),
        not_prefixed=_folded(row["not_prefixed"]),
        negated_words=_negated(row["negated_words"]),
        at_least=_phrases(row["at_least"].split("|")),
        at_most=_phrases(row["at_most"].split("|")),
        bounds_follow=bool(row.get("bounds_follow", False)),
        names=_folded(row.get("names", "")),
        titles=_folded(row.get("titles", "")),
        auxiliaries=_folded(row.get("auxiliaries", "")),
    )


@cache
def _data() -> Mapping[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "facts.json").read_text(encoding="utf-8"))
    return data


def _folded(row: str) -> frozenset[str]:
    return frozenset(fold(word) for word in row.split())


def _months(row: str) -> dict[str, int]:
    return {fold(name): number for number, names in enumerate(row.split("|"), 1) for name in names.split()}


def _pairs(row: str) -> dict[str, int]:
    parts = row.split()
    return {fold(word): int(value) for word, value in zip(parts[::2], parts[1::2], strict=True)}


def _negated(row: str) -> dict[str, str]:
    words = fold(row.replace("|", " ")).split()
    return dict(zip(words[::2], words[1::2], strict=True))


def _phrases(phrases: Iterable[str]) -> regex.Pattern[str]:
    """Whole phrases, the longest first."""
    whole = "|".join(regex.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len, reverse=True) if phrase)
    parts = [rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?:{whole})(?![\p{{L}}\p{{M}}\p{{N}}])"] if whole else []
    return regex.compile("|".join(parts), regex.IGNORECASE) if parts else _NEVER
