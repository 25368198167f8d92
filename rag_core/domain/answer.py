"""The ways in which a question can end: an answer, a refusal, or a reply that needs no document.

An `Answer` is built from claims that cite evidence, each with the measurements that were taken of this very claim, and
its text is rendered from them and nothing else. So neither building one nor `replace` gives an answer without a
citation, with a sentence that is no claim, or with a claim that nobody measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from rag_core.domain.claims import Citation, Claim, Conflict, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.replies import is_reply
from rag_core.domain.rows import in_words
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.settings import Settings

_STYLES, _FORMATS = (
    frozenset(get_args(Settings.model_fields[name].annotation)) for name in ("citation_style", "citation_format")
)


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
        style: where the citations are shown in the text, one of the setting `citation_style`.
        format: how one is written, one of the setting `citation_format`.

    Raises:
        ValueError: no claim, a claim without evidence or without its citation, a citation that was not retrieved, a
            quote that does not stand on its page, measurements of another claim, or one of these that was not measured.
            Refuse instead.
    """

    claims: tuple[Claim, ...]
    measured: tuple[ClaimMeasurement, ...]
    citations: tuple[Citation, ...]
    conflicts: tuple[Conflict, ...] = ()
    style: str = "inline"
    format: str = "[{id}]"

    def __post_init__(self) -> None:
        if any(type(parts) is not tuple for parts in (self.claims, self.measured, self.citations, self.conflicts)):
            raise ValueError("the parts of an answer are tuples, which nobody changes later; refuse instead")
        if not self.claims:
            raise ValueError("an answer needs at least one claim; refuse instead")
        if len(self.measured) != len(self.claims):
            raise ValueError(
                f"{len(self.claims)} claims need as many measurements, got {len(self.measured)}; refuse instead"
            )
        if self.style not in _STYLES or self.format not in _FORMATS:
            raise ValueError(f"no setting shows citations as {self.style!r} and {self.format!r}; refuse instead")
        if [(type(citation.id), citation.id) for citation in self.citations] != [
            (int, n) for n in range(1, len(self.citations) + 1)
        ]:
            raise ValueError("citations are numbered from 1; refuse instead")
        if any(not 0 <= at < len(self.claims) for one in self.conflicts for at in (one.claim, one.other)):
            raise ValueError("a conflict is between two claims of the answer; refuse instead")
        cited = by_key(self.citations)
        for claim, measured in zip(self.claims, self.measured, strict=True):
            wrong = _wrong_with(claim, measured, cited)
            if wrong:
                raise ValueError(f"the claim {claim.text[:80]!r} {wrong}; refuse instead")
        if len(cited_sources(self.claims, cited)) != len(self.citations):
            raise ValueError("a citation that no claim rests on; refuse instead")

    @property
    def text(self) -> str:
        """The text to show, rendered from the claims with their citations."""
        return render(self.claims, by_key(self.citations), self.style, self.format)


@dataclass(frozen=True, slots=True)
class Reply:
    """A greeting or other polite words, or what the library holds. It claims nothing about the content of any document.

    Args:
        text: as `rag_core.domain.replies.reply` makes it: words of the language's file, and of a library its numbers
            and titles.
        reason: GREETING or ABOUT_LIBRARY.
        language: ISO 639-1, of the question; any other is answered in English.

    Raises:
        ValueError: another text, or another reason. So no sentence of a document, a model or a program can be a reply.
    """

    text: str
    reason: Reason
    language: str

    def __post_init__(self) -> None:
        if not is_reply(self.text, self.reason, self.language):
            raise ValueError(
                f"a reply is a greeting or about the library, in our own words, got {self.reason}: {self.text[:80]!r}"
            )


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer, and what to do.

    Args:
        text: the refusal sentence in the question's language.
        reasons: all of them; the first gives the status.
        explanation: one sentence that says truthfully why, with the measured value.
        suggestions: what the reader can do.
        places: where a reader may look: quotes near the question, the likest first. They are no answer, and no part of
            the text.
        may_be: the calibrated probability, in [0, 1], that the first of them is the answer; None where it is too low to
            be said.
    """

    text: str
    reasons: tuple[Reason, ...]
    explanation: str = ""
    suggestions: tuple[str, ...] = ()
    places: tuple[Citation, ...] = ()
    may_be: float | None = None

    def __post_init__(self) -> None:
        if self.may_be is not None and not self.places:
            raise ValueError("a refusal that says what may be the answer needs its place")
        if not self.reasons or any(reason.status is AnswerStatus.SUCCESS for reason in self.reasons):
            raise ValueError(f"a refusal needs a reason, and none of an answer, got {self.reasons}")

    @property
    def reason(self) -> Reason:
        return self.reasons[0]


Outcome = Answer | Reply | Refusal


def is_scanned(claim: Claim, citations: Iterable[Citation]) -> bool:
    """Whether a claim rests on words that were read from a picture."""
    scanned = by_key(citation for citation in citations if citation.ocr)
    return any(evidence_key(evidence) in scanned for evidence in claim.evidence if evidence.spans)


def cited_sources(claims: Iterable[Claim], citations: Mapping[str, Citation]) -> tuple[Citation, ...]:
    """The citations that the claims rest on, each once, in the order of first use."""
    used = [citations[evidence_key(evidence)] for claim in claims for evidence in claim.evidence]
    return tuple({citation.id: citation for citation in used}.values())


def render(claims: Sequence[Claim], citations: Mapping[str, Citation], style: str, format: str) -> str:
    """The answer's text: each claim, a row of a table in words, and its citations by `style` ("inline", "end" or
    "none").

    `citations` are by `evidence_key`; `format` is of one, with `{id}` or `{chunk_id}`.

    Raises:
        ValueError: a claim without evidence, or evidence without its citation; such an answer must never be shown.
    """
    pieces = []
    for claim in claims:
        text = in_words(claim.text)
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


def by_key(citations: Iterable[Citation]) -> dict[str, Citation]:
    return {_key(citation.chunk_id, citation.spans[0]): citation for citation in citations if citation.spans}


def _wrong_with(claim: Claim, measured: ClaimMeasurement, citations: Mapping[str, Citation]) -> str:
    """Why a claim cannot be part of an answer, whatever the settings are; empty where it can."""
    if not claim.text.strip() or not claim.evidence:
        return "has no text or no evidence"
    for evidence in claim.evidence:
        citation = citations.get(evidence_key(evidence)) if evidence.spans else None
        if citation is None or (citation.excerpt, citation.document_id, citation.spans, citation.page) != (
            evidence.quote,
            evidence.document,
            evidence.spans,
            evidence.spans[0].page,
        ):
            return "rests on evidence that is not cited"
    if measured.of != claim or measured.fabricated is None or measured.quotes_missing is None:
        return "was not measured, or another one was"
    if measured.fabricated or measured.quotes_missing:
        return "names a source that was not retrieved, or a quote that does not stand on its page"
    return ""
