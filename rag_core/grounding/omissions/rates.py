"""Rates that a compression left out: "0.05 % per day" is more than 0.05 %.

A rate is a value with what it is counted by, behind it ("5 euros for each kilogram"), before it ("for each kilogram 5 euros"), or in one
word ("daily", "monatlich"). It belongs to the value before it in its clause, and where there is none, to the one behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from rag_core.facts.differences.values import values
from rag_core.facts.sentence.lexicon import dimension, value_words
from rag_core.facts.sentence.numbers import Quantity
from rag_core.grounding.omissions.bounds import equal
from rag_core.grounding.omissions.words import LimitWords
from rag_core.language import fold, words

_BEHIND, _BEFORE = 60, 40  # characters between a value and its rate, by hand: "of the price of the work that is delayed"
_NO_YEAR = r"(?!\s*(?:1[5-9]|2[01])\d\d(?!\d))"  # "im Jahr 2020" is no rate
_NEXT = regex.compile(rf"\s+([\p{{L}}\p{{M}}]+){_NO_YEAR}")
_UNIT = regex.compile(rf"\s+[\p{{L}}\p{{M}}\p{{N}}]+\s+([\p{{L}}\p{{M}}]+){_NO_YEAR}")  # with a word between: "each started day"
_WORDS_BEHIND, _WORDS_BEFORE = 1, 2  # words between a value and "daily": "30 litres daily", "a daily fee of 30 euros"
_BOUNDARY = regex.compile(r"[,;:|()!?।\n]|\.\s")
_BY_SLASH = regex.compile(r"\s?/\s?\p{L}")
_PAID = frozenset({"currency", "share"})  # dimensions of money and shares, of which "monthly" makes a rate


@dataclass(frozen=True, slots=True)
class _Rate:
    """The words that a value is counted by, `text[start:end]`; `one_word` where it is said in one, like "daily"."""

    start: int
    end: int
    one_word: bool


def dropped_rates(claim: str, evidence: str, question: str, lang: str, limits: LimitWords) -> Iterator[str]:
    """The values of the evidence with their rates, where the claim has the value by itself and the question names no rate.

    All are reading forms with ASCII digits.
    """
    mine, free = _bound(claim, lang, limits)
    if free or _rates(question, lang, limits):
        return
    theirs, _ = _bound(evidence, lang, limits)
    for one, rate in mine:
        same = [(other, of) for other, of in theirs if equal(one, other)]
        if rate is None and same and all(of for _, of in same):
            other, of = same[0]
            if of is not None:
                yield evidence[min(other.start, of.start) : max(other.end, of.end)]


def _bound(text: str, lang: str, limits: LimitWords) -> tuple[list[tuple[Quantity, _Rate | None]], bool]:
    """The values of a text, each with its rate, and whether there is a rate that belongs to none of them."""
    counted = [one for one in values(text, lang).quantities if not one.ordinal and not one.is_year]
    found: dict[int, _Rate] = {}
    free = False
    for rate in _rates(text, lang, limits):
        near = [one for one in counted if one.end <= rate.start or one.start >= rate.end]
        place = _of(text, near, rate, limits)
        free = free or place is None
        if place is not None:
            found.setdefault(place.start, rate)
    slashed = {one.start: _Rate(one.end, match.end(), False) for one in counted if (match := _BY_SLASH.match(text, one.end))}
    return [(one, slashed.get(one.start) or found.get(one.start)) for one in counted], free


def _of(text: str, counted: Sequence[Quantity], rate: _Rate, limits: LimitWords) -> Quantity | None:
    """The value that a rate belongs to."""
    before = [one for one in counted if one.end <= rate.start]
    if before and _is_near(text, before[-1].end, rate.start, _BEHIND, _WORDS_BEHIND if rate.one_word else None, limits):
        return before[-1]
    behind = next((one for one in counted if one.start >= rate.end), None)
    if behind and _is_near(text, rate.end, behind.start, _BEFORE, _WORDS_BEFORE if rate.one_word else None, limits):
        return behind if not rate.one_word or _is_paid(behind) else None
    return None


def _is_near(text: str, start: int, end: int, chars: int, most: int | None, limits: LimitWords) -> bool:
    """Whether only so much stands between two places, no boundary of a clause, and no word that joins statements."""
    if end - start > chars or _BOUNDARY.search(text, start, end):
        return False
    between = [fold(word.text) for word in words(text[start:end])]
    return limits.joins.isdisjoint(between) and (most is None or len(between) <= most)


def _is_paid(one: Quantity) -> bool:
    return dimension(one.unit) in _PAID


def _rates(text: str, lang: str, limits: LimitWords) -> list[_Rate]:
    """The rates of a text in their order."""
    units, without = value_words(lang).units, [match.span() for match in limits.no_rates.finditer(text)]
    found = []
    for match in limits.rates.finditer(text):
        if not any(start <= match.start() < end for start, end in without) and (after := words(text[match.end() : match.end() + _BEFORE])):
            found.append(_Rate(match.start(), match.end() + after[0].end, False))
    for match in limits.rates_of_unit.finditer(text):
        near = (pattern.match(text, match.end()) for pattern in (_NEXT, _UNIT))
        unit = next((one for one in near if one and fold(one[1]) in units), None)
        if unit:
            found.append(_Rate(match.start(), unit.end(), False))
    found += [_Rate(match.start(), match.end(), True) for match in limits.rate_words.finditer(text)]
    return sorted(found, key=lambda one: one.start)
