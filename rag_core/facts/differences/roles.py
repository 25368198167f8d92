"""Finds what a value is attached to: "30 days after signature" is not "30 days after delivery", though both say 30
days.

In a sentence that stands in the evidence nearly word for word, a value in the place of another is in a wrong role.
Elsewhere the words count to which a value is nearest, and what it is counted from or a part of: the evidence has the
value, but never with the claim's words, and these with another value. What is merely told in other words, with words
that the evidence does not have, is not called wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.facts.differences.align import Aligned, Gap, Sentence, beside, read
from rag_core.facts.differences.values import Values, values
from rag_core.facts.sentence.lexicon import dimension, value_words
from rag_core.facts.sentence.names import Entity, canonical_code
from rag_core.facts.sentence.numbers import Quantity
from rag_core.facts.sentence.times import Time, Weekday
from rag_core.language import Date, alike, synonyms

Value = Date | Time | Entity | Quantity | Weekday


def substituted_values(aligned: Aligned, mine: Values, theirs: Values, lang: str) -> Iterator[tuple[str, str]]:
    """The values of a whole claim in the place of others, as (kind, text): role, unit or code."""
    apart = [gap for gap in aligned.gaps if not gap.is_long]
    here = [_in(all_values(mine), aligned.mine, gap.i, gap.j) for gap in apart]
    there = [_in(all_values(theirs), aligned.theirs, gap.k, gap.m) for gap in apart]
    claimed = [value for row in here for value in row]
    inner = [gap for gap in aligned.gaps if gap.i < gap.j or 0 < gap.i < len(aligned.mine.tokens)]
    stated = [value for gap in inner for value in _in(all_values(theirs), aligned.theirs, gap.k, gap.m)]
    # no day is said twice by chance
    stated += [day for gap in aligned.gaps for day in _in(theirs.dates, aligned.theirs, gap.k, gap.m)]
    for gap, row, others in zip(apart, here, there, strict=True):
        left = [other for other in others if not any(equal_values(value, other) for value in row)]
        for value in row:
            # a value that has only changed its place is none in the place of another, unless both have changed places
            moved = any(equal_values(value, other) for other in stated)
            wrong = [
                other
                for other in left
                if replaces(value, other) and (not moved or any(equal_values(one, other) for one in claimed))
            ]
            if wrong and not any(equal_values(value, other) for other in others):
                yield _kind(value, wrong[0]), value.text
        if not row:
            yield from _replaced_units(
                aligned, gap, any(isinstance(other, Quantity) and other.unit for other in others), lang
            )


def all_values(values: Values) -> list[Value]:
    return [*values.dates, *values.times, *values.codes, *values.quantities, *values.weekdays]


def _in(values: Sequence[Value], sentence: Sentence, start: int, end: int) -> list[Value]:
    """The values of which a word stands between two places of a sentence."""
    if start == end:
        return []
    first, last = sentence.tokens[start].start, sentence.tokens[end - 1].end
    return [value for value in values if value.start < last and first < value.end]


def equal_values(one: Value, other: Value) -> bool:
    """Whether two values agree, as far as both are stated."""
    match one, other:
        case Quantity(), Quantity():
            named = one.value in (other.value, *other.parts) and one.unit in ("", other.unit)
            return named or one.exact == other.exact
        case Date(), Date():
            return any(day.within(reading) or reading.within(day) for day in one.readings for reading in other.readings)
        case Time(), Time():
            return one.agrees(other)
        case Weekday(), Weekday():
            return one.day == other.day
        case Entity(), Entity():
            return canonical_code(one.text) == canonical_code(other.text)
    return False


def replaces(one: Value, other: Value) -> bool:
    """Whether a value may stand for another one: both of a kind, numbers of one dimension or of one amount."""
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        alike = one.is_year == other.is_year and one.ordinal == other.ordinal
        return alike and (one.value == other.value or dimension(one.unit) == dimension(other.unit))
    return type(one) is type(other)


def _kind(value: Value, other: Value) -> str:
    if isinstance(value, Quantity) and isinstance(other, Quantity) and value.value == other.value:
        return "unit"
    return "code" if isinstance(value, Entity) else "role"


def _replaced_units(aligned: Aligned, gap: Gap, of_number: bool, lang: str) -> Iterator[tuple[str, str]]:
    """Units in the place of others, apart from their number, and unknown ones behind it."""
    units, mine, theirs = (
        value_words(lang).units,
        aligned.mine.tokens[gap.i : gap.j],
        aligned.theirs.tokens[gap.k : gap.m],
    )
    named = {token.folded: units[token.folded] for token in mine if token.folded in units}
    others = {units[token.folded] for token in theirs if token.folded in units}
    yield from (("unit", word) for word, unit in named.items() if others and unit not in others)
    behind = of_number and bool(mine) and gap.i > 0 and aligned.mine.tokens[gap.i - 1].text[0].isdecimal()
    if (
        behind
        and not named
        and theirs
        and theirs[0].folded in units
        and mine[0].folded[0] != theirs[0].folded[0]
        and not mine[0].light
    ):
        yield "unit", mine[0].text  # "Std." may be short for "Stunden"


_BOUNDARY = regex.compile(r"[,;:|()\n–—]")
_CROSSING = 4  # words that a comma or an "and" between a word and a value counts for
_REACH = 12  # words from a value; beyond it nothing is attached to it
_MAX_WORDS = 160  # words of a sentence; longer ones are tables, lists or hostile
_MAX_RELATIONS = 3  # words between a value and what it is counted from
_COUNTED_FROM = 3  # words of that


@dataclass(frozen=True, slots=True)
class Attached:
    """A value with the stems it is attached to; `counted_from` are those behind "after", "of" and the like."""

    value: Value
    sentence: int
    terms: frozenset[str]
    counted_from: tuple[str, ...]


def wrong_roles(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """The values of a claim that the evidence has in another role only; reading forms with ASCII digits."""
    mine, theirs = attached(claim, lang), attached(evidence, lang)
    if not mine or not theirs:
        return
    known = frozenset[str]().union(*(sentence.terms for sentence in read(evidence, lang)))
    for one in mine:
        same = [other for other in theirs if equal_values(one.value, other.value)]
        others = [
            other for other in theirs if replaces(one.value, other.value) and not equal_values(one.value, other.value)
        ]
        if same and (
            _is_of_others(one, same, others) or _is_counted_elsewhere(one, same, known, claim, evidence, lang)
        ):
            yield one.value.text


@lru_cache(maxsize=256)
def attached(text: str, lang: str) -> tuple[Attached, ...]:
    """The values of a text, each with what it is attached to."""
    found, stated = list[Attached](), sorted(all_values(values(text, lang)), key=lambda value: value.start)
    starts = [value.start for value in stated]
    for number, sentence in enumerate(read(text, lang)):
        first, last = bisect_left(starts, sentence.tokens[0].start), bisect_left(starts, sentence.tokens[-1].end)
        if len(sentence.tokens) <= _MAX_WORDS:
            found += _of_sentence(text, number, sentence, stated[first:last], lang)
    return tuple(found)


def _of_sentence(text: str, number: int, sentence: Sentence, stated: Sequence[Value], lang: str) -> Iterator[Attached]:
    if not stated:
        return
    joins, segment, segments = value_words(lang).joins, 0, list[int]()
    for place, token in enumerate(sentence.tokens):
        crossed = place and _BOUNDARY.search(text, sentence.tokens[place - 1].end, token.start)
        segment += bool(crossed) or token.folded in joins
        segments.append(segment)
    places = [_place(sentence, value) for value in stated]
    terms: list[set[str]] = [set() for _ in stated]
    for place, token in enumerate(sentence.tokens):
        if not sentence.says(place) or any(value.start <= token.start < value.end for value in stated):
            continue
        apart = [abs(place - at) + _CROSSING * abs(segments[place] - segments[at]) for at in places]
        if (nearest := min(apart)) <= _REACH:
            terms[apart.index(nearest)].add(token.stem)
    for index in range(1, len(stated)):
        if replaces(stated[index - 1], stated[index]) and not any(
            map(sentence.says, range(places[index - 1] + 1, places[index]))
        ):
            # values of a list share what they are attached to
            terms[index] = terms[index - 1] = terms[index - 1] | terms[index]
    for value, words in zip(stated, terms, strict=True):
        yield Attached(value, number, frozenset(words), tuple(_counted_from(sentence, value, stated, lang)))


def _place(sentence: Sentence, value: Value) -> int:
    return max((place for place, token in enumerate(sentence.tokens) if token.start <= value.start), default=0)


def _counted_from(sentence: Sentence, value: Value, stated: Sequence[Value], lang: str) -> list[str]:
    """The first telling words behind "after", "of" and the like, or the last one before them."""
    words = value_words(lang)
    if not isinstance(value, Quantity) or not value.unit:
        return []
    before = words.relations_before
    tokens = [token for token in sentence.tokens if (token.end <= value.start if before else token.start >= value.end)]
    tokens = tokens[::-1] if before else tokens
    related = next(
        (place for place, token in enumerate(tokens[:_MAX_RELATIONS]) if token.folded not in words.relations), 0
    )
    if not related:
        return []
    clause, found = tokens[0].clause, list[str]()
    for token in tokens[related : related + 2 * _COUNTED_FROM]:
        if token.clause != clause or any(other.start <= token.start < other.end for other in stated):
            break
        found += [] if token.light or token.folded in words.possessives else [token.stem]
    return found[: 1 if before else _COUNTED_FROM]


def _is_of_others(one: Attached, same: Sequence[Attached], others: Sequence[Attached]) -> bool:
    """Whether all of a value's words stand with another one of the evidence, and none with this."""
    if not one.terms or not all(other.terms for other in same):
        return False
    here = frozenset[str]().union(*(other.terms for other in same))
    if one.terms & here:
        return False
    return any(
        one.terms <= other.terms and (len(one.terms) > 1 or any(other.sentence == also.sentence for also in same))
        for other in others
    )


def _is_counted_elsewhere(
    one: Attached, same: Sequence[Attached], known: Collection[str], claim: str, evidence: str, lang: str
) -> bool:
    """Whether a value is counted from something else, wherever the evidence has it."""
    if not one.counted_from or not all(other.counted_from for other in same):
        return False
    if any(_is_about(one.counted_from, other.counted_from, lang) for other in same):
        return False
    return one.counted_from[0] in known or bool(beside(read(claim, lang)[one.sentence], read(evidence, lang)))


def _is_about(mine: Sequence[str], theirs: Sequence[str], lang: str) -> bool:
    """Whether the first word of one is among the words of the other, in any form, or a synonym of one is."""
    meant = [(mine[0], theirs), (theirs[0], mine)]
    return any(
        alike(word, words) or any(alike(other, words) for other in synonyms(lang).get(word, ()))
        for word, words in meant
    )
