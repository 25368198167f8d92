"""Where a quote or a claim stands in a passage: word for word, by an alignment of its words, or not with certainty.

An extract quotes by its making. What a model writes has to be found: a quote with other line breaks or quotation marks, with a word left
out, or a claim that says in few words what two sentences say. This module says where it stands, never whether it is true: a changed number
is found at the sentence that has another, and the check of facts says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import regex

from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.grounding.units import header_of, units
from rag_core.ingest.normalise import Normal, cut, join, normalise
from rag_core.language import content_terms, fold, terms, unspaced, words

MIN_COUNT = 0.65  # share of a claim's content words, rare ones counting more, that its sentences must hold to be taken for its place
MAX_SENTENCES = 3  # that one claim may be placed on; `grounding.windows` joins as many
_GAIN = 0.2  # a further sentence must add so much of the same share
_CLEARLY = 0.05  # by which a place must be better than any other

_LEFT_OUT = regex.compile(r"\s*(?:\[\s*(?:…|\.{3})\s*\]|…|\.{3,})\s*")
QUOTATION = " \t\n\"'“”„‟‘’‚‛«»‹›"
_SIGN = regex.compile(r"[\p{Sm}\p{Sc}%§°]|(?<![\p{L}\p{N}])[-\u2010-\u2015](?=\s?\p{N})")

_Ranges = Sequence[tuple[int, int]]  # stretches of a passage's reading form, ascending: several where a quote leaves something out


class How(StrEnum):
    """How a place was found."""

    EXACT = "exact"  # word for word: as on the page, but for line breaks, joined hyphens and ligatures
    ALIGNED = "aligned"  # its words stand there, not all of them or not set like that
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Located:
    """Where a text stands, as stretches of its pages' raw text in reading order; none where it is uncertain.

    `share` in [0, 1] is how much of its words stands there, rare words counting more; where it is uncertain, in the best place. A row of a
    table brings the rows that name its columns along, after it.
    """

    spans: tuple[Span, ...]
    how: How
    share: float


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence or a table's row, with the terms that it is found by; a row has those of its header too."""

    spans: tuple[Span, ...]
    terms: frozenset[str]


def locate(text: str, passage: Passage, page_text: PageText, *, claim: str = "") -> Located:
    """Find a quote, or the sentences that a claim was made from.

    Args:
        text: a quote, in quotation marks or not, with "…" where something was left out; or a claim. Citation marks do not count.
        passage: what it cites.
        page_text: of its pages.
        claim: what the quote is to support; it decides between two places that read the same.

    First word for word. Then the same words and signs in the same order, however they are set. Then the one to three sentences or rows that
    hold most of its words; they must hold `MIN_COUNT` of them (measured in docs/decisions/19-marks.md). Of two places that are as good as
    each other, neither is certain.
    """
    bare = strip_marks(text).strip(QUOTATION)
    place = Place(passage, page_text)
    for how, found in ((How.EXACT, _verbatim), (How.ALIGNED, _in_a_row)):
        if ranges := found(bare, place.normal.text):
            chosen = ranges[0] if len(ranges) == 1 else chosen_by(ranges, place, claim)
            return Located(place.spans(chosen), how, 1.0) if chosen else Located((), How.UNCERTAIN, 1.0)
    return _sentences(bare, place)


class Place:
    """A passage in its reading form, with the way back to its pages."""

    def __init__(self, passage: Passage, page_text: PageText) -> None:
        self.passage, self._page_text = passage, page_text
        pages = {span.page: page_text(passage.document, span.page) for span in passage.spans}
        self.normal: Normal = normalise(join(pages, passage.spans))

    def spans(self, ranges: _Ranges) -> tuple[Span, ...]:
        """The places of stretches of the reading form."""
        return self.with_header(span for start, end in ranges for span in self.cut(start, end))

    def with_header(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """These places in reading order; of a table's rows, with its header after them."""
        found = sorted(spans, key=lambda span: (span.page, span.start))
        header = self.passage.header if self.passage.kind is PassageKind.TABLE else ()
        return (*found, *(head for head in header if not overlaps([head], found)))

    def sentences(self) -> list[_Sentence]:
        """Its sentences; of a table its rows without those of its header."""
        passage = self.passage
        header = header_of(passage, self._page_text) if passage.kind is PassageKind.TABLE else ""
        return [
            _Sentence(unit.spans or self.cut(unit.start, unit.end), frozenset(terms(f"{header} {unit.text}", passage.language)))
            for unit in units(passage, self._page_text)
        ]

    def cut(self, start: int, end: int) -> tuple[Span, ...]:
        """The place of one stretch of the reading form, without any header."""
        return cut(self.passage.spans, *self.normal.to_raw(start, end))


def _verbatim(bare: str, text: str) -> list[_Ranges]:
    """Every place at which a quote stands as it is written; one that leaves something out, if each part stands once, and in this order."""
    parts = [part for part in (normalise(part).text for part in _LEFT_OUT.split(bare)) if part]
    places = [occurrences(part, text) for part in parts]
    if len(places) == 1:
        return [[place] for place in places[0]]
    found = [some[0] for some in places if len(some) == 1]
    in_order = all(before[1] <= after[0] for before, after in pairwise(found))
    return [found] if found and len(found) == len(parts) and in_order else []


def occurrences(part: str, text: str) -> list[tuple[int, int]]:
    """Every place of a text in another one, both in reading form, that neither begins nor ends inside a word."""
    found, at = list[tuple[int, int]](), text.find(part) if part else -1
    while at >= 0:
        found.append((at, at + len(part)))
        at = text.find(part, at + 1)
    inside = _inside_words(text) if found else frozenset()
    return [place for place in found if not inside.intersection(place)]


def _inside_words(text: str) -> frozenset[int]:
    """The offsets at which no quote begins or ends: "1 day" does not stand in "21 days"."""
    return frozenset(at for word in words(text) for at in range(word.start + 1, word.end) if not unspaced(text, at))


def _in_a_row(bare: str, text: str) -> list[_Ranges]:
    """Every place at which the words and signs of a quote follow one another."""
    quoted, stood = [token for token, _, _ in _tokens(bare)], _tokens(text)
    if not quoted:
        return []
    folded = [token for token, _, _ in stood]
    last = len(quoted) - 1
    return [[(stood[first][1], stood[first + last][2])] for first in range(len(stood) - last) if folded[first : first + last + 1] == quoted]


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """Words, folded, and signs that mean something, with their places."""
    found = [(fold(word.text), word.start, word.end) for word in words(text)]
    found += [(match.group(), match.start(), match.end()) for match in _SIGN.finditer(text)]
    return sorted(found, key=lambda token: token[1:])


def chosen_by(found: Sequence[_Ranges], place: Place, claim: str) -> _Ranges:
    """The place in whose sentence clearly more of the claim stands than in that of any other; empty where there is none."""
    sentences = place.sentences()
    weights = _weights(claim, sentences, place.passage.language)
    shares = []
    for ranges in found:
        spans = place.spans(ranges)
        shares.append(_share(weights, [sentence for sentence in sentences if overlaps(sentence.spans, spans)]))
    best, second = sorted(shares, reverse=True)[:2]
    return found[shares.index(best)] if best - second >= _CLEARLY else ()


def _sentences(bare: str, place: Place) -> Located:
    """The sentences or rows that hold most of a claim's words, each adding something."""
    sentences = place.sentences()
    weights = _weights(bare, sentences, place.passage.language)
    chosen: list[_Sentence] = []
    for _ in range(min(MAX_SENTENCES, len(sentences))):
        best = max(sentences, key=lambda sentence: _share(weights, [*chosen, sentence]))
        if _share(weights, [*chosen, best]) < _share(weights, chosen) + _GAIN:
            break
        chosen.append(best)
    share = _share(weights, chosen)
    if share < MIN_COUNT or _is_replaceable(chosen, sentences, weights):
        return Located((), How.UNCERTAIN, share)
    return Located(place.with_header(span for one in chosen for span in one.spans), How.ALIGNED, share)


def _is_replaceable(chosen: Sequence[_Sentence], sentences: Sequence[_Sentence], weights: Mapping[str, float]) -> bool:
    """Whether another sentence would do about as well as one of the chosen."""
    enough = _share(weights, chosen) - _CLEARLY
    rests = [[other for other in chosen if other is not one] for one in chosen]
    others = [other for other in sentences if other not in chosen]
    return any(_share(weights, [*rest, other]) > enough for rest in rests for other in others)


def _weights(claim: str, sentences: Sequence[_Sentence], lang: str) -> dict[str, float]:
    """The terms of a claim's content words, each with how rare it is among the sentences."""
    counts = Counter(term for sentence in sentences for term in sentence.terms)
    return {term: math.log(1 + len(sentences) / max(1, counts[term])) for term in content_terms(claim, lang)}


def _share(weights: Mapping[str, float], sentences: Sequence[_Sentence]) -> float:
    """The share of the weighted terms that stand in these sentences together, in [0, 1]; 0 of none."""
    held = frozenset[str]().union(*(sentence.terms for sentence in sentences))
    total = math.fsum(weights.values())
    return min(1.0, math.fsum(weight for term, weight in weights.items() if term in held) / total) if total else 0.0


def overlaps(spans: Iterable[Span], others: Sequence[Span]) -> bool:
    """Whether any stretch of the one shares a character with any of the other."""
    return any(a.page == b.page and a.start < b.end and b.start < a.end for a in spans for b in others)
