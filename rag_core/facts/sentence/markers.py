"""Small words that decide what a sentence says: negations, modals, comparisons and quantifiers.

A marker has a kind and a level: "must not" is modality, prohibition; "at most" is comparison, amount-. What it bears
on, this module does not know. A language without markers gets the English ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rag_core.language import FALLBACK, LANGUAGES, fold

_STEM_CHARS = (2, 3, 4)  # at most so many of a phrase like "increas*" are what it is looked up by
_NO_MARKER = "none"  # level of phrases that only look like a marker: "not only"
_NEGATIVE = frozenset(
    {("negation", "not"), ("modality", "prohibition"), ("modality", "exemption"), ("quantifier", "no")}
)
_MODALS_ALIKE = frozenset({"permission", "possibility"})
_AMOUNTS = ("no", "few", "some", "many", "most", "all")  # neighbours may say the same, most and all do not
_ONLY = ({"only", "also"}, {"only", "most"})
_PARTS = frozenset({"few", "some", "many", "most", "not_all"})


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker where it stands: tokens `start` to `end` of its sentence, half-open."""

    kind: str
    level: str
    start: int
    end: int

    @property
    def negates(self) -> bool:
        """Whether what it stands with does not hold, or need not."""
        return (self.kind, self.level) in _NEGATIVE

    def against(self, other: Marker) -> bool:
        """Whether two markers in the same place say different things. Markers of different kinds do not."""
        if self.kind != other.kind or self.level == other.level:
            return False
        levels = {self.level, other.level}
        if self.kind == "party":
            return True
        if self.kind == "comparison":
            return self.level[-1] != other.level[-1]
        if self.kind == "modality":
            return levels != _MODALS_ALIKE
        if self.kind == "quantifier":
            return levels in _ONLY or _amounts_apart(self.level, other.level)
        return False


@dataclass(frozen=True, slots=True)
class _Phrase:
    kind: str
    level: str
    words: tuple[str, ...]

    def stands(self, folded: Sequence[str], start: int) -> bool:
        here = folded[start : start + len(self.words)] if start >= 0 else ()
        return len(here) == len(self.words) and all(map(_fits, self.words, here))


_Index = Mapping[str, tuple[tuple[_Phrase, int], ...]]


def markers(folded: Sequence[str], lang: str) -> tuple[Marker, ...]:
    """The longest markers among a sentence's folded words; a negation may be part of one: "must not"."""
    found: dict[str, list[Marker]] = {}
    index = _index(lang)
    for place, word in enumerate(folded):
        for phrase, offset in _looked_up(word, index):
            start = place - offset
            if phrase.stands(folded, start):
                found.setdefault(phrase.kind, []).append(
                    Marker(phrase.kind, phrase.level, start, start + len(phrase.words))
                )
    kept = [marker for kind in sorted(found) for marker in _longest(found[kind])]
    longer = [marker for marker in kept if marker.end - marker.start > 1]
    return tuple(
        sorted(
            (
                one
                for one in kept
                if one.level != _NO_MARKER
                and not (one.kind == "negation" and any(_inside(one, other) for other in longer))
            ),
            key=lambda marker: (marker.start, marker.end, marker.kind),
        )
    )


def _looked_up(word: str, index: _Index) -> Iterator[tuple[_Phrase, int]]:
    """The phrases that may stand at a word, with the place in the phrase that the word has."""
    yield from index.get(word, ())
    for length in _STEM_CHARS:
        yield from index.get(word[:length] + "*", ())


def _amounts_apart(one: str, other: str) -> bool:
    if "not_all" in (one, other):
        return not {one, other} <= _PARTS
    if one not in _AMOUNTS or other not in _AMOUNTS:
        return False
    return "all" in (one, other) or abs(_AMOUNTS.index(one) - _AMOUNTS.index(other)) > 1


def _inside(one: Marker, other: Marker) -> bool:
    return other.start <= one.start and one.end <= other.end and other.end - other.start > one.end - one.start


def _longest(found: list[Marker]) -> list[Marker]:
    kept: list[Marker] = []
    taken: set[int] = set()
    for marker in sorted(found, key=lambda marker: (marker.start - marker.end, marker.start)):
        if taken.isdisjoint(range(marker.start, marker.end)):
            taken.update(range(marker.start, marker.end))
            kept.append(marker)
    return kept


def _fits(pattern: str, word: str) -> bool:
    if pattern == "*":
        return True
    if pattern.endswith("*"):
        return word.startswith(pattern[:-1])
    if pattern.startswith("*"):
        return word.endswith(pattern[1:]) and len(word) >= len(pattern)
    return pattern == word


@cache
def _index(lang: str) -> _Index:
    """Phrases with the place of the word by which they are found: a whole word, or the beginning of one."""
    index: dict[str, list[tuple[_Phrase, int]]] = {}
    for kind, levels in (LANGUAGES.or_fallback(lang).markers or LANGUAGES[FALLBACK].markers).items():
        for level, phrases in levels.items():
            for text in phrases:
                words = tuple(fold(word) for word in text.split())
                offset = next((place for place, word in enumerate(words) if "*" not in word), 0)
                key = words[offset] if "*" not in words[offset] else words[offset][:-1][: _STEM_CHARS[-1]] + "*"
                index.setdefault(key, []).append((_Phrase(kind, level, words), offset))
    return {key: tuple(found) for key, found in index.items()}
