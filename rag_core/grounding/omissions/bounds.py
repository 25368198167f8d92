"""Bounds that a compression left out: a value that its evidence has as the end of a range only, and what a bounded value restricts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import regex

from rag_core.facts.differences.align import Sentence, Token
from rag_core.facts.differences.values import values
from rag_core.facts.sentence.dates import Date, Time
from rag_core.facts.sentence.lexicon import dimension
from rag_core.facts.sentence.numbers import Quantity
from rag_core.grounding.omissions.said import KEPT, Said
from rag_core.grounding.omissions.words import LimitWords

_BEFORE, _BEHIND = 40, 30  # characters in which a bound is looked for
_RANGE = 15  # characters between the ends of a range, at most
_VALUE_BEFORE = regex.compile(r"\p{Nd}[^\p{L}]*\p{L}{0,4}\.?\s*$")  # a value right before a bound, which ends a range then: "z 5 % do 10 %"
_TIME = "time"  # a dimension of units
_OF = 3  # words between a bound behind its value and the noun that both restrict

_Point = Date | Time | Quantity


def dropped_bounds(claim: str, evidence: str, question: str, lang: str, limits: LimitWords) -> list[str]:
    """The bounded values of the evidence that the claim states without any bound; all are reading forms with ASCII digits."""
    mine, asked = values(claim, lang).quantities, values(question, lang).quantities
    if limits.bounded.search(claim):
        return _dropped_points(claim, evidence, lang, limits)
    found = []
    for one in mine:
        same = [other for other in values(evidence, lang).quantities if not other.ordinal and equal(one, other)]
        given = any(equal(one, other) and _is_bounded(question, other, limits) for other in asked)
        if same and not one.ordinal and not given and not _is_loose(claim, one, limits):
            bounds = [_bound(evidence, other, limits) for other in same]
            found += bounds[:1] if all(bounds) else []
    return found + _dropped_points(claim, evidence, lang, limits)


def _dropped_points(claim: str, evidence: str, lang: str, limits: LimitWords) -> list[str]:
    """Dates, times and places in a row from or until which something holds, where the claim says that it holds on them."""
    if limits.points.search(claim):
        return []
    mine, theirs = values(claim, lang), values(evidence, lang)
    found = []
    for said, told in (
        ([*mine.dates], [*theirs.dates]),
        ([*mine.times], [*theirs.times]),
        ([one for one in mine.quantities if one.ordinal], _places(theirs.quantities, evidence, limits)),
    ):
        for one in said:
            same = [other for other in told if _same_point(one, other)]
            if same and not _in_range(claim, one, said):
                bounds = [_point(evidence, other, told, limits) for other in same]
                found += bounds[:1] if all(bounds) else []
    return found


def dropped_restrictions(sentence: Sentence, evidence: str, mine: Said, asked: Said, lang: str, limits: LimitWords) -> Iterator[str]:
    """The nouns that a bounded value restricts, "flights of more than 7 hours", where the claim has the noun without it."""
    said = (*values(mine.text, lang).quantities, *values(asked.text, lang).quantities)
    for one in values(evidence, lang).quantities:
        if not sentence.start <= one.start < sentence.end or any(equal(one, other) for other in said):
            continue
        if before := limits.restricts_before.search(evidence, max(sentence.start, one.start - _BEFORE), one.start):
            start, noun = before.start(), _noun_before(sentence, evidence, before.start(), limits)
            end = one.end
        else:
            behind = limits.bounds_behind.match(evidence, one.end) if limits.of else None
            start, noun = one.start, _noun_behind(sentence, behind.end(), limits) if behind else None
            end = noun.end if noun else one.end
        if noun and mine.has(noun) and _states(sentence, noun, start, end, mine):
            yield evidence[min(start, noun.start) : end]


def _states(sentence: Sentence, noun: Token, start: int, end: int, mine: Said) -> bool:
    """Whether the claim keeps the rest of the clause."""
    rest = [one for one in sentence.tokens if one.clause == noun.clause and not one.light and not start <= one.start < end]
    return mine.share(rest) >= KEPT


def _noun_before(sentence: Sentence, evidence: str, bound: int, limits: LimitWords) -> Token | None:
    """The noun right before a bound, with an adjective at most: first in its clause, or behind "on" or "every"."""
    place = sum(token.start < bound for token in sentence.tokens) - 1
    token = sentence.tokens[place]
    if place < 0 or token.light or token.text[0].isdecimal() or evidence[token.end : bound].strip():
        return None
    before = [one for one in sentence.tokens[max(0, place - 2) : place] if one.clause == token.clause]
    begins = not before or (len(before) == 1 and not before[0].light)
    behind_on = any(one.folded in limits.on for one in before[-1:]) or (len(before) == 2 and before[0].folded in limits.on)
    return token if begins or (behind_on and (before[-1].folded in limits.on or not before[-1].light)) else None


def _noun_behind(sentence: Sentence, behind: int, limits: LimitWords) -> Token | None:
    """The noun that a value with its bound before it restricts: the first word behind "of"."""
    near = [(one, noun) for one, noun in pairwise(sentence.tokens) if one.start >= behind][:_OF]
    return next((noun for one, noun in near if one.folded in limits.of and not noun.light), None)


def equal(one: Quantity, other: Quantity) -> bool:
    """Whether two values are the same, in another unit too; one of them may lack its unit."""
    if one.value == other.value:
        return one.unit == other.unit or "" in (one.unit, other.unit)
    return bool(one.unit and other.unit) and one.exact == other.exact


def _bound(text: str, one: Quantity, limits: LimitWords) -> str:
    """A value with the bound that stands right before or behind it; empty where there is none.

    "Within" goes without saying of a time only: 30 days are a deadline, 30 kilometres are not.
    """
    within = bool(one.unit) and dimension(one.unit) != _TIME
    befores = (limits.bounds_before, limits.within_before) if within else (limits.bounds_before,)
    behinds = (limits.bounds_behind, limits.within_behind) if within else (limits.bounds_behind,)
    for pattern in befores:
        before = pattern.search(text, max(0, one.start - _BEFORE), one.start)
        if before and not (pattern is limits.within_before and _VALUE_BEFORE.search(text, max(0, before.start() - _RANGE), before.start())):
            return text[before.start() : one.end]
    found = next((match for pattern in behinds if (match := pattern.match(text, one.end))), None)
    return text[one.start : found.end()] if found else ""


def _is_bounded(text: str, one: Quantity, limits: LimitWords) -> bool:
    return bool(one.bound or _bound(text, one, limits))


def _is_loose(text: str, one: Quantity, limits: LimitWords) -> bool:
    """Whether a claim says that a value is a bound."""
    near = limits.within_before.search(text, max(0, one.start - _BEFORE), one.start) or limits.within_behind.match(text, one.end)
    return bool(near or one.bound or limits.bounds.search(text, max(0, one.start - _BEFORE), one.end + _BEHIND))


def _places(found: Sequence[Quantity], text: str, limits: LimitWords) -> list[Quantity]:
    """The ordinals that count a place in a row, "the fourth day"; a century is none."""
    return [one for one in found if one.ordinal and not limits.eras.search(text, one.start, one.end + _BEHIND)]


def _same_point(one: _Point, other: _Point) -> bool:
    if isinstance(one, Date) and isinstance(other, Date):
        return any(mine.within(day) for mine in one.readings for day in other.readings)
    if isinstance(one, Time) and isinstance(other, Time):
        return one.agrees(other)
    return isinstance(one, Quantity) and isinstance(other, Quantity) and one.value == other.value


def _point(text: str, one: _Point, all_: list[Date] | list[Time] | list[Quantity], limits: LimitWords) -> str:
    """A date with what makes it an end of a time; empty where it is none, or the time has two ends."""
    if _in_range(text, one, all_):
        return ""
    if before := limits.points_before.search(text, max(0, one.start - _BEFORE), one.start):
        return text[before.start() : one.end]
    behind = limits.points_behind.match(text, one.end)
    return text[one.start : behind.end()] if behind else ""


def _in_range(text: str, one: _Point, others: list[Date] | list[Time] | list[Quantity]) -> bool:
    """Whether another value of the kind stands close by."""
    return any(0 <= other.start - one.end <= _RANGE or 0 <= one.start - other.end <= _RANGE for other in others)
