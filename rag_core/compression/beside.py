"""Completes an extract: a sentence that needs the one beside it in its document is never shown without it.

"Dogs are allowed. Not in the hall, though." says something else without its second sentence.
`rag_core.grounding.omissions.back` tells such sentences by the lists of their language; a model's draft is held to the
same (`rag_core.grounding.own_words`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rag_core.compression.extract import Extract, claim_of
from rag_core.compression.scoring import Scored
from rag_core.domain.passages import PassageKind
from rag_core.domain.ports import PageText
from rag_core.grounding.omissions.back import announces, hangs, is_note_of, needed_with, takes_back
from rag_core.grounding.units import units


def completed(found: Extract, page_text: PageText, max_sentences: int) -> Extract:
    """The extract with the sentences that its own need, each where it stands in the document.

    Sentences that bear less on the question make room for them; only the likest one and what it needs may be more than
    `max_sentences`.
    """
    known = {one.unit.key: one for one in found.scored}
    groups = [_with_beside(one, known, page_text) for one in found.chosen]
    if all(len(group) == 1 for group in groups):
        return found
    kept, room = set[int](), max_sentences
    for n in sorted(range(len(groups)), key=lambda n: -found.chosen[n].relevance):
        if not kept or len(groups[n]) <= room:
            kept.add(n)
            room -= len(groups[n])
    chosen = {one.unit.key: one for n in sorted(kept) for one in groups[n]}
    stated = {one.unit.key: claim for one, claim in zip(found.chosen, found.claims, strict=True)}
    return replace(
        found,
        claims=tuple(stated.get(key) or claim_of(one, page_text) for key, one in chosen.items()),
        chosen=tuple(chosen.values()),
        scored=(*found.scored, *(one for key, one in chosen.items() if key not in known)),
    )


def _with_beside(one: Scored, known: Mapping[tuple[str, int, int], Scored], page_text: PageText) -> list[Scored]:
    """A sentence with those of its passage that it needs, in their order; a row with its notes.

    A led-in item needs those before a step.
    """
    unit, language = one.unit, one.unit.passage.language
    if unit.passage.kind is PassageKind.CODE:
        return [one]
    if unit.passage.kind is PassageKind.TABLE:
        here = unit.passage.document, unit.passage.section
        below = [other for other in known.values() if (other.unit.passage.document, other.unit.passage.section) == here]
        return [one, *(other for other in below if other is not one and is_note_of(other.unit.text, unit.text))]
    stated = units(unit.passage, page_text)
    at = [other.key for other in stated].index(unit.key)
    needed = {at, *needed_with([other.text for other in stated], at)}
    if not unit.lead:
        needed |= {
            n for n in range(max(0, at - 1), at) if hangs(unit.text, language) or announces(stated[n].text, language)
        }
        needed |= {
            n
            for n in range(at + 1, min(at + 2, len(stated)))
            if not stated[n].lead and takes_back(stated[n].text, language)
        }
    return [one if n == at else known.get(stated[n].key) or replace(one, unit=stated[n]) for n in sorted(needed)]
