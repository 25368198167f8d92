"""Chooses what a draft's prompt sends of the passages: the sentences that bear on the question, each with all that
belongs to it.

A prompt of ten whole passages has some 3,000 tokens, most of which answer nothing. A small model drowns in them, and a
processor needs half a minute to read them. A sentence is sent whole or not at all, and never without those beside it,
its heading, its lead, and what restricts it in its passage (`belonging`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rag_core.compression.llm.belonging import Belonging, restricts
from rag_core.compression.scoring import Scored
from rag_core.domain.claims import Evidence
from rag_core.domain.passages import Passage
from rag_core.domain.ports import PageText
from rag_core.ingest.normalise import normalise

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

    The best sentence always goes with all that belongs to it, however long that is. The others go as far as there is
    room, those first that may restrict the best one from another passage. One that does not fit with all that belongs
    to it is left out.

    Args:
        scored: sentences and rows of the passages, as an extract is chosen from them.
        page_text: reads a page.
        most: tokens of everything that is sent of the passages.
        around: tokens that a passage costs besides its text: its name, its page.
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
