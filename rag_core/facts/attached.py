"""The words that a value is attached to: the nearest ones in its sentence, and those that it is counted from or a part of.

A value of a claim is in a wrong role where the evidence has it too, but never with the claim's words, and these with another value, or
where it is counted from something else: "30 days after signature" for "30 days after delivery". What is merely told in other words, with
words that the evidence does not have, is not called wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.facts.align import Sentence, beside, read
from rag_core.facts.lexicon import value_words
from rag_core.facts.numbers import Quantity
from rag_core.facts.roles import Value, all_values, equal_values, replaces
from rag_core.facts.values import values
from rag_core.language import alike, synonyms

_BOUNDARY = regex.compile(r"[,;:|()\n–—]")
_CROSSING = 4  # words that a comma or an "and" between a word and a value counts for
_REACH = 12  # words from a value; beyond it nothing is attached to it
_MAX_WORDS = 160  # words of a sentence; longer ones are tables, lists or hostile
_MAX_RELATIONS = 3  # words between a value and what it is counted from
_COUNTED_FROM = 3  # words of that


@dataclass(frozen=True, slots=True)
class Attached:
    """A value with the stems it is attached to. `counted_from` are those behind "after", "of" and the like, the first one first."""

    value: Value
    sentence: int
    terms: frozenset[str]
    counted_from: tuple[str, ...]


def wrong_roles(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """The values of a claim that the evidence has in another role only. Both are reading forms with ASCII digits, in one language."""
    mine, theirs = attached(claim, lang), attached(evidence, lang)
    if not mine or not theirs:
        return
    known = frozenset[str]().union(*(sentence.terms for sentence in read(evidence, lang)))
    for one in mine:
        same = [other for other in theirs if equal_values(one.value, other.value)]
        others = [other for other in theirs if replaces(one.value, other.value) and not equal_values(one.value, other.value)]
        if same and (_is_of_others(one, same, others) or _is_counted_elsewhere(one, same, known, claim, evidence, lang)):
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
        if replaces(stated[index - 1], stated[index]) and not any(map(sentence.says, range(places[index - 1] + 1, places[index]))):
            terms[index] = terms[index - 1] = terms[index - 1] | terms[index]  # values of a list share what they are attached to
    for value, words in zip(stated, terms, strict=True):
        yield Attached(value, number, frozenset(words), tuple(_counted_from(sentence, value, stated, lang)))


def _place(sentence: Sentence, value: Value) -> int:
    return max((place for place, token in enumerate(sentence.tokens) if token.start <= value.start), default=0)


def _counted_from(sentence: Sentence, value: Value, stated: Sequence[Value], lang: str) -> list[str]:
    """The first words that say something behind "after", "of" and the like; where those follow their noun, the last one before them."""
    words = value_words(lang)
    if not isinstance(value, Quantity) or not value.unit:
        return []
    before = words.relations_before
    tokens = [token for token in sentence.tokens if (token.end <= value.start if before else token.start >= value.end)]
    tokens = tokens[::-1] if before else tokens
    related = next((place for place, token in enumerate(tokens[:_MAX_RELATIONS]) if token.folded not in words.relations), 0)
    if not related:
        return []
    clause, found = tokens[0].clause, list[str]()
    for token in tokens[related : related + 2 * _COUNTED_FROM]:
        if token.clause != clause or any(other.start <= token.start < other.end for other in stated):
            break
        found += [] if token.light else [token.stem]
    return found[: 1 if before else _COUNTED_FROM]


def _is_of_others(one: Attached, same: Sequence[Attached], others: Sequence[Attached]) -> bool:
    """Whether all words of a value stand with another one of the evidence, and none of them with this one; a single word, beside it."""
    if not one.terms or not all(other.terms for other in same):
        return False
    here = frozenset[str]().union(*(other.terms for other in same))
    if one.terms & here:
        return False
    return any(
        one.terms <= other.terms and (len(one.terms) > 1 or any(other.sentence == also.sentence for also in same)) for other in others
    )


def _is_counted_elsewhere(one: Attached, same: Sequence[Attached], known: Collection[str], claim: str, evidence: str, lang: str) -> bool:
    """Whether a value is counted from something else, wherever the evidence has it."""
    if not one.counted_from or not all(other.counted_from for other in same):
        return False
    if any(_is_about(one.counted_from, other.counted_from, lang) for other in same):
        return False
    return one.counted_from[0] in known or bool(beside(read(claim, lang)[one.sentence], read(evidence, lang)))


def _is_about(mine: Sequence[str], theirs: Sequence[str], lang: str) -> bool:
    """Whether the first word of one is among the words of the other, in any form, or a synonym of one is."""
    meant = [(mine[0], theirs), (theirs[0], mine)]
    return any(alike(word, words) or any(alike(other, words) for other in synonyms(lang).get(word, ())) for word, words in meant)
