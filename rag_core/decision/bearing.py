"""Tells whether a draft of a language model bears on the question: a true sentence about something else is no answer.

The score of a question was taken of its extract. A draft that may only leave out is made of sentences as well, and each
is scored as the extract's candidates are. One of them at least must be good enough for an extract: nearly as good as
the best (`extra_sentence_ratio`). And no other passage may contradict any of them: an extract is shown with its other
side, a draft has none.

A draft also has the calibrated score of its own that an extract has, from the sentences that it cites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_core.compression.conflicts import another_side
from rag_core.compression.extract import Extract
from rag_core.compression.scoring import PASSAGES, Scored, score_units
from rag_core.decision.tools import Tools
from rag_core.domain.drafts import Draft
from rag_core.domain.indexing import indexing_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.ports import Corpus
from rag_core.gating.asked import asked_for
from rag_core.gating.features import DRAFTED, nearness, reader
from rag_core.grounding.contradictions.subject import Asked
from rag_core.grounding.own_words import cited_units
from rag_core.grounding.units import Unit
from rag_core.retrieval.query import prepared
from rag_core.retrieval.titled import titled


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """The sentences of passages with their relevance to one question; passages are scored once."""

    measurements: Measurements  # those of the question
    corpus: Corpus  # the version that was searched
    tools: Tools  # with the models that score, and the calibration
    _known: dict[tuple[Hit, ...], Sequence[Scored]] = field(default_factory=dict, repr=False)

    def of(self, hits: Sequence[Hit]) -> Sequence[Scored]:
        """The sentences of these passages, `PASSAGES` at most, best first."""
        key = tuple(hits)
        if key and key not in self._known:
            self._known[key] = _scored(self.measurements, key, self.corpus, self.tools)
        return self._known.get(key, ())


def bears(draft: Draft, hits: Sequence[Hit], scores: SentenceScores) -> bool:
    """Whether a sentence that a draft cites answers about as well as the best of `hits`; True where it cites none."""
    cited = {_key(one): one for units in _cited(draft, hits, scores.corpus) for one in units}
    if not cited:
        return True
    deeper = {one.passage.id for one in cited.values()} - {hit.passage.id for hit in hits[:PASSAGES]}
    relevance = _relevance(scores.of(hits[:PASSAGES]))
    best = max(relevance.values(), default=0.0)
    relevance |= _relevance(scores.of([hit for hit in hits if hit.passage.id in deeper][:PASSAGES]))
    return max(relevance.get(key, 0.0) for key in cited) >= scores.measurements.settings.extra_sentence_ratio * best


def draft_correctness(draft: Draft, hits: Sequence[Hit], scores: SentenceScores) -> float | None:
    """The calibrated probability that a model's draft is right, in [0, 1]; None where no calibration fits.

    It is that of the extract for its very words. The features of the retrieval are those of the first search, those of
    the draft are taken of the sentences that its claims cite. `hits` are the passages it was given, best first.
    """
    measurements, corpus, tools = scores.measurements, scores.corpus, scores.tools
    calibration = tools.calibration.correctness if tools.calibration else None
    if calibration is None or not draft.claims:
        return None
    cited = [list(map(_key, units)) for units in _cited(draft, hits, corpus)]
    scored = list(scores.of(hits[:PASSAGES]))
    wanted = {piece.passage for claim in draft.claims for piece in claim.evidence} - {
        hit.passage.id for hit in hits[:PASSAGES]
    }
    deeper = [hit for hit in hits if hit.passage.id in wanted][:PASSAGES]
    if deeper:
        scored += scores.of(deeper)
    by_text = {_key(one.unit): one for one in reversed(scored)}
    rests = [
        max((by_text[key] for key in keys if key in by_text), key=lambda one: one.relevance, default=None)
        for keys in cited
    ]
    found = Extract(draft.claims, tuple(one for one in rests if one is not None), tuple(scored))
    language = measurements.understanding.language
    features = found.features(tools.knows(language), hits, language)
    value = calibration.probability({**measurements.features, **{name: features[name] for name in DRAFTED}})
    state = indexing_of(measurements.metadata)
    return state.lowered(value) if state else value


def is_one_sided(draft: Draft, measurements: Measurements, hits: Sequence[Hit], corpus: Corpus) -> bool:
    """Whether a passage contradicts a sentence that the draft cites, and it does not state that too."""
    cited = [one for units in _cited(draft, hits, corpus) for one in units]
    asked = Asked(measurements.question, measurements.understanding.language, measurements.library)
    return another_side(cited, hits, asked, corpus.page_text) is not None


def _cited(draft: Draft, hits: Sequence[Hit], corpus: Corpus) -> list[list[Unit]]:
    known = {hit.passage.id: hit.passage for hit in hits}
    return [list(cited_units(claim, known, corpus.page_text)) for claim in draft.claims]


def _key(unit: Unit) -> tuple[str, str]:
    return unit.passage.document, unit.text


def _relevance(scored: Sequence[Scored]) -> dict[tuple[str, str], float]:
    return {_key(one.unit): one.relevance for one in scored}


def _scored(measurements: Measurements, hits: Sequence[Hit], corpus: Corpus, tools: Tools) -> list[Scored]:
    language = measurements.understanding.language
    text = prepared(measurements.question, language)
    return score_units(
        hits,
        asked_for(measurements.question, language),
        corpus.page_text,
        titles=measurements.library.titles,
        named=titled(measurements.understanding.entities, language, corpus),
        near=nearness(text, tools.embedder),
        read=reader(text, tools.answerability_model),
    )
