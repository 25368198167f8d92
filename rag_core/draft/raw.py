"""The raw draft: retrieved passages unchanged, for presets that return short contexts as they are (S0-19, S0-21)."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.domain import Claim, Hit
from rag_core.draft.units import Unit, evidence_of, units
from rag_core.keyword_match import context_of
from rag_core.language import words
from rag_core.ports import PageText
from rag_core.settings import Settings


def short_enough(hits: Sequence[Hit], settings: Settings) -> bool:
    """Whether the context, passages joined as S0-18 says, has at most `short_context_words` words."""
    return len(words(context_of([hit.passage.text for hit in hits]))) <= settings.short_context_words


def raw_draft(hits: Sequence[Hit], page_text: PageText, settings: Settings) -> tuple[Claim, ...]:
    """One claim a passage, its text unchanged; with `strict_summary` the first `max_sentences` sentences instead (S0-22, S0-27).

    Where `return_short_context` is on, a short context stays unchanged even so (S0-21).
    """
    if not settings.strict_summary or (settings.return_short_context and short_enough(hits, settings)):
        return tuple(
            Claim(
                hit.passage.text.strip(),
                tuple(evidence_of(hit.passage, span, page_text) for span in hit.passage.spans),
                (hit.passage.id,),
            )
            for hit in hits
        )
    sentences: list[Unit] = [unit for hit in hits for unit in units(hit.passage, page_text)][: settings.max_sentences]
    return tuple(Claim(unit.text, unit.evidence(page_text), (unit.passage.id,)) for unit in sentences)
