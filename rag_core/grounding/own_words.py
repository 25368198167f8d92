"""Tells whether a sentence of a model only leaves out: it is whole clauses of one sentence or whole cells of one row, word for word.

Then nothing was put in, exchanged or moved, and no new word, antonym, other role or borrowed figure gets through. What may be left out of a
sentence is listed here: a bracket that points elsewhere; a reason at the end; an aside ("a former chapel"); "in fact," at the beginning;
and a clause behind a semicolon or ", and" that tells of a thing that was spoken of ("the readings"). And that only where it holds no
number, denies, restricts and bounds nothing, and has no word that may bear on the rest (`bears` of the language's file). In a language
without such lists a sentence stays whole. Of a row the first cell stays, and where figures are left out, each that stays has its
column's head before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from rag_core.domain.claims import Claim
from rag_core.domain.drafts import Draft
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.domain.rows import CELL, NEXT_ROW
from rag_core.facts.citation_marks import strip_marks
from rag_core.grounding.locate import overlaps
from rag_core.grounding.omissions.idle import COMMA, DIGIT, Words, binds, is_clause_of_its_own, only_points, says_little, stretches, written
from rag_core.grounding.omissions.words import limit_words
from rag_core.grounding.units import Unit, header_of, units
from rag_core.ingest.normalise import normalise
from rag_core.language import ends_in_question

_BRACKETS = regex.compile(r"[(\[]([^()\[\]]*+)[)\]]")
_APART = regex.compile(r"[;；]")
_LIST = ":："  # before it stands what the items behind it, parted by semicolons, are of
_CUT = regex.compile(r"\[\s*(?:…|\.{3})\s*\]")  # "[…]": between the sentences of a passage that a prompt sends in parts


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
        and not any(leaves_out_only(claim.text, unit, page_text, language) for unit in cited_units(claim, known, page_text))
        for claim, measured in zip(draft.claims, draft.measured, strict=True)
    )


def leaves_out_only(text: str, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is whole clauses of a sentence, or whole cells of a row, in their order."""
    bare = strip_marks(normalise(text).text)
    if ends_in_question(bare) is not ends_in_question(unit.text):
        return False
    if _CUT.search(bare) and not _CUT.search(unit.text):  # no word is put in, but a reader would be shown a mark that stands on no page
        return False
    said = written(bare)
    if unit.passage.kind is PassageKind.TABLE:
        return _of_row(said, unit, page_text, language)
    reached = {(0, False)}  # words of the text that were met so far, and whether any part of the sentence was taken
    for part in _parts(f"{unit.lead} {unit.text}" if unit.lead else unit.text, language):
        taken = {(end, True) for place, _ in reached for end in part.ends(said, place)}
        reached = taken | (reached if part.free else set())
    return (len(said), True) in reached


def _parts(text: str, language: str) -> list[_Part]:
    """The stretches between semicolons; as one where they may be items of a list, which belong together."""
    found = _APART.split(text)
    whole = len(found) > 2 or any(sign in part for sign in _LIST for part in found[:-1])
    return [_Part.of(part, language) for part in ([text] if whole else found)]


def cited_units(claim: Claim, known: Mapping[str, Passage], page_text: PageText) -> Iterator[Unit]:
    """The sentences, items and rows in which the claim's quotes stand."""
    for piece in claim.evidence:
        for unit in units(known[piece.passage], page_text) if piece.passage in known else ():
            spans = unit.spans or [span for one in unit.evidence(page_text) for span in one.spans]
            if overlaps(piece.spans, spans):
                yield unit


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause as stretches of its words, in order; `free` says of each, and of the clause, that it may be left out."""

    pieces: tuple[tuple[Words, bool], ...]
    free: bool

    @classmethod
    def of(cls, text: str, language: str, *, free: bool = False) -> _Clause:
        pieces = []
        for stretch, apart in stretches(text, language):
            end = 0
            for bracket in _BRACKETS.finditer(stretch):
                pieces += [
                    (written(stretch[end : bracket.start()]), apart),
                    (written(bracket[0]), apart or only_points(bracket[1], language)),
                ]
                end = bracket.end()
            pieces.append((written(stretch[end:]), apart))
        return cls(tuple(pieces), free)

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
        first, *added = limits.adds.split(text) if limits else [text]
        apart = not COMMA.search(_BRACKETS.sub("", first))  # with a comma before, ", and" may end a list
        made = [_Clause.of(one, language, free=apart and is_clause_of_its_own(one.partition(" ")[2], language)) for one in added]
        return cls((_Clause.of(first, language), *made), is_clause_of_its_own(text, language))

    def ends(self, said: Words, place: int) -> set[int]:
        """Where the part ends in a text if it begins at this place."""
        first, *added = self.clauses
        places = first.ends(said, {place})
        for clause in added:
            places = clause.ends(said, places) | (places if clause.free else set())
        return places


def _of_row(said: Words, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is cells of a row in their order, each with its column's head before it or without."""
    limits = limit_words(language)
    small = limits.states if limits else frozenset()
    told = unit.text.split(CELL)
    cells = [written(cell, small) for cell in told]
    header = [[written(cell, small) for cell in row.split(CELL)] for row in header_of(unit.passage, page_text).split(NEXT_ROW)]
    heads = next((row for row in reversed(header) if len(row) == len(cells)), [()] * len(cells))
    figures = {n for n, cell in enumerate(cells) if n and any(map(DIGIT.search, cell))}
    kept = {0} | {n for n, cell in enumerate(told) if binds(cell, language) or not (n in figures or says_little(cell, language))}
    reached = {(0, frozenset[int](), frozenset[int]())}  # words met so far, the cells taken, and those of them with their heads
    wanted = tuple(word for word in said if word not in small)
    for n, cell in enumerate(cells):
        for place, taken, named in tuple(reached):
            for head in ((), heads[n]) if heads[n] else ((),):
                words = (*head, *cell)
                if words and wanted[place : place + len(words)] == words:
                    reached.add((place + len(words), taken | {n}, named | {n} if head else named))
    return any(
        place == len(wanted) and kept <= taken and (figures <= taken or figures & taken <= named)
        for place, taken, named in reached
        if taken
    )
