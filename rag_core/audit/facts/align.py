"""Sentences as words with their markers, and one laid beside another: which words stand in both, in the same order.

Words meet by their stem. What was replaced, inserted or left out between them is a gap; what that means, this module does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import regex

from rag_core.audit.facts.lexicon import lexicon
from rag_core.audit.facts.markers import Marker, markers
from rag_core.language import LANGUAGES, fold, sentences, stem, words

_MAX_TOKENS = 160  # longer sentences are tables, lists or hostile; beyond their equal ends they are compared this far
_CANDIDATES = 3  # sentences of the evidence that are laid beside one of the claim
_LEAST_COMMON = 0.6  # share of a sentence's words that must stand in the other, in the same order
_LONGEST_GAP = 8  # words
_STOP = regex.compile(r"[.:;!?।]")
_NUMBER_NEXT = regex.compile(r"\.?\s?\d")
_NUMBERED = frozenset({"no", "nr", "ne"})  # before a number they are no negation


class Token(NamedTuple):
    """One word of a sentence: `source[start:end] == text`.

    `light` words say little by themselves: articles, pronouns, auxiliaries. `clause` counts the stops (".", ":", ";") before it.
    """

    text: str
    folded: str
    stem: str
    start: int
    end: int
    light: bool
    clause: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as its words. `terms` are the stems of those that say something, `marked` the places of words in a marker but a party."""

    tokens: tuple[Token, ...]
    markers: tuple[Marker, ...]
    terms: frozenset[str]
    marked: frozenset[int]

    def says(self, place: int) -> bool:
        """Whether the word at a place says something, and is no small one."""
        return not self.tokens[place].light and place not in self.marked


class Gap(NamedTuple):
    """Words `mine[i:j]` of one sentence where the other has `theirs[k:m]`; one of both may be empty."""

    i: int
    j: int
    k: int
    m: int

    @property
    def is_long(self) -> bool:
        """Whether so much differs that it is another statement."""
        return max(self.j - self.i, self.m - self.k) > _LONGEST_GAP


@lru_cache(maxsize=512)
def read(text: str, lang: str) -> tuple[Sentence, ...]:
    """The sentences of a text that have words."""
    found = (_sentence(text, start, end, lang) for start, end in sentences(text, lang))
    return tuple(sentence for sentence in found if sentence.tokens)


@dataclass(frozen=True, slots=True)
class Aligned:
    """A sentence of a claim beside one of the evidence: the gaps between them, and how many words that say something both have."""

    mine: Sentence
    theirs: Sentence
    gaps: tuple[Gap, ...]
    common: int

    def has_other_numbers(self) -> bool:
        """Whether digits of the claim's sentence stand in a gap."""
        return any(token.text[0].isdecimal() for gap in self.gaps for token in self.mine.tokens[gap.i : gap.j])


def beside(mine: Sentence, theirs: tuple[Sentence, ...]) -> list[Aligned]:
    """The sentences that hold most of the words of `mine` in its order, beside it; none where they hold less than `_LEAST_COMMON`."""
    found = [aligned for other in _nearest(mine, theirs) if (aligned := _aligned(mine, other))]
    best = max((aligned.common for aligned in found), default=0)
    return [aligned for aligned in found if aligned.common == best]


def gaps(mine: Sentence, theirs: Sentence) -> list[Gap]:
    """The gaps between a longest common sequence of words, in order."""
    a, b = [token.stem for token in mine.tokens], [token.stem for token in theirs.tokens]
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    pairs = _common(a[head : len(a) - tail][:_MAX_TOKENS], b[head : len(b) - tail][:_MAX_TOKENS])
    found, i, k = [], head, head
    for one, other in [*((head + one, head + other) for one, other in pairs), (len(a) - tail, len(b) - tail)]:
        if i < one or k < other:
            found.append(Gap(i, one, k, other))
        i, k = one + 1, other + 1
    return found


def _nearest(mine: Sentence, theirs: tuple[Sentence, ...]) -> list[Sentence]:
    """The sentences with most words in common; of equal ones those with fewest others, then the first."""
    shared = [(len(mine.terms & other.terms), other) for other in theirs]
    ranked = sorted(((count, -len(other.terms), -place) for place, (count, other) in enumerate(shared) if count), reverse=True)
    return [theirs[-place] for _, _, place in ranked[:_CANDIDATES]]


def _aligned(mine: Sentence, theirs: Sentence) -> Aligned | None:
    found = tuple(gaps(mine, theirs))
    said = [place for place in range(len(mine.tokens)) if mine.says(place)] or list(range(len(mine.tokens)))
    apart = {place for gap in found for place in range(gap.i, gap.j)}
    common = sum(place not in apart for place in said)
    return Aligned(mine, theirs, found, common) if common and common >= _LEAST_COMMON * len(said) else None


def _common(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence."""
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below, word = lengths[i], lengths[i + 1], a[i]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if word == b[j] else max(below[j], row[j + 1])
    pairs, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _sentence(text: str, start: int, end: int, lang: str) -> Sentence:
    light = (LANGUAGES.get(lang) or LANGUAGES["en"]).function_words
    tokens: list[Token] = []
    for word in words(text[start:end]):
        first, last = start + word.start, start + word.end
        clause = tokens[-1].clause + bool(_STOP.search(text, tokens[-1].end, first)) if tokens else 0
        tokens.append(Token(word.text, fold(word.text), stem(word.text, lang), first, last, word.text.lower() in light, clause))
    found = markers([_read_as(token, place, text, lang) for place, token in enumerate(tokens)], lang)
    marked = frozenset(place for marker in found if marker.kind != "party" for place in range(marker.start, marker.end))
    return Sentence(tuple(tokens), found, frozenset(token.stem for token in tokens if not token.light), marked)


def _read_as(token: Token, place: int, text: str, lang: str) -> str:
    """The folded word, or empty where it only looks like a marker: the month of May, "No. 5"."""
    month = place and token.text[0].isupper() and token.folded in lexicon(lang).months
    numbered = token.folded in _NUMBERED and _NUMBER_NEXT.match(text, token.end)
    return "" if month or numbered else token.folded
