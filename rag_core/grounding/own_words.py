"""Tells whether a sentence of a model only leaves out: it is one sentence or whole cells of one row, word for word.

Then nothing was put in, exchanged or moved, and no new word, antonym, other role or borrowed figure gets through. What may be left out of
a sentence is listed in its language's file, word by word: a bracket that points elsewhere, a name with its title, "in fact," at the
beginning. A clause stays whatever it says, since it may undo the rest ("...; the alarm was sold") in words that no list has. In a language
without lists a sentence stays whole. Of a row all words stay; where figures are left out, each that stays has its column's head before it,
and so has one without a unit where the head has words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import regex

from rag_core.domain.claims import Claim
from rag_core.domain.drafts import Draft
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.domain.rows import CELL, NEXT_ROW
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.grounding.locate import overlaps
from rag_core.grounding.omissions.back import speaks_of_before
from rag_core.grounding.omissions.idle import Words, is_figure, only_points, stretches, wants_head, written
from rag_core.grounding.omissions.words import limit_words
from rag_core.grounding.units import Unit, header_of, units
from rag_core.ingest.normalise import normalise
from rag_core.language import ends_in_question

_BRACKETS = regex.compile(r"[(\[]([^()\[\]]*+)[)\]]")
_CUT = regex.compile(r"\[\s*(?:…|\.{3})\s*\]")  # "[…]": between the sentences of a passage that a prompt sends in parts


def reworded(draft: Draft, hits: Sequence[Hit], page_text: PageText, language: str) -> tuple[bool, ...]:
    """For each claim of a model's draft whether it does more than leave out.

    A sentence that speaks of what stands before it ("It costs 90 euros.") follows the sentence that it follows in the document: behind
    another one it says of that what no document says. The first claim follows nothing.

    Args:
        draft: with what was measured on its claims.
        hits: the passages that it may rest on.
        page_text: the raw text of a page.
        language: of the draft.
    """
    known = {hit.passage.id: hit.passage for hit in hits}
    found = [list(cited_units(claim, known, page_text)) for claim in draft.claims]
    said = tuple(
        not measured.word_for_word and not any(leaves_out_only(claim.text, unit, page_text, language) for unit in cited)
        for claim, measured, cited in zip(draft.claims, draft.measured, found, strict=True)
    )

    def follows(n: int) -> bool:
        """Whether claim `n` begins right behind the sentence that claim `n - 1` ends with, in any passage: passages overlap."""
        before, text = (normalise(draft.claims[k].text).text.strip() for k in (n - 1, n))
        theirs = {
            one.text for one in found[n - 1] if _is_at(str.endswith, before, one) or leaves_out_only(before, one, page_text, language)
        }
        mine = {one.text for one in found[n] if _is_at(str.startswith, text, one) or leaves_out_only(text, one, page_text, language)}
        passages = {one.passage.id for one in (*found[n - 1], *found[n])} & known.keys()
        stand = (pair for one in passages for pair in pairwise(units(known[one], page_text)))
        return any(first.text in theirs and second.text in mine for first, second in stand)

    def torn(n: int) -> bool:
        if n == 0 or all(one.passage.kind is PassageKind.TABLE for one in found[n]):  # a row stands by itself
            return False
        return speaks_of_before(draft.claims[n].text, language) and not follows(n)

    return tuple(own or torn(n) for n, own in enumerate(said))


def _is_at(edge: Callable[[str, str], bool], text: str, unit: Unit) -> bool:
    return edge(text, normalise(unit.text).text.strip())


def leaves_out_only(text: str, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is a sentence but for what its language lets go, or whole cells of a row, in their order."""
    said_as_it_stands = normalise(text).text
    if said_as_it_stands.strip() == normalise(unit.text).text.strip():  # with marks of notes that look like citations: "90 euros [3]."
        return True
    bare = strip_marks(said_as_it_stands)
    if ends_in_question(bare) is not ends_in_question(unit.text):
        return False
    if _CUT.search(bare) and not _CUT.search(unit.text):  # no word is put in, but a reader would be shown a mark that stands on no page
        return False
    said = written(bare)
    if unit.passage.kind is PassageKind.TABLE:
        return _of_row(said, unit, page_text, language)
    return len(said) in _ends(said, f"{unit.lead} {unit.text}" if unit.lead else unit.text, language) if said else False


def cited_units(claim: Claim, known: Mapping[str, Passage], page_text: PageText) -> Iterator[Unit]:
    """The sentences, items and rows in which the claim's quotes stand."""
    for piece in claim.evidence:
        for unit in units(known[piece.passage], page_text) if piece.passage in known else ():
            spans = unit.spans or [span for one in unit.evidence(page_text) for span in one.spans]
            if overlaps(piece.spans, spans):
                yield unit


def _ends(said: Words, told: str, language: str) -> set[int]:
    """Where a sentence may end in a text that begins with it."""
    places = {0}
    for words, free in _pieces(told, language):
        met = {place + len(words) for place in places if said[place : place + len(words)] == words}
        places = met | (places if free else set())
    return places


def _pieces(text: str, language: str) -> Iterator[tuple[Words, bool]]:
    """A sentence as stretches of its words, in order, each with whether it may be left out."""
    for stretch, free in stretches(text, language):
        end = 0
        for bracket in _BRACKETS.finditer(stretch):
            yield written(stretch[end : bracket.start()]), free
            yield written(bracket[0]), free or only_points(bracket[1], language)
            end = bracket.end()
        yield written(stretch[end:]), free


def _of_row(said: Words, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is cells of a row in their order, each with its column's head before it or without."""
    limits = limit_words(language)
    small = limits.states if limits else frozenset()
    told = unit.text.split(CELL)
    cells = [written(cell, small) for cell in told]
    header = [[written(cell, small) for cell in row.split(CELL)] for row in header_of(unit.passage, page_text).split(NEXT_ROW)]
    heads = next((row for row in reversed(header) if len(row) == len(cells)), [()] * len(cells))
    figures = {n for n, cell in enumerate(told) if n and is_figure(cell, language)}
    kept = {n for n, cell in enumerate(cells) if n not in figures and cell} | {0}
    headed = {n for n in figures if wants_head(told[n], " ".join(heads[n]))}
    reached = {(0, frozenset[int](), frozenset[int]())}  # words met so far, the cells taken, and those of them with their heads
    wanted = tuple(word for word in said if word not in small)
    for n, cell in enumerate(cells):
        for place, taken, named in tuple(reached):
            for head in ((), heads[n]) if heads[n] else ((),):
                words = (*head, *cell)
                if words and wanted[place : place + len(words)] == words:
                    reached.add((place + len(words), taken | {n}, named | {n} if head else named))
    return any(
        place == len(wanted) and kept <= taken and headed & taken <= named and (figures <= taken or figures & taken <= named)
        for place, taken, named in reached
        if taken
    )
