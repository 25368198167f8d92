"""Chooses what a draft's prompt sends of the passages: the sentences that bear on the question, with those beside them.

A prompt of ten whole passages has some 3,000 tokens, most of which answer nothing. A small model drowns in them, and a processor needs half
a minute to read them. A sentence is sent whole or not at all, and its quote is looked up in the full passage as before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rag_core.compression.extract import Scored
from rag_core.domain.passages import Passage
from rag_core.domain.ports import PageText
from rag_core.grounding.units import Unit, units
from rag_core.ingest.normalise import normalise

BYTES_OF_A_TOKEN = 3.5  # UTF-8; English has some 4, tokenizers differ by a third and more
GAP = " […] "  # between sentences of a passage that do not follow one another


def tokens_of(text: str) -> int:
    """About how many tokens a language model reads in a text, by its bytes."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_OF_A_TOKEN)


def excerpts(scored: Sequence[Scored], page_text: PageText, most: int, around: Callable[[Passage], int]) -> Mapping[str, str]:
    """The text that is sent of each passage, by passage id, that with the best sentence first.

    The likest sentence goes with its neighbours and the sentence that leads it in, then the next one, until one does not fit. The best one
    always goes.

    Args:
        scored: sentences and rows of the passages, as an extract is chosen from them.
        page_text: reads a page.
        most: tokens of everything that is sent of the passages.
        around: tokens that a passage costs besides its text: its name, its page.
    """
    own: dict[str, tuple[Passage, list[Unit]]] = {}
    taken: dict[str, set[int]] = {}
    room = most
    for one in sorted(scored, key=lambda one: -one.relevance):
        passage = one.unit.passage
        _, inside = own.setdefault(passage.id, (passage, units(passage, page_text)))
        place = next(at for at, unit in enumerate(inside) if (unit.start, unit.end) == (one.unit.start, one.unit.end))
        before = taken.get(passage.id, set())
        label = 0 if before else around(passage)
        for wanted in (_with_neighbours(place, inside), {place}):
            cost = label + sum(tokens_of(inside[at].text) for at in wanted - before)
            if cost <= room or not taken:
                break
        else:
            break
        taken[passage.id] = before | wanted
        room -= cost
    return {id: _text(own[id][0], [own[id][1][at] for at in sorted(places)], own[id][1], page_text) for id, places in taken.items()}


def _with_neighbours(place: int, inside: Sequence[Unit]) -> set[int]:
    leads = {at for at, unit in enumerate(inside) if inside[place].lead and unit.text == inside[place].lead}
    return {at for at in (place - 1, place, place + 1) if 0 <= at < len(inside)} | leads


def _text(passage: Passage, chosen: Sequence[Unit], inside: Sequence[Unit], page_text: PageText) -> str:
    """The passage's own words at these sentences; all of them where a row cannot be found again in its reading form."""
    stretches: list[tuple[int, int]] = []
    at = {id(unit): number for number, unit in enumerate(inside)}
    last = -2
    for unit in chosen:
        place = _place(passage, unit, stretches[-1][1] if stretches else 0, page_text)
        if place is None:
            return passage.text
        if at[id(unit)] == last + 1:
            place = (stretches.pop()[0], place[1])
        stretches.append(place)
        last = at[id(unit)]
    return GAP.join(passage.text[start:end] for start, end in stretches)


def _place(passage: Passage, unit: Unit, begin: int, page_text: PageText) -> tuple[int, int] | None:
    """Where a unit stands in the passage's text; for the rows of a table, whose offsets are the page's, by their words."""
    if not unit.spans:
        return unit.start, unit.end
    row = normalise(page_text(passage.document, unit.spans[0].page)[unit.spans[0].start : unit.spans[0].end]).text
    start = passage.text.find(row, begin)
    return None if start < 0 else (start, start + len(row))
