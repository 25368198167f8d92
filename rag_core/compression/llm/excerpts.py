"""Chooses what a draft's prompt sends of the passages: the sentences that bear on the question, each with all that
belongs to it.

A prompt of ten whole passages has some 3,000 tokens, most of which answer nothing. A small model drowns in them, and a
processor needs half a minute to read them. A sentence is sent whole or not at all, and never without those beside it,
its heading, its lead, and what takes it back, limits or dates it: a model that is not sent the exception cannot keep
it. The words that restrict are in each language's file; in a language without them every sentence of the passage
belongs together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from rag_core.compression.scoring import Scored
from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.domain.rows import CELL
from rag_core.facts.differences.values import values
from rag_core.grounding.omissions.back import binds, needed_with
from rag_core.grounding.units import Unit, units
from rag_core.ingest.normalise import normalise
from rag_core.language import content_terms, limit_words

Range = tuple[int, int]  # offsets into a passage's text
Place = tuple[str, int]  # a passage by its id, and a sentence or row of it by its number


class Source:
    """A passage with its sentences or rows, and where they stand in its text."""

    def __init__(self, passage: Passage, page_text: PageText) -> None:
        self.passage, self._page_text = passage, page_text
        self.units = units(passage, page_text)

    @cached_property
    def ranges(self) -> list[Range] | None:
        """The place of each unit; None where a row cannot be found again in the reading form of its table."""
        found: list[Range] = []
        for unit in self.units:
            start, end = unit.start, unit.end
            if unit.spans:  # the offsets of a row are those of its page
                row = self._read(unit.spans[0])
                start = self.passage.text.find(row, found[-1][1] if found else 0)
                end = start + len(row)
            if start < 0:
                return None
            found.append((start, end))
        return found

    def heading(self, place: int) -> Range | None:
        """The nearest text above a sentence that states nothing itself; a table's stand beside it anyway."""
        if self.ranges is None or self.passage.kind is PassageKind.TABLE:
            return None
        text = self.passage.text
        for at in range(place, -1, -1):
            start, end = self.ranges[at - 1][1] if at else 0, self.ranges[at][0]
            if any(map(str.isalnum, text[start:end])):
                above = text[start:end].strip()
                start += len(text[start:end]) - len(text[start:end].lstrip())
                return None if above in self.passage.section else (start, start + len(above))
        return None

    def group(self, place: int) -> Iterator[int]:
        """The place of the last row with one cell above a row of a table. It names the group of the rows under it."""
        if self.passage.kind is PassageKind.TABLE:
            yield from [at for at in range(place) if CELL.strip() not in self.units[at].text][-1:]

    def text(self, taken: Iterable[int], gap: str) -> str:
        """The passage's own words at these sentences and over them, in order; all where that is not known."""
        if self.ranges is None:
            return self.passage.text
        wanted = {one for at in taken for one in (self.heading(at), self.ranges[at]) if one}
        parts: list[Range] = []
        for start, end in sorted(wanted):
            if parts and not any(map(str.isalnum, self.passage.text[parts[-1][1] : start])):
                start, end = parts.pop()[0], end
            parts.append((start, end))
        return gap.join(self.passage.text[start:end] for start, end in parts)

    def _read(self, span: Span) -> str:
        return normalise(self._page_text(self.passage.document, span.page)[span.start : span.end]).text


class Belonging:
    """The passages that a draft may be made from, and which of their sentences belong together."""

    def __init__(self, passages: Iterable[Passage], page_text: PageText) -> None:
        self._page_text = page_text
        self.sources = {passage.id: Source(passage, page_text) for passage in passages}

    def place(self, unit: Unit) -> Place:
        inside = self.sources[unit.passage.id].units
        return unit.passage.id, next(
            at for at, one in enumerate(inside) if (one.start, one.end) == (unit.start, unit.end)
        )

    def with_it(self, place: Place) -> set[Place]:
        """A sentence and all that it must not be sent without."""
        id, at = place
        source = self.sources[id]
        near = {place, *self._beside(place), *((id, row) for row in source.group(at))}
        near |= {(id, other) for other in needed_with([unit.text for unit in source.units], at)}
        near |= {(id, other) for other, unit in enumerate(source.units) if restricts(unit, source.units[at])}
        return near | {lead for one in near for lead in self._lead(one)}

    def _beside(self, place: Place) -> Iterator[Place]:
        """The sentences before and after; at an edge of the passage those of the passage that goes on there."""
        id, at = place
        inside = self.sources[id].units
        yield from ((id, next_to) for next_to in (at - 1, at + 1) if 0 <= next_to < len(inside))
        if 0 < at < len(inside) - 1:
            return
        here, document = self._spans[id][at], self.sources[id].passage.document
        around = [
            (span, (other, n))
            for other, spans in self._spans.items()
            if other != id and self.sources[other].passage.document == document
            for n, span in enumerate(spans)
        ]
        if at == len(inside) - 1:
            behind = [
                (span, found)
                for span, found in around
                if _starts(span) >= (here.page, here.end) and span.page <= here.page + 1
            ]
            yield from [found for _, found in sorted(behind, key=lambda one: _starts(one[0]))[:1]]
        if at == 0:
            above = [
                (span, found)
                for span, found in around
                if (span.page, span.end) <= _starts(here) and span.page >= here.page - 1
            ]
            yield from [found for _, found in sorted(above, key=lambda one: _starts(one[0]))[-1:]]

    @cached_property
    def _spans(self) -> dict[str, list[Span]]:
        return {id: [self._span(unit) for unit in source.units] for id, source in self.sources.items()}

    def _span(self, unit: Unit) -> Span:
        """Where a unit begins on its page, to its end on that page."""
        return unit.spans[0] if unit.spans else unit.evidence(self._page_text)[0].spans[0]

    def _lead(self, place: Place) -> Iterator[Place]:
        """The sentence that leads an item in, in whichever of the passages it stands."""
        id, at = place
        unit = self.sources[id].units[at]
        if unit.lead:
            document = unit.passage.document
            places = [
                (one.passage.id, n)
                for one in self.sources.values()
                if one.passage.document == document
                for n, other in enumerate(one.units)
                if other.text == unit.lead
            ]
            yield from sorted(places, key=lambda found: found[0] != id)[:1]


def restricts(unit: Unit, other: Unit, shared: int = 1) -> bool:
    """Whether a sentence may take back, limit or date what another says.

    It denies, has a condition or a date, and has `shared` content words in common, or says "this" or "it".
    """
    language = unit.passage.language
    limits = limit_words(language)
    if unit.text == other.text:
        return False
    together = len(_terms(unit.text, language) & _terms(other.text, other.passage.language)) >= shared
    if limits is None:
        return shared <= 1 or together
    told, refers, bears = _read(unit.text, language)
    return (shared <= 1 and refers and (told or bears)) or (told and together)


@lru_cache(maxsize=2048)
def _read(text: str, language: str) -> tuple[bool, bool, bool]:
    """Whether a sentence denies, bounds, dates or has a condition; refers back; may bear on what was stated."""
    limits = limit_words(language)
    assert limits is not None
    told = binds(text, language) or bool(limits.bounded.search(text)) or bool(values(text, language).dates)
    return told, bool(limits.refers.search(text)), bool(limits.bears.search(text))


@lru_cache(maxsize=2048)
def _terms(text: str, language: str) -> frozenset[str]:
    return frozenset(content_terms(text, language))


def _starts(span: Span) -> tuple[int, int]:
    return span.page, span.start


BYTES_OF_A_TOKEN = 3.5  # UTF-8; English has some 4, tokenizers differ by a third and more
_LED = 2  # the best sentences go before what may restrict the best one
GAP = " […] "  # between sentences of a passage that do not follow one another


def tokens_of(text: str) -> int:
    """About how many tokens a language model reads in a text, by its bytes."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_OF_A_TOKEN)


def excerpts(
    scored: Sequence[Scored], page_text: PageText, most: int, around: Callable[[Passage], int]
) -> Mapping[str, str]:
    """The text that is sent of each passage, by passage id, in the order of their best sentences.

    The best sentence goes with all that belongs to it, however long. The others go as far as there is room, those first
    that may restrict the best one from another passage; one that does not fit with all that belongs to it is left out.
    `most` are tokens of everything that is sent, `around` those that a passage costs besides its text.
    """
    ranked = sorted(scored, key=lambda one: -one.relevance)
    known = Belonging({one.unit.passage.id: one.unit.passage for one in ranked}.values(), page_text)
    taken: dict[str, set[int]] = {}
    room = most

    aside = {id: around(source.passage) for id, source in known.sources.items()}

    def size(id: str, places: set[int]) -> int:
        return aside[id] + tokens_of(known.sources[id].text(places, GAP)) if places else 0

    led = [*ranked[:_LED], *sorted(ranked[_LED:], key=lambda one: not restricts(one.unit, ranked[0].unit, shared=2))]
    for one in led:
        after: dict[str, set[int]] = {}
        for id, at in known.with_it(known.place(one.unit)):
            after.setdefault(id, set(taken.get(id, ()))).add(at)
        cost = sum(size(id, places) - size(id, taken.get(id, set())) for id, places in after.items())
        if cost <= room or not taken:
            taken |= after
            room -= cost
    found = dict.fromkeys(one.unit.passage.id for one in ranked)
    return {id: known.sources[id].text(taken[id], GAP) for id in found if id in taken}


def holds(sent: str, evidence: Evidence) -> bool:
    """Whether a piece of evidence stands in the text that was sent of its passage, in one stretch."""
    bare = _letters(normalise(evidence.quote).text)
    stretches = [sent] if GAP.strip() in evidence.quote else sent.split(GAP)  # a document may write the mark itself
    return any(bare in _letters(stretch) for stretch in stretches)


def _letters(text: str) -> str:
    """A text without blanks and signs: hyphens at a line's end and bars between cells may differ."""
    return "".join(filter(str.isalnum, text))
