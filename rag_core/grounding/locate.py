"""Where a quote stands in a passage, and which of several places that read the same a claim means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.grounding.units import header_of, units
from rag_core.ingest.normalise import Normal, cut, join, normalise
from rag_core.language import content_terms, terms, unspaced, words

_CLEARLY = 0.05  # by which a place must be better than any other

QUOTATION = " \t\n\"'“”„‟‘’‚‛«»‹›"

_Range = tuple[int, int]  # a stretch of a passage's reading form


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence or a table's row, with the terms that it is found by; a row has those of its header too."""

    spans: tuple[Span, ...]
    terms: frozenset[str]


class Place:
    """A passage in its reading form, with the way back to its pages."""

    def __init__(self, passage: Passage, page_text: PageText) -> None:
        self.passage, self._page_text = passage, page_text
        pages = {span.page: page_text(passage.document, span.page) for span in passage.spans}
        self.normal: Normal = normalise(join(pages, passage.spans))

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


def chosen_by(found: Sequence[_Range], place: Place, claim: str) -> _Range | None:
    """The place in whose sentence clearly more of the claim stands than in that of any other; None where there is none."""
    sentences = place.sentences()
    weights = _weights(claim, sentences, place.passage.language)
    shares = []
    for one in found:
        spans = place.with_header(place.cut(*one))
        shares.append(_share(weights, [sentence for sentence in sentences if overlaps(sentence.spans, spans)]))
    best, second = sorted(shares, reverse=True)[:2]
    return found[shares.index(best)] if best - second >= _CLEARLY else None


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
