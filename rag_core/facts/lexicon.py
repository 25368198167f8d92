"""The words that carry facts, by language: months, number words, scales, units, bounds, negative forms.

A question is read with these alone: a calibrated score rests on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from rag_core.language import FALLBACK, LANGUAGES, any_language, fold

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
    english = LANGUAGES[FALLBACK].facts
    assert english is not None, "the English file has facts"
    row = LANGUAGES.or_fallback(lang).facts or english
    return Lexicon(
        months={**_months(english.months), **_months(row.months)},
        months_capitalised=row.months_capitalised,
        numbers=_folded_keys(row.numbers),
        scales={**_folded_keys(english.scales), **_folded_keys(row.scales)},
        units=by_spelling([info.units for info in LANGUAGES.values()], any_language().units),
        negative_prefixes=tuple(fold(prefix) for prefix in row.negative_prefixes),
        not_prefixed=_folded(row.not_prefixed),
        negated_words={fold(word): fold(positive) for word, positive in row.negated_words},
        at_least=_phrases(row.at_least),
        at_most=_phrases(row.at_most),
        bounds_follow=row.bounds_follow,
        names=_folded(row.names),
        titles=_folded(row.titles),
        auxiliaries=_folded(row.auxiliaries),
    )


def by_spelling(languages: Iterable[Mapping[str, Sequence[str]]], first: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The name of each folded spelling, from rows of spellings. Of two names that of `first` counts, then the earlier language's."""
    rows = [*reversed([*languages]), first]
    return {fold(word): name for row in rows for name, words in row.items() for word in words}


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold, words))


def _months(groups: Iterable[Sequence[str]]) -> dict[str, int]:
    return {fold(name): number for number, names in enumerate(groups, 1) for name in names}


def _folded_keys(numbers: Mapping[str, int]) -> dict[str, int]:
    return {fold(word): value for word, value in numbers.items()}


def _phrases(phrases: Iterable[str]) -> regex.Pattern[str]:
    """Whole phrases, the longest first."""
    whole = "|".join(regex.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len, reverse=True) if phrase)
    parts = [rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?:{whole})(?![\p{{L}}\p{{M}}\p{{N}}])"] if whole else []
    return regex.compile("|".join(parts), regex.IGNORECASE) if parts else _NEVER
