"""The ways in which a question can end: an answer, a refusal, or a reply that needs no document.

An `Answer` is built from claims that cite evidence and were measured, and its text is rendered from them. So an answer without a citation,
or with a sentence that is no claim, cannot be constructed by anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_core.domain.claims import Citation, Claim, Conflict, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.status import AnswerStatus, Reason


def evidence_key(evidence: Evidence) -> str:
    """The key of one piece of evidence in a draft's citations: its passage and its first span."""
    return _key(evidence.passage, evidence.spans[0])


def _key(passage: str, span: Span) -> str:
    return f"{passage}@{span.page}:{span.start}-{span.end}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that may be shown.

    Args:
        claims: its sentences, in the order in which they are read; at least one.
        measured: what was measured on each of them, in their order.
        citations: every stretch of evidence of the claims, numbered from 1 in order of first use.
        conflicts: which claims contradict each other, by their indexes in `claims`.
        style: where the citations are shown in the text: "inline", "end" or "none".
        format: how one is written.
        spoken: each claim as it is read, in their order: a row of a table in words. Empty where each is read as it stands.

    Raises:
        ValueError: no claim, a claim without evidence or without its citation, a citation that was not retrieved, a quote that does not
            stand on its page, or one of these that was not measured. Refuse instead.
    """

    claims: tuple[Claim, ...]
    measured: tuple[ClaimMeasurement, ...]
    citations: tuple[Citation, ...]
    conflicts: tuple[Conflict, ...] = ()
    style: str = "inline"
    format: str = "[{id}]"
    spoken: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.claims:
            raise ValueError("an answer needs at least one claim; refuse instead")
        if len(self.measured) != len(self.claims):
            raise ValueError(f"{len(self.claims)} claims need as many measurements, got {len(self.measured)}; refuse instead")
        if self.spoken and len(self.spoken) != len(self.claims):
            raise ValueError(f"{len(self.claims)} claims are read as so many texts, got {len(self.spoken)}; refuse instead")
        by_key = _by_key(self.citations)
        for claim, measured in zip(self.claims, self.measured, strict=True):
            wrong = _wrong_with(claim, measured, by_key)
            if wrong:
                raise ValueError(f"the claim {claim.text[:80]!r} {wrong}; refuse instead")

    @property
    def text(self) -> str:
        """The text to show, rendered from the claims with their citations."""
        return render(self.claims, _by_key(self.citations), self.style, self.format, self.spoken)


@dataclass(frozen=True, slots=True)
class Reply:
    """A greeting or other polite words, or what the library holds. It claims nothing about the content of any document."""

    text: str
    reason: Reason

    def __post_init__(self) -> None:
        if self.reason not in (Reason.GREETING, Reason.ABOUT_LIBRARY) or not self.text:
            raise ValueError(f"a reply needs a text and is a greeting or about the library, got {self.reason}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer, and what to do.

    Args:
        text: the refusal sentence in the question's language.
        reasons: all of them; the first gives the status.
        explanation: one sentence that says truthfully why, with the measured value.
        suggestions: what the reader can do.
        places: where a reader may look: quotes near the question, the likest first. They are no answer, and no part of the text.
    """

    text: str
    reasons: tuple[Reason, ...]
    explanation: str = ""
    suggestions: tuple[str, ...] = ()
    places: tuple[Citation, ...] = ()

    def __post_init__(self) -> None:
        if not self.reasons or any(reason.status is AnswerStatus.SUCCESS for reason in self.reasons):
            raise ValueError(f"a refusal needs a reason, and none of an answer, got {self.reasons}")

    @property
    def reason(self) -> Reason:
        """The first reason."""
        return self.reasons[0]


Outcome = Answer | Reply | Refusal


def cited_sources(claims: Iterable[Claim], citations: Mapping[str, Citation]) -> tuple[Citation, ...]:
    """The citations that the claims rest on, each once, in the order of first use."""
    used = [citations[evidence_key(evidence)] for claim in claims for evidence in claim.evidence]
    return tuple({citation.id: citation for citation in used}.values())


def render(claims: Sequence[Claim], citations: Mapping[str, Citation], style: str, format: str, spoken: Sequence[str] = ()) -> str:
    """The answer's text: each claim followed by its citations, or all of them at the end, or none.

    Args:
        claims: in the order in which they are read.
        citations: by `evidence_key`.
        style: "inline", "end" or "none".
        format: of one citation, with `{id}` or `{chunk_id}`.
        spoken: the text of each claim as it is read; empty where it is read as it stands.

    Raises:
        ValueError: a claim without evidence, or evidence without its citation; such an answer must never be shown.
    """
    pieces = []
    for claim, text in zip(claims, spoken or [claim.text for claim in claims], strict=True):
        sources = cited_sources([claim], citations) if all(evidence_key(e) in citations for e in claim.evidence) else ()
        if not sources:
            raise ValueError(f"An answer cannot be composed from a claim without citations: {claim.text[:80]!r}")
        marks = "".join(_mark(source, format) for source in sources)
        pieces.append(f"{text} {marks}" if style == "inline" else text)
    if style == "end" and pieces:
        pieces.append("".join(_mark(source, format) for source in cited_sources(claims, citations)))
    return " ".join(pieces)


def _mark(citation: Citation, format: str) -> str:
    return format.format(id=citation.id, chunk_id=citation.chunk_id)


def _by_key(citations: Iterable[Citation]) -> dict[str, Citation]:
    return {_key(citation.chunk_id, citation.spans[0]): citation for citation in citations if citation.spans}


def _wrong_with(claim: Claim, measured: ClaimMeasurement, citations: Mapping[str, Citation]) -> str:
    """Why a claim cannot be part of an answer, whatever the settings are; empty where it can."""
    if not claim.text.strip() or not claim.evidence:
        return "has no text or no evidence"
    for evidence in claim.evidence:
        citation = citations.get(evidence_key(evidence)) if evidence.spans else None
        if citation is None or citation.excerpt != evidence.quote or citation.document_id != evidence.document:
            return "rests on evidence that is not cited"
    if measured.fabricated is None or measured.quotes_missing is None:
        return "was not measured"
    if measured.fabricated or measured.quotes_missing:
        return "names a source that was not retrieved, or a quote that does not stand on its page"
    return ""
