"""Makes a checked draft of a model's reply: each sentence becomes a claim, each quote a place on a page, or a finding.

The model writes; what counts is on the pages. A quote that does not stand in the passage that it cites is no evidence,
and is reported with the claim; an id that was not retrieved stays as it was written. Nothing here decides whether a
draft is shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace

from rag_core.compression.citing import cite
from rag_core.compression.llm.prompts import source_ids
from rag_core.compression.llm.replies import ClaimReply, Contradiction, DraftReply, Quoted, SufficiencyReply
from rag_core.domain.answer import evidence_key
from rag_core.domain.claims import Citation, Claim, Conflict, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.drafts import ClaimMeasurement, Draft, taken_of
from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.passages import Hit, PassageKind
from rag_core.domain.ports import Corpus, Embedder, EntailmentModel
from rag_core.facts.sentence.citation_marks import citation_marks, strip_marks
from rag_core.grounding.claims import measure_claims
from rag_core.grounding.entailment import MIN_SUPPORT
from rag_core.grounding.quotes import Quote, Sources, Standing
from rag_core.grounding.units import overlaps, units, with_header
from rag_core.ingest.normalise import normalise
from rag_core.language import certain_language, sentences

_MAX_CLAIMS = 20  # more are never shown: they are read as one, and checked all the same
_TOKEN_CHARS = 4  # characters of a language model's token, roughly, in any language
_SIDE_CHARS = 200  # characters shown of a sentence that contradicts another


@dataclass(frozen=True, slots=True)
class _Grounds:
    """The evidence that was found for the citations of a claim."""

    cited: tuple[str, ...] = ()  # the passages it names, by their ids; an unknown id as it was written
    evidence: tuple[Evidence, ...] = ()  # the places of those quotes that stand in what they cite
    missing: tuple[str, ...] = ()  # the other quotes
    elsewhere: tuple[str, ...] = ()  # those of them that stand in another of the passages
    uncertain: tuple[str, ...] = ()  # keys of evidence that must not be marked

    def __add__(self, other: _Grounds) -> _Grounds:
        return _Grounds(
            *(tuple(dict.fromkeys((*getattr(self, one.name), *getattr(other, one.name)))) for one in fields(self))
        )


def model_draft(
    reply: DraftReply,
    hits: Sequence[Hit],
    corpus: Corpus,
    language: str,
    embedder: Embedder,
    entailment_model: EntailmentModel | None,
    supported_from: float = MIN_SUPPORT,
) -> Draft:
    """The draft that a model wrote, with everything measured on its claims.

    `hits` are the passages that it was given: a quote from elsewhere is none. For `embedder` and `supported_from` see
    `measure_claims`.
    """
    given = _Given(hits, corpus)
    said: dict[str, _Grounds] = {}
    for claim in reply.claims:
        grounds = given.grounds(claim)
        for text in _sentences(claim.sentence, language, _MAX_CLAIMS - len(said), grounds.evidence):
            said[text] = said.get(text, _Grounds()) + given.narrowed(grounds, claim.sentence, text)
    claims = tuple(Claim(text, one.evidence, one.cited) for text, one in said.items())
    measured = measure_claims(
        claims,
        given.texts,
        corpus.page_text,
        language,
        embedder,
        entailment_model,
        languages=given.languages,
        supported_from=supported_from,
    )
    return Draft(
        "model" if claims else "none",
        claims,
        tuple(map(taken_of, claims, map(_with_quotes, measured, said.values()))),
        given.citations(claims, [key for one in said.values() for key in one.uncertain]),
        context_chars=given.chars,
    )


def _with_quotes(measured: ClaimMeasurement, grounds: _Grounds) -> ClaimMeasurement:
    """The measurements of a claim with what its citations lack; a claim without evidence lacks nothing else."""
    missing = (*((measured.quotes_missing or ()) if grounds.evidence else ()), *grounds.missing)
    return replace(measured, quotes_missing=tuple(dict.fromkeys(missing)), quotes_elsewhere=grounds.elsewhere)


def draft_facts(draft: Draft, language: str, embedder: Embedder) -> dict[str, object]:
    """The measurements of a draft as a whole, as fields of an `Attempt`.

    `language` is another one than the question's, if any sentence is surely in it, else the question's, if any is;
    empty where no sentence tells. `tokens` are the embedding model's, of all `sentences`, at most one for every four
    characters: an English vocabulary takes Russian apart into letters.
    """
    texts = [claim.text for claim in draft.claims]
    certain = [found for found in map(certain_language, texts) if found]
    told = [other for other in certain if other != language] or certain
    text = " ".join(texts)
    whole, empty = embedder.count_tokens([text, ""])
    return {
        "language": told[0] if told else "",
        "sentences": sum(max(1, len(sentences(text, language))) for text in texts),
        "tokens": min(max(0, whole - empty), math.ceil(len(text) / _TOKEN_CHARS)),
    }


def both_sides(
    reply: SufficiencyReply,
    hits: Sequence[Hit],
    corpus: Corpus,
    library: LibraryFacts,
    language: str,
    embedder: Embedder,
) -> tuple[Draft, Conflict] | None:
    """The two sentences that a model says contradict each other, word for word, and their conflict; or None."""
    given = _Given(hits, corpus)
    found = next((sides for pair in reply.contradictions if (sides := given.sides(pair))), None)
    if found is None:
        return None
    claims = tuple(
        Claim(given.sources.reading(side.evidence), side.evidence, (side.evidence[0].passage,)) for side in found
    )
    measured = measure_claims(claims, given.texts, corpus.page_text, language, embedder, whole=True)
    uncertain = [evidence_key(one) for side in found if not side.certain for one in side.evidence]
    draft = Draft("extract", claims, measured, given.citations(claims, uncertain), context_chars=given.chars)
    values = claims[0].text[:_SIDE_CHARS], claims[1].text[:_SIDE_CHARS]
    return draft, library.conflict(claims[0].evidence[0], claims[1].evidence[0], values, (0, 1))


class _Given:
    """The passages that the model was given, under the ids that it was given and under their own."""

    def __init__(self, hits: Sequence[Hit], corpus: Corpus) -> None:
        self._hits, self._corpus = hits, corpus
        self._known = {**{hit.passage.id: hit.passage for hit in hits}, **source_ids(hits)}
        self.sources = Sources((hit.passage for hit in hits), corpus.page_text)
        self.texts = {hit.passage.id: with_header(hit.passage) for hit in hits}
        self.languages = {hit.passage.id: hit.passage.language for hit in hits}
        self.chars = sum(len(hit.passage.text) for hit in hits)

    def grounds(self, claim: ClaimReply) -> _Grounds:
        """The evidence for a claim's quotes and for the marks in its text."""
        found = _Grounds()
        for one in claim.evidence:
            found += self._grounds_of(one, claim.sentence)
        quoted = {one.source for one in claim.evidence}
        evidence = " ".join(one.quote for one in found.evidence)
        marks = {mark.ref: claim.sentence[mark.start : mark.end] for mark in citation_marks(claim.sentence)}
        # or it is the document's own mark
        for ref in (ref for ref, mark in marks.items() if ref not in quoted and mark not in evidence):
            found += self._grounds_of(Quoted(source=ref, quote=""), claim.sentence)
        return found

    def _grounds_of(self, one: Quoted, claim: str) -> _Grounds:
        """A quote; of a citation without one the claim is the quote."""
        passage = self._known.get(one.source)
        if passage is None:
            return _Grounds(cited=(one.source,))
        quote = (one.quote or f"no quote from {passage.id}",)
        bare = strip_marks(claim)
        found = self.sources.find(one.quote.strip() or bare, passage.id, bare)
        return _Grounds(
            cited=(passage.id,),
            evidence=found.evidence,
            missing=() if found.standing is Standing.FOUND else quote,
            elsewhere=quote if found.standing is Standing.ELSEWHERE else (),
            uncertain=() if found.certain else tuple(map(evidence_key, found.evidence)),
        )

    def narrowed(self, grounds: _Grounds, claim: str, text: str) -> _Grounds:
        """The grounds of a sentence of a claim that quotes all of its sentences word for word."""
        wide = [piece for piece in grounds.evidence if piece.quote != text and _bare(piece.quote) == _bare(claim)]
        cut = {piece: own for piece in wide if (own := self._sentence(piece, text))}
        if not cut:
            return grounds
        unsure = [evidence_key(own) for piece, own in cut.items() if evidence_key(piece) in grounds.uncertain]
        evidence = tuple(cut.get(piece, piece) for piece in grounds.evidence)
        return replace(grounds, evidence=evidence, uncertain=(*grounds.uncertain, *unsure))

    def _sentence(self, piece: Evidence, text: str) -> Evidence | None:
        """The sentence of a quote that this text is, word for word; None where it is none, or not on one page."""
        passage = self._known[piece.passage]
        for unit in () if passage.kind is PassageKind.TABLE else units(passage, self._corpus.page_text):
            own = unit.evidence(self._corpus.page_text)
            if len(own) == 1 and _bare(unit.text) == _bare(text) and overlaps(own[0].spans, piece.spans):
                return own[0]
        return None

    def sides(self, pair: Contradiction) -> tuple[Quote, Quote] | None:
        """Where the two quotes of a contradiction stand; None unless both do, in different sentences."""
        found = [
            self.sources.find(one.quote, self._known[one.source].id)
            for one in (pair.first, pair.second)
            if one.source in self._known
        ]
        if len(found) < 2 or not all(side.evidence for side in found):
            return None
        first, second = found
        same = {one.document for one in first.evidence} & {one.document for one in second.evidence}
        overlap = same and overlaps(_spans(first), _spans(second))
        alike = self.sources.reading(first.evidence) == self.sources.reading(second.evidence)
        return None if overlap or alike else (first, second)

    def citations(self, claims: Sequence[Claim], uncertain: Collection[str]) -> dict[str, Citation]:
        """The citations of these claims; where a place is not certain, nothing is marked."""
        found = cite(claims, self._hits, self._corpus)
        return {key: replace(citation, boxes=()) if key in uncertain else citation for key, citation in found.items()}


def _sentences(text: str, language: str, room: int, evidence: Sequence[Evidence]) -> list[str]:
    """The sentences of a claim in reading form, without marks but the evidence's; one where no room is."""
    said, told = normalise(text).text, normalise("\n".join(piece.quote for piece in evidence)).text
    if not any(_as_told(said[start:end], told) for start, end in sentences(said, language)):
        said = _bare(said)
    parts = (said[start:end] for start, end in sentences(said, language))
    found = [sentence for part in parts if (sentence := _as_told(part, told) or _bare(part))]
    return found if len(found) <= max(1, room) else [_bare(said)]


def _as_told(sentence: str, told: str) -> str:
    """A sentence with the citation marks that it has in its evidence; empty where it has none there."""
    while marks := citation_marks(sentence):
        if sentence in told:
            return sentence
        if sentence[marks[-1].end :]:
            break
        sentence = sentence[: marks[-1].start].rstrip()
    return ""


def _bare(text: str) -> str:
    """A text in reading form, without citation marks."""
    return normalise(strip_marks(normalise(text).text)).text


def _spans(side: Quote) -> list[Span]:
    return [one.spans[0] for one in side.evidence]
