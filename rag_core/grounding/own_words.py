"""Tells whether a sentence of a model only leaves out: it is one whole sentence, or whole cells of one row, character
for character.

Then nothing was put in, exchanged or moved, and no new word, antonym, other role or borrowed figure gets through. A
sentence stays whole, since what stands in it may undo the rest ("...; the alarm was sold") in words that no list has.
Of a row all words stay; where figures are left out, each that stays has its column's head before it, and so has one
without a unit where the head has words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import regex

from rag_core.domain.claims import Claim
from rag_core.domain.drafts import Draft
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.domain.rows import CELL, EMPTY, NEXT_ROW
from rag_core.facts.differences.values import values
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.facts.sentence.lexicon import cover
from rag_core.grounding.omissions.back import (
    announces,
    hangs,
    is_void,
    needed_with,
    speaks_of_before,
    takes_back,
    takes_up,
)
from rag_core.grounding.units import Unit, header_of, overlaps, units
from rag_core.ingest.normalise import normalise
from rag_core.language import limit_words

_NONE = f"-–—{EMPTY} "  # a cell that says "none"
_STOPS = ".,:;।。，、；： "  # at the end of a sentence or a word, where one more or less changes nothing
_DIGIT, _LETTER = regex.compile(r"\p{Nd}"), regex.compile(r"\p{L}")
_BARE = regex.compile(r"[^\p{L}\p{Sc}%‰°]*")  # a number that says nothing of its unit


def reworded(draft: Draft, hits: Sequence[Hit], page_text: PageText, language: str) -> tuple[bool, ...]:
    """For each claim of a model's draft whether it does more than leave out.

    A sentence that speaks of what stands before it ("It costs 90 euros.") follows the sentence that it follows in the
    document. The first claim follows nothing, unless it holds in some case of the sentence before it ("In that case, it
    is free."). One that the next sentence takes back ("Not on Sundays.") is followed by that, and a step is said with
    those that come first (`needed_with`). Nothing is said of what stands below "Repealed rules". `hits` are the
    passages that the draft may rest on.
    """
    known = {hit.passage.id: hit.passage for hit in hits}
    found = [list(cited_units(claim, known, page_text)) for claim in draft.claims]
    said = tuple(
        not measured.word_for_word and not any(leaves_out_only(claim.text, unit, page_text, language) for unit in cited)
        for claim, measured, cited in zip(draft.claims, draft.measured, found, strict=True)
    )
    steps = [
        (n, step) for n, claim in enumerate(draft.claims) for step in _steps(claim.text, found[n], page_text, language)
    ]
    torn = _torn([step for _, step in steps], [units(passage, page_text) for passage in known.values()], language)
    lost = {n for (n, _), is_torn in zip(steps, torn, strict=True) if is_torn}
    return tuple(own or n in lost for n, own in enumerate(said))


class _Step(NamedTuple):
    """A sentence of a draft, the units that its claim cites, and those that it begins or ends with."""

    text: str
    cited: Sequence[Unit]
    begins: tuple[Unit, ...]
    ends: tuple[Unit, ...]


def _steps(text: str, cited: Sequence[Unit], page_text: PageText, language: str) -> Iterator[_Step]:
    """The sentences of a claim: one, or the units that it copies one behind the other."""
    bare = normalise(text).text.strip()
    copied = {stated: at for unit in cited if (at := bare.find(stated := normalise(unit.text).text.strip())) >= 0}
    parts = sorted(copied, key=lambda one: copied[one])
    for part in parts if " ".join(parts) == bare else [bare]:
        whole = [leaves_out_only(part, unit, page_text, language) for unit in cited]
        begins, ends = (
            tuple(
                unit
                for unit, same in zip(cited, whole, strict=True)
                if same or edge(part, normalise(unit.text).text.strip())
            )
            for edge in (str.startswith, str.endswith)
        )
        yield _Step(part, cited, begins, ends)


def _torn(steps: Sequence[_Step], stated: Sequence[Sequence[Unit]], language: str) -> Iterator[bool]:
    """For each sentence whether it lacks one of the `stated` beside it that it needs, or its heading makes it void."""
    told = [text for step in steps for text in (step.text, *(unit.text for unit in (*step.begins, *step.ends)))]
    # an item that is led in stands by itself
    beside = [pair for found in stated for pair in pairwise(found) if not pair[1].lead]

    def follow(n: int) -> bool:
        """Whether sentence `n` begins, in any passage, right behind the one that the sentence before ends with."""
        return 0 < n < len(steps) and any(
            _stands(one, steps[n - 1].ends) and _stands(two, steps[n].begins) for one, two in beside
        )

    for n, step in enumerate(steps):
        if all(one.passage.kind is PassageKind.TABLE for one in step.cited):  # a row stands by itself
            yield False
            continue
        before = hangs(step.text, language) or (
            n > 0 and (speaks_of_before(step.text, language) or takes_up(step.text, language))
        )
        before = before or any(_stands(two, step.begins) and announces(one.text, language) for one, two in beside)
        behind = any(_stands(one, step.ends) and takes_back(two.text, language) for one, two in beside)
        whole = all(
            found[other].text in told
            for found in stated
            for at, unit in enumerate(found)
            if _stands(unit, step.begins)
            for other in needed_with([one.text for one in found], at, [one.nth for one in found])
        )
        void = bool(step.ends) and all(is_void(one.passage.section, language) for one in step.ends)
        yield void or not whole or (before and not follow(n)) or (behind and not follow(n + 1))


def _stands(unit: Unit, among: Sequence[Unit]) -> bool:
    """Whether a unit is one of these, in another passage that overlaps too."""
    return any(unit.text == one.text and unit.passage.document == one.passage.document for one in among)


def leaves_out_only(text: str, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is a whole sentence, with or without marks of notes, or whole cells of a row, in their order."""
    said_as_it_stands = normalise(text).text.strip()
    # with marks of notes that look like citations: "90 euros [3]."
    if said_as_it_stands == normalise(unit.text).text.strip():
        return True
    bare = strip_marks(said_as_it_stands)
    if unit.passage.kind is PassageKind.TABLE:
        return _of_row(bare, unit, page_text, language)
    return bare.strip().rstrip(_STOPS) == normalise(f"{unit.lead} {unit.text}").text.strip().rstrip(_STOPS)


def cited_units(claim: Claim, known: Mapping[str, Passage], page_text: PageText) -> Iterator[Unit]:
    """The sentences, items and rows in which the claim's quotes stand."""
    for piece in claim.evidence:
        for unit in units(known[piece.passage], page_text) if piece.passage in known else ():
            spans = unit.spans or [span for one in unit.evidence(page_text) for span in one.spans]
            if overlaps(piece.spans, spans):
                yield unit


def _of_row(said: str, unit: Unit, page_text: PageText, language: str) -> bool:
    """Whether a text is cells of a row in their order, each with its column's head before it or without."""
    limits = limit_words(language)
    small = frozenset(map(str.casefold, limits.states if limits else ()))
    told = unit.text.split(CELL)
    cells = [_words(cell, small) for cell in told]
    header = [
        [_words(cell, small) for cell in row.split(CELL)] for row in header_of(unit.passage, page_text).split(NEXT_ROW)
    ]
    heads = next((row for row in reversed(header) if len(row) == len(cells)), [()] * len(cells))
    figures = {n for n, cell in enumerate(told) if n and _is_figure(cell, language)}
    kept = {n for n, cell in enumerate(told) if n not in figures and cell.strip(_NONE)} | {0}
    # a figure without a unit of its own, where its column's head may say one
    headed = {n for n in figures if _BARE.fullmatch(told[n]) and _LETTER.search(" ".join(heads[n]))}
    # words met so far, the cells taken, and those of them with their heads
    reached = {(0, frozenset[int](), frozenset[int]())}
    wanted = _words(said, small | {word.capitalize() for word in small})
    for n, cell in enumerate(cells):
        for place, taken, named in tuple(reached):
            for head in ((), heads[n]) if heads[n] else ((),):
                words = (*head, *cell)
                if words and _as_begun(wanted[place : place + len(words)]) == _as_begun(words):
                    reached.add((place + len(words), taken | {n}, named | {n} if head else named))
    return any(
        place == len(wanted)
        and kept <= taken
        and headed & taken <= named
        and (figures <= taken or figures & taken <= named)
        for place, taken, named in reached
        if taken
    )


def _as_begun(words: Sequence[str]) -> tuple[str, ...]:
    """Words whose first one is small where a capital begins a cell: in "Net sales", and not in "US" or "mW"."""
    first = words[0] if words else ""
    return (first.lower() if len(first) > 2 and first.istitle() else first, *words[1:])


def _is_figure(text: str, language: str) -> bool:
    """Whether a cell holds figures with their units, dates or times, and no other word."""
    found = values(text, language)
    spans = [(one.start, one.end) for one in found.quantities]
    spans += [(one.start, one.end) for one in found.dates] + [(one.start, one.end) for one in found.times]
    covered = cover(text, spans)
    rest = "".join(sign for sign, held in zip(text, covered, strict=True) if not held)
    return bool(_DIGIT.search(text)) and not _LETTER.search(rest)


def _words(text: str, without: frozenset[str]) -> tuple[str, ...]:
    """The words of a text, sign for sign but for the stops behind them."""
    found = (word.rstrip(_STOPS) for word in normalise(text).text.split())
    return tuple(word for word in found if word and word not in without)
