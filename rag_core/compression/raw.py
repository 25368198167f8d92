"""The raw draft: retrieved passages unchanged, for presets that return short contexts as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.compression.extract import Extract
from rag_core.compression.scoring import Scored
from rag_core.domain.claims import Claim
from rag_core.domain.passages import Hit, Passage
from rag_core.domain.ports import PageText
from rag_core.gating.keywords import context_of
from rag_core.grounding.units import Unit, evidence_of, units
from rag_core.language import is_order, word_texts
from rag_core.settings import Settings


def short_enough(hits: Sequence[Hit], settings: Settings) -> bool:
    """Whether the context, passages joined by a line of three hyphens, has at most `short_context_words` words."""
    return context_words(hits) <= settings.short_context_words


def context_words(hits: Sequence[Hit]) -> int:
    """How many words the context has: the passages joined by a line of three hyphens."""
    return sum(1 for _ in word_texts(context_of([hit.passage.text for hit in hits])))


def stays_whole(hits: Sequence[Hit], settings: Settings) -> bool:
    """Whether passages are returned whole: unless `strict_summary`, and short ones even so where `return_short_context`
    is on.
    """
    return not settings.strict_summary or (settings.return_short_context and short_enough(hits, settings))


def whole_passages(hits: Sequence[Hit], page_text: PageText) -> tuple[Claim, ...]:
    """One claim a passage, its text unchanged, in the order of the hits; without its orders to a language model, where
    it has any.
    """
    return tuple(claim for hit in hits for claim in _whole(hit.passage, page_text))


def _whole(passage: Passage, page_text: PageText) -> Iterator[Claim]:
    """The passage as one claim; each of its other sentences as one, where some order a language model about: nothing
    may rest on those.
    """
    found = units(passage, page_text)
    stated = _stated(found)
    if len(stated) < len(found):
        yield from (_claim(unit, page_text) for unit in stated)
        return
    yield Claim(
        passage.text.strip(), tuple(evidence_of(passage, span, page_text) for span in passage.spans), (passage.id,)
    )


def _stated(found: Sequence[Unit]) -> list[Unit]:
    return [unit for unit in found if not is_order(unit.text)]


def _claim(unit: Unit, page_text: PageText) -> Claim:
    return Claim(unit.text, unit.evidence(page_text), (unit.passage.id,))


def first_sentences(hits: Sequence[Hit], page_text: PageText, settings: Settings) -> Extract:
    """The first `max_sentences` sentences of the passages as they are, none of them scored; orders to a language model
    are none.
    """
    everything = [Scored(unit, {}, 0.0) for hit in hits for unit in _stated(units(hit.passage, page_text))]
    chosen = tuple(everything[: settings.max_sentences])
    return Extract(tuple(_claim(one.unit, page_text) for one in chosen), chosen, tuple(everything))


def as_they_stand(quoted: Sequence[Unit], page_text: PageText) -> tuple[Claim, ...]:
    """One claim a sentence, for those that a question asks for by their place; orders to a language model are none."""
    return tuple(_claim(unit, page_text) for unit in _stated(quoted))
