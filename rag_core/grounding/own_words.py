"""Tells whether a sentence of a model only leaves out: it is whole clauses of one sentence or whole cells of one row, word for word.

Then nothing was put in, exchanged or moved, and no new word, antonym, other role or borrowed figure gets through. What may be left out of a
sentence is what stands in brackets, what a semicolon parts from the rest, and a clause that ", and" adds; it denies, restricts and bounds
nothing and holds no number. In a language without lists of such words a sentence stays whole. Of a row the first cell stays, and where
figures are left out, each that stays has its column's head before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from rag_core.domain.claims import Claim
from rag_core.domain.drafts import Draft
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.facts.citation_marks import strip_marks
from rag_core.facts.lexicon import lexicon
from rag_core.facts.markers import markers
from rag_core.grounding.locate import overlaps
from rag_core.grounding.omissions.words import limit_words
from rag_core.grounding.units import Unit, header_of, units
from rag_core.ingest.normalise import normalise
from rag_core.language import fold

_BRACKETS = regex.compile(r"[(\[]([^()\[\]]*+)[)\]]")
_APART = regex.compile(r"[;；]")
_EDGES = ".,:;!?…।。，、；：\"'“”„‚‘’«»‹›()[]{}–—"  # not part of a word; a minus, "%", "€" and "§" belong to it
_DIGIT = regex.compile(r"\p{Nd}")
_BAR, _NEXT_ROW = " | ", "; "  # in a row's reading form, and between those of a table's header
_BESIDE = "party"  # the kind of marker that says who, not how

Words = tuple[str, ...]


def reworded(draft: Draft, hits: Sequence[Hit], page_text: PageText, language: str) -> tuple[bool, ...]:
    """For each claim of a model's draft whether it does more than leave out.

    Args:
        draft: with what was measured on its claims.
        hits: the passages that it may rest on.
        page_text: the raw text of a page.
        language: of the draft.
    """
    known = {hit.passage.id: hit.passage for hit in hits}
    return tuple(
        not measured.word_for_word
        and not any(leaves_out_only(claim.text, unit, page_text, language) for unit in _cited(claim, known, page_text))
        for claim, measured in zip(draft.claims, draft.measured, strict=True)
    )


def leaves_out_only(text: str, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is whole clauses of a sentence, or whole cells of a row, in their order."""
    said = _words(strip_marks(normalise(text).text))
    if unit.passage.kind is PassageKind.TABLE:
        return _of_row(said, unit, page_text, language)
    told = f"{unit.lead} {unit.text}" if unit.lead else unit.text
    reached = {(0, False)}  # words of the text that were met so far, and whether any part of the sentence was taken
    for part in (_Part.of(part, language) for part in _APART.split(told)):
        taken = {(end, True) for place, _ in reached for end in part.ends(said, place)}
        reached = taken | (reached if part.free else set())
    return (len(said), True) in reached


def _cited(claim: Claim, known: Mapping[str, Passage], page_text: PageText) -> Iterator[Unit]:
    """The sentences, items and rows in which the claim's quotes stand."""
    for piece in claim.evidence:
        for unit in units(known[piece.passage], page_text) if piece.passage in known else ():
            spans = unit.spans or [span for one in unit.evidence(page_text) for span in one.spans]
            if overlaps(piece.spans, spans):
                yield unit


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause as its words and those of its brackets, in order; `free` says of each, and of the clause, that it may be left out."""

    pieces: tuple[tuple[Words, bool], ...]
    free: bool

    @classmethod
    def of(cls, text: str, language: str) -> _Clause:
        pieces, end = [], 0
        for bracket in _BRACKETS.finditer(text):
            pieces += [(_words(text[end : bracket.start()]), False), (_words(bracket[1]), _says_little(bracket[1], language))]
            end = bracket.end()
        return cls((*pieces, (_words(text[end:]), False)), _says_little(text, language))

    def ends(self, said: Words, places: set[int]) -> set[int]:
        """Where the clause ends in a text if it begins at one of these places."""
        for words, free in self.pieces:
            met = {place + len(words) for place in places if said[place : place + len(words)] == words}
            places = met | (places if free else set())
        return places


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch between two semicolons: a clause, and those that ", and" adds to it."""

    clauses: tuple[_Clause, ...]
    free: bool

    @classmethod
    def of(cls, text: str, language: str) -> _Part:
        limits = limit_words(language)
        clauses = limits.adds.split(text) if limits else [text]
        return cls(tuple(_Clause.of(clause, language) for clause in clauses), _says_little(text, language))

    def ends(self, said: Words, place: int) -> set[int]:
        """Where the part ends in a text if it begins at this place."""
        first, *added = self.clauses
        places = first.ends(said, {place})
        for clause in added:
            places = clause.ends(said, places) | (places if clause.free else set())
        return places


def _says_little(text: str, language: str) -> bool:
    """Whether a stretch denies, restricts and bounds nothing, and holds no number."""
    limits = limit_words(language)
    if limits is None or _DIGIT.search(text):
        return False
    bounding = (limits.conditions, limits.behind, limits.kept, limits.bounded, limits.bounds, limits.modal)
    words = [fold(word) for word in _words(text)]
    if any(map(lexicon(language).positive, words)):  # "neplatí", "unpaid"
        return False
    return all(one.kind == _BESIDE for one in markers(words, language)) and not any(pattern.search(text) for pattern in bounding)


def _of_row(said: Words, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is cells of a row in their order, each with its column's head before it or without."""
    limits = limit_words(language)
    small = limits.states if limits else frozenset()
    cells = [_words(cell, small) for cell in unit.text.split(_BAR)]
    header = [[_words(cell, small) for cell in row.split(_BAR)] for row in header_of(unit.passage, page_text).split(_NEXT_ROW)]
    heads = next((row for row in reversed(header) if len(row) == len(cells)), [()] * len(cells))
    figures = {n for n, cell in enumerate(cells) if n and any(map(_DIGIT.search, cell))}
    reached = {(0, frozenset[int](), frozenset[int]())}  # words met so far, the cells taken, and those of them with their heads
    wanted = tuple(word for word in said if word not in small)
    for n, cell in enumerate(cells):
        for place, taken, named in tuple(reached):
            for head in ((), heads[n]) if heads[n] else ((),):
                words = (*head, *cell)
                if words and wanted[place : place + len(words)] == words:
                    reached.add((place + len(words), taken | {n}, named | {n} if head else named))
    return any(
        place == len(wanted) and 0 in taken and (figures <= taken or figures & taken <= named) for place, taken, named in reached if taken
    )


def _words(text: str, without: frozenset[str] = frozenset()) -> Words:
    """The words of a text as they are written but for their case, and without the stops at their edges."""
    found = (word.strip(_EDGES).casefold() for word in normalise(text).text.split())
    return tuple(word for word in found if word and word not in without)
