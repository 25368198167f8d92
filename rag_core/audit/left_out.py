"""Limits that a compression left out: "unless the law requires it", "more than 500", "may", "full-time" (S0-26).

What is left is made of the source's own words and says more than it does. A claim is held against the nearest sentence of its evidence: it
keeps what that states, and neither the limit, nor another word for one, nor the words of the limit, and the question did not ask for it.
Made for English, Czech, German and Hindi (`data/limits.json`); a claim in another language leaves nothing out that this module knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rag_core.audit.citations import strip_marks
from rag_core.audit.facts.align import Sentence, Token, read
from rag_core.audit.facts.numbers import ascii_digits
from rag_core.audit.left_out_values import dropped_bounds, dropped_restrictions
from rag_core.audit.limit_words import LimitWords, limit_words
from rag_core.ingest.normalise import normalise
from rag_core.language import alike

_KEPT = 0.5  # share of a statement's words from which a claim states it, and of a condition's from which a question does
_NEAR = 0.5  # share of a claim's words that its nearest sentence holds, at least
_LEAST_WORDS = 2  # of a statement that can be limited
_BEFORE = 2  # words that a condition has before its marker, where that stands behind it
_ADJECTIVES = 3  # words at most between "every" and its noun
_MOST_TOKENS = 160  # of a sentence; longer ones are tables or lists
_UPPER = "amount-"
_VERB_NEXT = frozenset({"en"})  # languages in which a modal stands right before its verb


def left_out(claim: str, evidence: str, lang: str, question: str = "") -> tuple[str, ...]:
    """The limits of the evidence that a claim lacks, in the evidence's words, each once; () for none.

    Args:
        claim: a sentence that a model made from the evidence.
        evidence: whole sentences, raw or in reading form.
        lang: of both, ISO 639-1.
        question: what was asked; a limit that it states need not be said again.
    """
    limits = limit_words(lang)
    said, told, asked = _reading(claim), _reading(evidence), _reading(question)
    if limits is None or not said or told.strip(" .") == said.strip(" ."):
        return ()
    mine = _Said.of(said, lang)
    one = _Comparison(mine, _Said.of(asked, lang), told, lang, limits)
    near = _nearest(mine, read(told, lang))
    each = [list(dict.fromkeys(one.lacking(sentence))) for sentence in near]
    found = each[0] if each and all(each) else []
    found += dropped_bounds(said, told, asked, lang, limits)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Said:
    """What a text says: its sentences, and the words of them all."""

    text: str
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    folded: frozenset[str]

    @classmethod
    def of(cls, text: str, lang: str) -> _Said:
        """Read a text."""
        sentences = read(text, lang)
        tokens = [token for sentence in sentences for token in sentence.tokens if not token.light]
        return cls(text, sentences, frozenset(token.stem for token in tokens), frozenset(token.folded for token in tokens))

    def has(self, token: Token) -> bool:
        """Whether a form of a word stands here; a number only as it is."""
        return token.stem in self.stems or (not token.text[0].isdecimal() and bool(alike(token.folded, self.folded)))

    def share(self, tokens: Sequence[Token]) -> float:
        """The share of these words that stand here, in [0, 1]; 0 of none."""
        return sum(map(self.has, tokens)) / len(tokens) if tokens else 0.0

    def is_modal(self) -> bool:
        """Whether it says what must or may be done, or names an upper bound of it."""
        found = [marker for sentence in self.sentences for marker in sentence.markers]
        return any(marker.kind == "modality" or (marker.kind == "comparison" and marker.level == _UPPER) for marker in found)


def _nearest(mine: _Said, theirs: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that hold most of a claim's words; none where that is less than `_NEAR` of them."""
    counts = [len(mine.stems & sentence.terms) for sentence in theirs]
    best = max(counts, default=0)
    enough = best and best >= _NEAR * len(mine.stems)
    return [one for one, count in zip(theirs, counts, strict=True) if count == best and len(one.tokens) <= _MOST_TOKENS] if enough else []


class _Condition(NamedTuple):
    """A condition or exception, `told[start:end]` with its marker: its words, and those of the statement that it limits."""

    start: int
    end: int
    words: Sequence[Token]
    statement: Sequence[Token]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A claim and its question beside the evidence `told`."""

    mine: _Said
    asked: _Said
    told: str
    lang: str
    limits: LimitWords

    def lacking(self, sentence: Sentence) -> Iterator[str]:
        """The limits of one sentence that the claim lacks."""
        found = [*self._conditions(sentence), *self._conditions_before(sentence)]
        patterns = (self.limits.conditions, self.limits.behind, self.limits.kept)
        if not any(pattern.search(self.mine.text) for pattern in patterns):
            yield from (self.told[one.start : one.end] for one in found if self._states(one.statement) and not self._mentions(one))
        yield from self._modals(sentence, found)
        yield from self._adjectives(sentence)
        yield from dropped_restrictions(sentence, self.told, self.mine.text, self.asked.text, self.mine.has, self.lang, self.limits)

    def _states(self, statement: Sequence[Token]) -> bool:
        """Whether the claim keeps a statement."""
        words = [token for token in statement if not token.light]
        return len(words) >= _LEAST_WORDS and self.mine.share(words) >= _KEPT

    def _mentions(self, one: _Condition) -> bool:
        """Whether the claim has words that only the condition has, or the question states the condition."""
        also = {token.stem for token in one.statement}
        words = [token for token in one.words if not token.light and token.stem not in also]
        return self.asked.share(words) >= _KEPT or any(self.mine.has(token) and not self.asked.has(token) for token in words)

    def _conditions(self, sentence: Sentence) -> Iterator[_Condition]:
        """The conditions and exceptions of a sentence, each behind its marker, with the statement before or behind it.

        Where neither a comma nor "then" tells where one at the beginning ends, its first word stands for it.
        """
        tokens = sentence.tokens
        for match in self.limits.conditions.finditer(self.told, sentence.start, sentence.end):
            first, after = (sum(token.start < place for token in tokens) for place in match.span())
            if after == len(tokens):
                continue
            begin, stop, end = self._begin(tokens, first), self._stop(tokens, after), self._end(tokens, after)
            statement = tokens[begin:first]
            if all(token.light for token in statement):
                stop, statement = (stop, tokens[stop:end]) if stop < end else (after + 1, tokens[after:end])
            yield _Condition(match.start(), tokens[stop - 1].end, tokens[after:stop], statement)

    def _conditions_before(self, sentence: Sentence) -> Iterator[_Condition]:
        """Those that stand before their marker: "सोमवार को छोड़कर"; all the rest is the statement."""
        tokens = sentence.tokens
        for match in self.limits.behind.finditer(self.told, sentence.start, sentence.end):
            marker, after = (sum(token.start < place for token in tokens) for place in match.span())
            first = max(0, marker - _BEFORE)
            if first < marker:
                yield _Condition(tokens[first].start, match.end(), tokens[first:marker], (*tokens[:first], *tokens[after:]))

    def _begin(self, tokens: Sequence[Token], place: int) -> int:
        """Where the statement begins that ends before a place: behind a stop or a word that joins statements."""
        start = place
        while start and tokens[start - 1].folded not in self.limits.joins and not (start < place and self._parted(tokens, start)):
            start -= 1
        return start

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
        """Whether a stop stands before a word; the one in "31. Dezember" is none."""
        before, token = tokens[place - 1], tokens[place]
        return before.clause != token.clause and not (before.text.isdecimal() and self.told[before.end : token.start] == ". ")

    def _modals(self, sentence: Sentence, conditions: Sequence[_Condition]) -> Iterator[str]:
        """Words for what may or should be done, where the claim says that it is done."""
        tokens = sentence.tokens
        for marker in sentence.markers if not self.mine.is_modal() else ():
            text = " ".join(token.folded for token in tokens[marker.start : marker.end])
            if marker.kind != "modality" or text not in self.limits.modals:
                continue
            begin, end = self._begin(tokens, marker.start), marker.end
            while end < len(tokens) and not self._parted(tokens, end) and tokens[end].folded not in self.limits.joins:
                end += 1
            governed = next((token for token in tokens[marker.end : end] if not token.light), None)
            if self.lang in _VERB_NEXT and not (governed and self.mine.has(governed)):
                continue
            around = (*tokens[begin : marker.start], *tokens[marker.end : end])
            if self._states([token for token in around if not any(one.start <= token.start < one.end for one in conditions)]):
                yield self.told[tokens[marker.start].start : tokens[marker.end - 1].end]

    def _adjectives(self, sentence: Sentence) -> Iterator[str]:
        """What stands between "every" and its noun, where the claim speaks of every one of them."""
        tokens = sentence.tokens
        for first in (n for n, token in enumerate(tokens) if token.folded in self.limits.all):
            for noun in range(first + 2, min(first + 2 + _ADJECTIVES, len(tokens))):
                between = tokens[first + 1 : noun]
                if not self._run_on(tokens[first : noun + 1]) or any(token.light or token.text[0].isdecimal() for token in between):
                    break
                if self._is_general(tokens[noun]) and not any(self.mine.has(token) or self.asked.has(token) for token in between):
                    yield self.told[tokens[first].start : tokens[noun].end]
                    break

    def _run_on(self, tokens: Sequence[Token]) -> bool:
        """Whether nothing but a blank or hyphen stands between these words."""
        gaps = [self.told[one.end : other.start] for one, other in pairwise(tokens)]
        return gaps[0] == " " and all(gap in (" ", "-", "\u2011") for gap in gaps)

    def _is_general(self, noun: Token) -> bool:
        """Whether the claim has this noun right behind "every", or as its first word."""
        for sentence in self.mine.sentences:
            for n, token in enumerate(sentence.tokens):
                if token.stem == noun.stem and not token.light and (n == 0 or sentence.tokens[n - 1].folded in self.limits.all):
                    return True
        return False


def _reading(text: str) -> str:
    return ascii_digits(" | ".join(normalise(cell).text for cell in strip_marks(text).split("\t")).strip())
