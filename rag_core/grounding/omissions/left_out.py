"""Limits that a compression left out: "unless the law requires it", "more than 500", "may", "full-time", "per day", "not".

What is left is made of the source's own words and says more than it does. A claim is held against the nearest sentence of its evidence: it
keeps what that states, and neither the limit, nor another word for one, nor the words of the limit, and the question did not ask for it.
Made for the languages whose files have `limits`; a claim in another language leaves nothing out that this module knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import regex

from rag_core.facts.differences.align import Sentence, Token, read
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.facts.sentence.numbers import ascii_digits
from rag_core.grounding.omissions.bounds import dropped_bounds, dropped_restrictions
from rag_core.grounding.omissions.denied import dropped_denials
from rag_core.grounding.omissions.rates import dropped_rates
from rag_core.grounding.omissions.said import KEPT, Said
from rag_core.grounding.omissions.told import dropped_words
from rag_core.grounding.omissions.words import LimitWords, limit_words
from rag_core.ingest.normalise import normalise

_NEAR = 0.5  # share of a claim's words that its nearest sentence holds, at least
_MIN_WORDS = 2  # a shorter statement cannot be limited
_MAX_TOKENS = 160  # words of a sentence; longer ones are tables or lists
_ADJECTIVES = 3  # words at most between "every" and its noun
_ALL_OR_NONE = ("all", "no")  # levels of quantifiers
_FIRST = 2  # words of a relative clause that say whether it was kept


def omissions(claim: str, evidence: str, lang: str, question: str = "") -> tuple[str, ...]:
    """The limits of the evidence that a claim lacks, in the evidence's words, each once; () for none.

    Args:
        claim: a sentence that a model made from the evidence.
        evidence: whole sentences, raw or in reading form.
        lang: of both, ISO 639-1.
        question: what was asked; a limit that it states need not be said again.
    """
    limits = limit_words(lang)
    said, told, asked = _reading(claim), _reading(evidence), _reading(question)
    if limits is None:
        return ()
    mine = Said.of(said, lang)
    one = _Comparison(mine, Said.of(asked, lang), told, lang, limits, limits.said(said), limits.said(told))
    sentences = read(told, lang)
    near = _nearest(mine, sentences)
    each = [list(dict.fromkeys(one.lacking(sentence))) for sentence in near]
    found = each[0] if each and all(each) else []
    found += dropped_bounds(said, told, asked, lang, limits)
    found += dropped_rates(said, told, asked, lang, limits)
    found += dropped_denials(mine, sentences, told, lang, limits)
    return tuple(dict.fromkeys(found))


def _nearest(mine: Said, theirs: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that hold most of a claim's words; none where that is less than `_NEAR` of them."""
    counts = [len(mine.stems & sentence.terms) for sentence in theirs]
    best = max(counts, default=0)
    enough = best and best >= _NEAR * len(mine.stems)
    return [one for one, count in zip(theirs, counts, strict=True) if count == best and len(one.tokens) <= _MAX_TOKENS] if enough else []


class _Condition(NamedTuple):
    """A condition or exception, `told[start:end]` with its marker: its words, and those of the statement that it limits."""

    start: int
    end: int
    words: Sequence[Token]
    statement: Sequence[Token]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A claim and its question beside the evidence `told`, and how often both have each phrase by which a condition is said."""

    mine: Said
    asked: Said
    told: str
    lang: str
    limits: LimitWords
    conditional: Counter[str]
    beside: Counter[str]

    def lacking(self, sentence: Sentence) -> Iterator[str]:
        """The limits of one sentence that the claim lacks."""
        found = [*self._conditions(sentence), *self._conditions_before(sentence)]
        lost = (one for one in found if not self._says_one(one) and self._states(one.statement) and not self._mentions(one))
        yield from (self.told[one.start : one.end] for one in lost)
        yield from self._modals(sentence, found)
        yield from _dropped_adjectives(sentence, self.told, self.mine, self.asked, self.limits)
        yield from _dropped_relatives(sentence, self.told, self.mine, self.asked, self.limits)
        yield from dropped_words(self.mine, self.asked, sentence, self.told, self.lang, self.limits)
        yield from dropped_restrictions(sentence, self.told, self.mine, self.asked, self.lang, self.limits)

    def _says_one(self, one: _Condition) -> bool:
        """Whether the claim has a word for a condition, beside those that the evidence has outside this one."""
        inside = self.limits.said(self.told[one.start : one.end]) if self.conditional else Counter[str]()
        return any(count > self.beside[phrase] - inside[phrase] for phrase, count in self.conditional.items())

    def _states(self, statement: Sequence[Token]) -> bool:
        """Whether the claim keeps a statement."""
        words = [token for token in statement if not token.light]
        return len(words) >= _MIN_WORDS and self.mine.share(words) >= KEPT

    def _mentions(self, one: _Condition) -> bool:
        """Whether the claim has words that only the condition has, or the question states the condition."""
        also = {token.stem for token in one.statement}
        words = [token for token in one.words if not token.light and token.stem not in also]
        return self.asked.share(words) >= KEPT or any(self.mine.has(token) and not self.asked.has(token) for token in words)

    def _conditions(self, sentence: Sentence) -> Iterator[_Condition]:
        """The conditions and exceptions of a sentence, each behind its marker, with the statement before or behind it.

        Where neither a comma nor "then" tells where one at the beginning ends, its first word stands for it.
        """
        tokens = sentence.tokens
        for match in self._all_of((self.limits.conditions, self.limits.besides), sentence):
            first, after = (sum(token.start < place for token in tokens) for place in match.span())
            if after == len(tokens):
                continue
            begin, stop, end = self._begin(tokens, first), self._stop(tokens, after), self._end(tokens, after)
            statement = tokens[begin:first]
            if all(token.light for token in statement):
                stop, statement = (stop, tokens[stop:end]) if stop < end else (after + 1, tokens[after:end])
            yield _Condition(match.start(), tokens[stop - 1].end, tokens[after:stop], statement)

    def _conditions_before(self, sentence: Sentence) -> Iterator[_Condition]:
        """Those of a word before their marker, "सोमवार को छोड़कर"; all the rest is the statement."""
        tokens = sentence.tokens
        for match in self._all_of((self.limits.behind, self.limits.besides_behind), sentence):
            marker, after = (sum(token.start < place for token in tokens) for place in match.span())
            if marker:
                word = marker - 1
                yield _Condition(tokens[word].start, match.end(), tokens[word:marker], (*tokens[:word], *tokens[after:]))

    def _all_of(self, patterns: tuple[regex.Pattern[str], regex.Pattern[str]], sentence: Sentence) -> Iterator[regex.Match[str]]:
        """The matches of markers in a sentence; those of the second pattern where it speaks of all or none."""
        of_all = any(one.kind == "quantifier" and one.level in _ALL_OR_NONE for one in sentence.markers)
        for pattern in patterns if of_all else patterns[:1]:
            yield from pattern.finditer(self.told, sentence.start, sentence.end)

    def _begin(self, tokens: Sequence[Token], place: int) -> int:
        """Where the statement begins that ends before a place: behind a stop or a word that joins statements."""
        start = place
        while start and not self._joins(tokens, start - 1) and not self._parted(tokens, start):
            start -= 1
        return start

    def _joins(self, tokens: Sequence[Token], place: int) -> bool:
        """Whether a word joins statements, "and", ", which"; before a number it joins values."""
        word = tokens[place].folded
        if word in self.limits.joins:
            return place + 1 == len(tokens) or not tokens[place + 1].text[0].isdecimal()
        return word in self.limits.relative and place > 0 and "," in self.told[tokens[place - 1].end : tokens[place].start]

    def _stop(self, tokens: Sequence[Token], place: int) -> int:
        """Where a condition ends that is under way at a place: before a comma, "then" or a stop."""
        end = place + 1
        while end < len(tokens) and not self._parted(tokens, end) and tokens[end].folded not in self.limits.then:
            if "," in self.told[tokens[end - 1].end : tokens[end].start]:
                break
            end += 1
        return end

    def _end(self, tokens: Sequence[Token], place: int) -> int:
        """Where the clause ends that is under way at a place."""
        return next((n for n in range(place + 1, len(tokens)) if self._parted(tokens, n)), len(tokens))

    def _parted(self, tokens: Sequence[Token], place: int) -> bool:
        """Whether a stop stands before a word; those in "31. Dezember" and "7:30" are none."""
        before, token = tokens[place - 1], tokens[place]
        gap = self.told[before.end : token.start]
        in_number = before.text.isdecimal() and (gap == ". " or (gap in (".", ":") and token.text.isdecimal()))
        return before.clause != token.clause and not in_number

    def _modals(self, sentence: Sentence, conditions: Sequence[_Condition]) -> Iterator[str]:
        """Words for what may or should be done, where the claim says that it is done."""
        tokens = sentence.tokens
        for marker in sentence.markers if not (self.mine.is_modal() or self.limits.modal.search(self.mine.text)) else ():
            text = " ".join(token.folded for token in tokens[marker.start : marker.end])
            if marker.kind != "modality" or text not in self.limits.modals:
                continue
            begin, end = self._begin(tokens, marker.start), marker.end
            while end < len(tokens) and not self._parted(tokens, end) and not self._joins(tokens, end):
                end += 1
            governed = next((token for token in tokens[marker.end : end] if not token.light), None)
            if self.limits.modal_before_verb and not (governed and self.mine.has(governed)):
                continue
            around = (*tokens[begin : marker.start], *tokens[marker.end : end])
            if self._states([token for token in around if not any(one.start <= token.start < one.end for one in conditions)]):
                yield self.told[tokens[marker.start].start : tokens[marker.end - 1].end]


def _reading(text: str) -> str:
    return ascii_digits(" | ".join(normalise(cell).text for cell in strip_marks(text).split("\t")).strip())


def _dropped_adjectives(sentence: Sentence, told: str, mine: Said, asked: Said, limits: LimitWords) -> Iterator[str]:
    """The words between "every" and its noun, where the claim speaks of every one of them and the question does not name them."""
    tokens = sentence.tokens
    for first in (n for n, token in enumerate(tokens) if token.folded in limits.all):
        for noun in range(first + 2, min(first + 2 + _ADJECTIVES, len(tokens))):
            between = tokens[first + 1 : noun]
            if not _run_on(tokens[first : noun + 1], told) or not all(_says(sentence, n) for n in range(first + 1, noun)):
                break
            if mine.is_general(tokens[noun], limits.all) and not any(mine.has(token) or asked.has(token) for token in between):
                yield told[tokens[first].start : tokens[noun].end]
                break


def _dropped_relatives(sentence: Sentence, told: str, mine: Said, asked: Said, limits: LimitWords) -> Iterator[str]:
    """The words that follow a noun behind "who", where the claim speaks of every one of them.

    The noun stands behind "every", or begins the sentence and no comma follows it: what a comma parts from it restricts nothing.
    """
    tokens = sentence.tokens
    for place in (n for n in range(1, len(tokens)) if tokens[n].folded in limits.who):
        noun, start = tokens[place - 1], 0 if place == 1 else place - 2
        begins = place == 1 and told[noun.end : tokens[place].start] == " "
        if noun.light or not (begins or (place > 1 and tokens[start].folded in limits.all)):
            continue
        words = [token for token in tokens[place + 1 :] if not token.light][:_FIRST]
        if words and mine.is_general(noun, limits.all) and not any(mine.has(token) or asked.has(token) for token in words):
            yield told[tokens[start].start : words[-1].end]


def _run_on(tokens: Sequence[Token], told: str) -> bool:
    """Whether nothing but blanks and hyphens stands between these words, and a blank behind the first."""
    gaps = [told[one.end : other.start] for one, other in pairwise(tokens)]
    return gaps[0] == " " and all(gap in (" ", "-", "\u2011") for gap in gaps)


def _says(sentence: Sentence, place: int) -> bool:
    """Whether a word may be an adjective."""
    return sentence.says(place) and not sentence.tokens[place].text[0].isdecimal()
