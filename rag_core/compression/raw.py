"""The raw draft: retrieved passages unchanged, for presets that return short contexts as they are."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.compression.extract import Extract
from rag_core.compression.scoring import Scored
from rag_core.domain.claims import Claim
from rag_core.domain.passages import Hit
from rag_core.domain.ports import PageText
from rag_core.gating.keywords import context_of
from rag_core.grounding.units import evidence_of, units
from rag_core.language import words
from rag_core.settings import Settings


def short_enough(hits: Sequence[Hit], settings: Settings) -> bool:
    """Whether the context, passages joined by a line of three hyphens, has at most `short_context_words` words."""
    return context_words(hits) <= settings.short_context_words


def context_words(hits: Sequence[Hit]) -> int:
    """How many words the context has: the passages joined by a line of three hyphens."""
    return len(words(context_of([hit.passage.text for hit in hits])))


def stays_whole(hits: Sequence[Hit], settings: Settings) -> bool:
    """Whether passages are returned whole: unless `strict_summary`, and short ones even so where `return_short_context` is on."""
    return not settings.strict_summary or (settings.return_short_context and short_enough(hits, settings))


def whole_passages(hits: Sequence[Hit], page_text: PageText) -> tuple[Claim, ...]:
    """One claim a passage, its text unchanged, in the order of the hits."""
    return tuple(
        Claim(hit.passage.text.strip(), tuple(evidence_of(hit.passage, span, page_text) for span in hit.passage.spans), (hit.passage.id,))
        for hit in hits
    )


def first_sentences(hits: Sequence[Hit], page_text: PageText, settings: Settings) -> Extract:
    """The first `max_sentences` sentences of the passages as they are, none of them scored."""
    everything = [Scored(unit, {}, 0.0) for hit in hits for unit in units(hit.passage, page_text)]
    chosen = tuple(everything[: settings.max_sentences])
    claims = tuple(Claim(one.unit.text, one.unit.evidence(page_text), (one.unit.passage.id,)) for one in chosen)
    return Extract(claims, 0.0, chosen, tuple(everything))
