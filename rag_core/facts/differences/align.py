"""Aligns two sentences: finds the words, with their markers, that stand in both in the same order.

Words meet by their stem. What was replaced, inserted or left out between them is a gap; what that means, this module
does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import regex

from rag_core.facts.sentence.lexicon import lexicon
from rag_core.facts.sentence.markers import Marker, markers
from rag_core.language import LANGUAGES, any_language, fold, sentences, stem, words

_MAX_TOKENS = 160  # longer sentences are tables, lists or hostile; beyond their equal ends they are compared this far
_CANDIDATES = 3  # sentences of the evidence that are laid beside one of the claim
_MIN_COMMON = 0.6  # share of a sentence's words that must stand in the other, in the same order
_LONGEST_GAP = 8  # words
_STOP = regex.compile(r"[.:;!?।]")
_NUMBER_NEXT = regex.compile(r"\.?\s?\d")
_MINUS = regex.compile(r"(?:^|[^\p{L}\p{M}\p{N})\]])[-−]$")  # before a number: no range, and no operator


class Token(NamedTuple):
    """One word: `source[start:end] == text`; `light` ones say little, `clause` counts the stops before it."""

    text: str
    folded: str
    stem: str
    start: int
    end: int
    light: bool
    clause: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as its words; `terms` are stems of telling ones, `marked` the places of markers' words."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    markers: tuple[Marker, ...]
    terms: frozenset[str]
    marked: frozenset[int]

    def says(self, place: int) -> bool:
        """Whether the word at a place says something, and is no small one."""
        return not self.tokens[place].light and place not in self.marked

    @property
    def said(self) -> frozenset[str]:
        """The stems of the words that say something; unlike `terms` without those in a marker."""
        return frozenset(token.stem for place, token in enumerate(self.tokens) if self.says(place))


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
    """A sentence of a claim beside one of the evidence: their gaps, and how many telling words both have."""

    mine: Sentence
    theirs: Sentence
    gaps: tuple[Gap, ...]
    common: int

    def shared(self) -> frozenset[int]:
        """The places of the other sentence's words that this one has too; none where nothing was changed."""
        done, found = 0, set[int]()
        for gap in self.gaps:
            found.update(range(gap.k - (gap.i - done), gap.k))
            done = gap.j
        if self.gaps:
            found.update(range(self.gaps[-1].m, self.gaps[-1].m + len(self.mine.tokens) - done))
        return frozenset(found)

    def matched(self) -> tuple[int, int]:
        """From where to where the other sentence stands beside this one, up to the words before and after that."""
        shared, tokens = self.shared(), self.theirs.tokens
        first, last = (min(shared), max(shared)) if shared else (0, len(tokens) - 1)
        start = tokens[first - 1].end if first else self.theirs.start
        return start, tokens[last + 1].start if last + 1 < len(tokens) else self.theirs.end

    def says_all(self) -> bool:
        """Whether the other sentence has every word of this one that says something, wherever it has it."""
        places = [place for gap in self.gaps for place in range(gap.i, gap.j)]
        return all(self.mine.tokens[place].stem in self.theirs.terms for place in places if self.mine.says(place))


def beside(mine: Sentence, theirs: tuple[Sentence, ...]) -> list[Aligned]:
    """The sentences with most of the words of `mine` in its order; none below `_MIN_COMMON`."""
    found: list[Aligned] = []
    best = 0
    for other in _nearest(mine, theirs):
        can_be_common = sum(token.stem in other.terms for place, token in enumerate(mine.tokens) if mine.says(place))
        if can_be_common >= best and (aligned := _aligned(mine, other)):
            found.append(aligned)
            best = max(best, aligned.common)
    return [aligned for aligned in found if aligned.common == best]


def gaps(mine: Sentence, theirs: Sentence) -> list[Gap]:
    """The gaps between a longest common sequence of words, in order.

    Before the first common word and after the last one, no more is taken of the other sentence than this one has there,
    if it has anything.
    """
    a, b = [token.stem for token in mine.tokens], [token.stem for token in theirs.tokens]
    found, i, k = [], 0, 0
    for one, other in [*_late(_pairs(a, b), b), (len(a), len(b))]:
        if i < one or k < other:
            found.append(_at_edge(Gap(i, one, k, other), len(a)))
        i, k = one + 1, other + 1
    return found


def _pairs(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence: equal ends as they are, the rest as far as it is compared."""
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    inner = _common(a[head : len(a) - tail][:_MAX_TOKENS], b[head : len(b) - tail][:_MAX_TOKENS])
    ends = [(len(a) - place, len(b) - place) for place in range(tail, 0, -1)]
    return [*((place, place) for place in range(head)), *((head + one, head + other) for one, other in inner), *ends]


def _late(pairs: list[tuple[int, int]], b: list[str]) -> list[tuple[int, int]]:
    """The pairs, with each run of neighbours moved to its last occurrence in b before the next run.

    So "For hardly any day of delay" is aligned with "For each day of delay", and not with "For the day of the credit"
    further up.
    """
    moved: list[tuple[int, int]] = []
    end = len(pairs)
    while end:
        start = end - 1
        while start and pairs[start - 1] == (pairs[start][0] - 1, pairs[start][1] - 1):
            start -= 1
        run = pairs[start:end]
        if moved:
            text, place = [b[other] for _, other in run], moved[0][1] - len(run)
            while b[place : place + len(run)] != text:
                place -= 1
            run = [(mine, place + offset) for offset, (mine, _) in enumerate(run)]
        moved, end = run + moved, start
    return moved


def _at_edge(gap: Gap, length: int) -> Gap:
    """The gap before or after all common words, cut to what this sentence has there."""
    most = gap.j - gap.i or _LONGEST_GAP
    if gap.i == 0:
        return gap._replace(k=max(gap.k, gap.m - most))
    return gap._replace(m=min(gap.m, gap.k + most)) if gap.j == length else gap


def _nearest(mine: Sentence, theirs: tuple[Sentence, ...]) -> list[Sentence]:
    """The sentences with most words in common; of equal ones those with fewest others, then the first."""
    shared = [(len(mine.terms & other.terms), other) for other in theirs]
    ranked = sorted(
        ((count, -len(other.terms), -place) for place, (count, other) in enumerate(shared) if count), reverse=True
    )
    return [theirs[-place] for _, _, place in ranked[:_CANDIDATES]]


def _aligned(mine: Sentence, theirs: Sentence) -> Aligned | None:
    """Both sentences side by side, or None for too little in common; capitalised words in a gap are one name."""
    found = tuple(gaps(mine, theirs))
    apart = {place for gap in found for place in range(gap.i, gap.j)}
    said = [place not in apart for place in range(len(mine.tokens)) if mine.says(place)]
    told = [
        place not in apart
        for place, token in enumerate(mine.tokens)
        if mine.says(place) or place in mine.marked or not said
    ]
    repeated = sum(
        max(0, sum(mine.tokens[place].text[0].isupper() for place in range(gap.i, gap.j)) - 1) for gap in found
    )
    enough = any(sum(kind) >= _MIN_COMMON * (len(kind) - repeated) for kind in (said, told) if any(kind))
    return Aligned(mine, theirs, found, sum(said)) if enough else None


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
    light = LANGUAGES.or_fallback(lang).function_words
    tokens: list[Token] = []
    for word in words(text[start:end]):
        first, last = start + word.start, start + word.end
        between = text[tokens[-1].end : first] if tokens else ""
        clause = tokens[-1].clause + (between != " " and bool(_STOP.search(between))) if tokens else 0
        sign = "-" if word.text[0].isdecimal() and _MINUS.search(text[max(0, first - 2) : first]) else ""
        tokens.append(
            Token(
                word.text,
                fold(word.text),
                sign + stem(word.text, lang),
                first,
                last,
                word.text.lower() in light,
                clause,
            )
        )
    found = markers([_read_as(token, place, text, lang) for place, token in enumerate(tokens)], lang)
    marked = frozenset(place for marker in found if marker.kind != "party" for place in range(marker.start, marker.end))
    return Sentence(
        start, end, tuple(tokens), found, frozenset(token.stem for token in tokens if not token.light), marked
    )


def _read_as(token: Token, place: int, text: str, lang: str) -> str:
    """The folded word, or empty where it only looks like a marker: the month of May, "No. 5"."""
    month = place and token.text[0].isupper() and token.folded in lexicon(lang).months
    numbered = token.folded in any_language().numbered and _NUMBER_NEXT.match(text, token.end)
    return "" if month or numbered else token.folded
