"""Compares negations of a claim in other words than its evidence: by the words that each negation bears on."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.facts.align import Sentence
from rag_core.facts.lexicon import Lexicon
from rag_core.facts.markers import Marker

_TARGETS = 2  # content words after a negation that it is taken to negate; before it when none follow
_MIN_COMMON = 1 / 3  # share of the smaller sentence's words; below it nothing is compared


def changed_negations(mine: Sentence, held: tuple[Sentence, ...], lex: Lexicon) -> Iterator[str]:
    """Negations that stand in only one of a claim's sentence and its nearest sentence of the evidence.

    The nearest is the one with the largest share of common words among all words of both.
    """
    said = _said(mine)
    if not said or not held:
        return
    near = max(held, key=lambda other: len(said & _said(other)) / len(said | _said(other)))
    theirs = _said(near)
    if not said & theirs or len(said & theirs) < min(len(said), len(theirs)) * _MIN_COMMON:
        return
    my_negated, their_negated = _negated(mine), _negated(near)
    if (my_negated - their_negated) & theirs:
        yield ", ".join(_phrases(mine)) or "negation"
    elif (their_negated - my_negated) & said:
        yield "without " + (", ".join(_phrases(near)) or "negation")
    my_words, their_words = {token.folded for token in mine.tokens}, {token.folded for token in near.tokens}
    yield from _opposites(my_words, their_words, lex, "")
    yield from _opposites(their_words, my_words, lex, "without ")


def _opposites(words: set[str], others: set[str], lex: Lexicon, prefix: str) -> Iterator[str]:
    for word in sorted(words - others):
        if (positive := lex.positive(word)) and positive in others:
            yield prefix + word


def _said(sentence: Sentence) -> frozenset[str]:
    """The stems of the content words, negations left out."""
    denied = {place for marker in sentence.markers if marker.kind == "negation" for place in range(marker.start, marker.end)}
    return frozenset(token.stem for place, token in enumerate(sentence.tokens) if not token.light and place not in denied)


def targets(sentence: Sentence, marker: Marker) -> list[int]:
    """The places of the words that a negation bears on: the next ones in its clause, or the last ones before it."""
    clause = sentence.tokens[marker.end - 1].clause
    said = [place for place, token in enumerate(sentence.tokens) if not token.light]
    after = [place for place in said if place >= marker.end and sentence.tokens[place].clause == clause]
    return after[:_TARGETS] or [place for place in said if place < marker.start][-_TARGETS:]


def _negated(sentence: Sentence) -> set[str]:
    """The stems of the words that are negated."""
    negations = (marker for marker in sentence.markers if marker.kind == "negation")
    return {sentence.tokens[place].stem for marker in negations for place in targets(sentence, marker)}


def _phrases(sentence: Sentence) -> list[str]:
    negations = (marker for marker in sentence.markers if marker.kind == "negation")
    return [" ".join(token.text for token in sentence.tokens[marker.start : marker.end]) for marker in negations]
