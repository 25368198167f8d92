"""Denials that a compression left out: a claim says of its words what the clause that they stand in denies.

A claim is held against the clause of its evidence that has most of its words. Where that clause denies them ("is not refunded", "není
vratná", "nobody", "unpaid"), the claim has to deny something too, in these or other words. `rag_core.facts.differences.substitution`
sees a lost "not" where the rest stands nearly word for word; here the words may stand in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag_core.facts.differences.align import Sentence
from rag_core.facts.sentence.lexicon import Lexicon, lexicon
from rag_core.facts.sentence.markers import Marker
from rag_core.grounding.omissions.said import Said
from rag_core.grounding.omissions.words import LimitWords
from rag_core.language import LANGUAGES

_OF_CLAIM = 2 / 3  # share of a claim's words that its clause has, at least, by hand: half of "Employees are insured" stands in any clause
_MIN_WORDS = 2  # a claim with fewer words that say something is about no clause
_TARGETS = 2  # words behind a denial that it denies, as in `rag_core.facts.differences.substitution`; before it where none follow
_MAX_TOKENS = 160  # words of a sentence; longer ones are tables or lists


class _Denial(NamedTuple):
    """Words `start` to `end` of a sentence that deny others, and those that they deny."""

    start: int
    end: int
    denied: tuple[str, ...]


def dropped_denials(claim: Said, evidence: Sequence[Sentence], told: str, lang: str, limits: LimitWords) -> Iterator[str]:
    """The denials of the clause that a claim is nearest to, each with the words that it denies, where the claim denies nothing.

    Nothing where another clause has as many of the claim's words and denies none of them.
    """
    lex = lexicon(lang)
    for mine in claim.sentences:
        said = mine.said
        if len(said) < _MIN_WORDS or len(mine.tokens) > _MAX_TOKENS or _denies(mine, evidence, lex):
            continue
        clauses = [(one, clause) for one in evidence if len(one.tokens) <= _MAX_TOKENS for clause in _clauses(one, told, limits)]
        counts = [len(said & {one.tokens[place].stem for place in clause}) for one, clause in clauses]
        best = max(counts, default=0)
        if best < _OF_CLAIM * len(said):
            continue
        near = [pair for pair, count in zip(clauses, counts, strict=True) if count == best]
        found = [_of(one, clause, mine, lex, lang) for one, clause in near]
        if all(found):
            yield from (
                told[one.tokens[denial.start].start : one.tokens[denial.end - 1].end]
                for (one, _), denial in zip(near, found, strict=True)
                if denial
            )


def _of(sentence: Sentence, clause: range, mine: Sentence, lex: Lexicon, lang: str) -> _Denial | None:
    """The first denial in a clause whose denied words the claim has."""
    stems, folded = {token.stem for token in mine.tokens}, {token.folded for token in mine.tokens}
    for one in _denials(sentence, clause, lex, lang):
        if one.denied and all(word in stems or word in folded for word in one.denied):
            return one
    return None


def _denials(sentence: Sentence, clause: range, lex: Lexicon, lang: str) -> Iterator[_Denial]:
    """The denials in a clause: markers, negated auxiliaries, and words that are negative by their form."""
    tokens, light = sentence.tokens, LANGUAGES.or_fallback(lang).function_words
    for marker in sentence.markers:
        if marker.start in clause and marker.negates and not _is_part(marker, sentence.markers):
            yield _Denial(marker.start, *_denied(sentence, clause, marker.start, marker.end))
    for place in clause:
        positive = lex.positive(tokens[place].folded)
        if not positive:
            continue
        if tokens[place].light or positive in light or tokens[place].folded in lex.negated_words:
            yield _Denial(place, *_denied(sentence, clause, place, place + 1))
        else:
            yield _Denial(place, place + 1, (positive,))


def _is_part(one: Marker, all_: Sequence[Marker]) -> bool:
    """Whether a marker stands inside a longer one that denies nothing: "no later than"."""
    return any(
        other.start <= one.start and one.end <= other.end and one.end - one.start < other.end - other.start and not other.negates
        for other in all_
    )


def _denied(sentence: Sentence, clause: range, start: int, end: int) -> tuple[int, tuple[str, ...]]:
    """Up to where a denial reaches, and the stems of the words that it bears on: the next ones in its clause, else the last ones before."""
    behind = [place for place in clause if place >= end and sentence.says(place)][:_TARGETS]
    if behind:
        return behind[-1] + 1, tuple(sentence.tokens[place].stem for place in behind)
    before = [place for place in clause if place < start and sentence.says(place)][-_TARGETS:]
    return end, tuple(sentence.tokens[place].stem for place in before)


def _denies(mine: Sentence, evidence: Sequence[Sentence], lex: Lexicon) -> bool:
    """Whether a claim denies anything, in whatever words; a word that the evidence has as well only where it is no negative form."""
    known = {token.folded for one in evidence for token in one.tokens}
    if any(marker.negates and not _is_part(marker, mine.markers) for marker in mine.markers):
        return True
    return any(
        (positive := lex.positive(token.folded)) and (positive in known or token.folded in lex.negated_words) for token in mine.tokens
    )


def _clauses(sentence: Sentence, told: str, limits: LimitWords) -> Iterator[range]:
    """The places of a sentence's words, clause by clause: parted by stops, commas and words like "and"."""
    start, tokens = 0, sentence.tokens
    for place, token in enumerate(tokens):
        gap = told[tokens[place - 1].end : token.start] if place else ""
        if place > start and (token.clause != tokens[place - 1].clause or "," in gap or token.folded in limits.joins):
            yield range(start, place)
            start = place
    yield range(start, len(tokens))
