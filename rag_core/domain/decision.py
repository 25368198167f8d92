"""A decision: an answer or a refusal, with its whole trace, and its one JSON form.

The command line, the page, the HTTP API and MCP all give this same object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

from rag_core.domain.answer import Answer, Outcome, Refusal, by_key, evidence_key, is_scanned
from rag_core.domain.bounds import require_between
from rag_core.domain.claims import Citation, Claim, Conflict
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.llm_trace import Attempt, Sufficiency
from rag_core.domain.passages import Hit
from rag_core.domain.rows import counted_in
from rag_core.domain.scanned import Unsure
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult, Trace

SCHEMA_VERSION = 1
UNJUDGED = "unjudged"  # in the metadata: checks that the preset enforces and that could not refuse
REGENERATE = "regenerate"  # the action that a rejected draft, or a refusal for one, asks for


def citation_coverage(claims: Sequence[Claim]) -> float:
    """Share of sentences with a citation whose quote stands in its source, in [0, 1]; an answer has 1."""
    return round(sum(bool(claim.evidence) for claim in claims) / len(claims), 4) if claims else 0.0


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One draft of a language model as it was judged: part of the trace, and nothing else may show a word of it.

    `outcome` is shown, rejected, refused, malformed, empty or failed; `number` counts from 1.
    """

    number: int
    outcome: str
    attempt: Attempt
    checks: tuple[CheckResult, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON; `claims`, rejected unless `shown`, and `refusal` are in the model's words."""
        one, verified = self.attempt, self.attempt.verification
        return {
            "number": self.number,
            "outcome": self.outcome,
            "rejected": self.outcome != "shown",
            "action": "" if self.outcome in ("shown", "failed", "refused") else REGENERATE,
            "citation_coverage": citation_coverage(one.draft.claims),
            "call": asdict(one.call),
            "claims": [
                claim_json(claim, measured, scanned=is_scanned(claim, one.draft.citations.values()))
                for claim, measured in zip(one.draft.claims, one.draft.measured, strict=True)
            ],
            "refusal": one.refusal,
            "language": one.language,
            "sentences": one.sentences,
            "tokens": one.tokens,
            "added": list(one.added),
            "checks": [check.to_json() for check in self.checks],
            "verification": None
            if verified is None
            else {"call": asdict(verified.call), "verdicts": list(verified.answers)},
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """The end of one question.

    Args:
        outcome: the answer, the refusal, or a reply that needs no document.
        confidence: in [0, 1], and `confidence_basis` says what it is.
        attempts: the drafts of a language model, in order; rejected ones are no part of the answer and are shown inside
            the trace only.
        judgements: what a language model said of the passages before any draft, one a round of retrieval; its words, so
            part of the trace only.
        scores: named measurements; `correctness`, `answerability` and `top_cosine` are always there when a question was
            retrieved for.
        notes: things the reader must know beside the answer: unreadable pages, an observed check, a language the
            embedding model does not know, sentences that no entailment model has read.
    """

    question: str
    language: str
    outcome: Outcome
    trace: Trace
    confidence: float = 0.0
    confidence_basis: str = "none"
    confidence_level: ConfidenceLevel = ConfidenceLevel.INSUFFICIENT
    retrieved: tuple[tuple[str, Hit], ...] = ()  # (document name, hit), best first
    scores: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    attempts: tuple[AttemptView, ...] = ()
    judgements: tuple[Sufficiency, ...] = ()

    def __post_init__(self) -> None:
        require_between("Decision.confidence", self.confidence, 0.0, 1.0)

    @property
    def reason(self) -> Reason:
        return Reason.NONE if isinstance(self.outcome, Answer) else self.outcome.reason

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return self.outcome.reasons if isinstance(self.outcome, Refusal) else ()

    @property
    def status(self) -> AnswerStatus:
        return self.reason.status

    @property
    def answered(self) -> bool:
        """Whether the text is an answer or a reply, and no refusal."""
        return self.status is AnswerStatus.SUCCESS

    def is_safe(self) -> bool:
        """Whether the text may be relied on: an answer, with no enforced check in `metadata["unjudged"]`."""
        return self.answered and not self.metadata.get(UNJUDGED)

    @property
    def answer(self) -> str:
        """The text to show: rendered from the claims of an answer, the refusal sentence otherwise."""
        return self.outcome.text

    @property
    def explanation(self) -> str:
        """One sentence that says why there is no answer; empty where there is one."""
        return self.outcome.explanation if isinstance(self.outcome, Refusal) else ""

    @property
    def suggestions(self) -> tuple[str, ...]:
        """The steps that the reader of a refusal can take."""
        return self.outcome.suggestions if isinstance(self.outcome, Refusal) else ()

    @property
    def places(self) -> tuple[Citation, ...]:
        """Where the reader of a refusal may look: quotes near the question, which are no answer."""
        return self.outcome.places if isinstance(self.outcome, Refusal) else ()

    @property
    def may_be(self) -> float | None:
        """The probability in [0, 1] that the first of `places` is the answer, where it is worth saying."""
        return self.outcome.may_be if isinstance(self.outcome, Refusal) else None

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.outcome.claims if isinstance(self.outcome, Answer) else ()

    @property
    def value(self) -> dict[str, Any] | None:
        """The characters that answer, of the claim that bears most on the question, with the number of its citation;
        None without one.

        The text of a table's cell says what its figures are counted in, where the table does: "7.412 (in TEUR)".
        `start` and `end` are offsets of the figure into the page's raw text; `probability` that they are the right
        ones, if the answer is right.
        """
        held = [
            (claim.value_probability, claim, claim.value, one)
            for claim in self.claims
            if claim.value and claim.value_text and (one := claim.value_evidence)
        ]
        if not held:
            return None
        sure, claim, at, evidence = max(held, key=lambda row: (row[1].relevance, row[0]))
        cited = by_key(self.citations).get(evidence_key(evidence))
        return {
            "text": claim.value_text + counted_in(claim.text, claim.value_text),
            "citation": cited.id if cited else 0,
            "page": at.page,
            "start": at.start,
            "end": at.end,
            "probability": round(sure, 4),
        }

    @property
    def measured(self) -> tuple[ClaimMeasurement, ...]:
        return self.outcome.measured if isinstance(self.outcome, Answer) else ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.outcome.citations if isinstance(self.outcome, Answer) else ()

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The pairs of claims that contradict each other, by their indexes in `claims`."""
        return self.outcome.conflicts if isinstance(self.outcome, Answer) else ()

    @classmethod
    def failed(cls, question: str, problem: str) -> Decision:
        """The decision for a question that could not even be measured: an error, never an answer."""
        return cls(
            question=question,
            language="und",
            outcome=Refusal("", (Reason.FAILURE,), problem),
            trace=Trace(),
            scores={"correctness": 0.0, "answerability": 0.0, "top_cosine": -1.0},
            metadata={"drafter": "none", "library_generation": 0, "settings_hash": ""},
        )

    def to_json(self, id: str = "") -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "id": id,
            "question": self.question,
            "language": self.language,
            "status": self.status,
            "reason": self.reason,
            "reasons": list(self.reasons),
            "is_safe": self.is_safe(),
            "is_refusal": not self.answered,
            "hallucination": self.status is AnswerStatus.HALLUCINATION_DETECTED,
            "answer": self.answer,
            "value": self.value,
            "explanation": self.explanation,
            "confidence": round(self.confidence, 4),
            "confidence_basis": self.confidence_basis,
            "confidence_level": self.confidence_level,
            "scores": {name: round(value, 6) for name, value in self.scores.items()},
            "claims": [
                claim_json(claim, measured, scanned=is_scanned(claim, self.citations))
                for claim, measured in zip(self.claims, self.measured, strict=True)
            ],
            "citations": [citation_json(citation) for citation in self.citations],
            "places": [citation_json(citation) for citation in self.places],
            "may_be": None if self.may_be is None else {"place": 1, "probability": round(self.may_be, 4)},
            "conflicts": [conflict_json(conflict, self.citations) for conflict in self.conflicts],
            "retrieved": [hit_json(name, hit) for name, hit in self.retrieved],
            "trace": self.trace.to_json(),
            "judgements": [judgement_json(number, one) for number, one in enumerate(self.judgements, 1)],
            "attempts": [one.to_json() for one in self.attempts],
            "suggestions": list(self.suggestions),
            "notes": list(self.notes),
            "metadata": dict(self.metadata),
        }


def judgement_json(number: int, judgement: Sufficiency) -> dict[str, Any]:
    """A model's judgement of the passages, by round from 1; `reasoning` and `missing` are in its words."""
    return {
        "round": number,
        "call": asdict(judgement.call),
        "passages": judgement.passages,
        "can_answer": judgement.can_answer,
        "confidence": judgement.confidence,
        "missing": list(judgement.missing),
        "reasoning": judgement.reasoning,
        "contradicts": judgement.contradicts,
    }


def claim_json(claim: Claim, measured: ClaimMeasurement, *, scanned: bool) -> dict[str, Any]:
    """A claim as JSON with how it was checked; `support` is a probability in [0, 1] or null.

    A claim that is its evidence is `word_for_word`, or, where that was read from a picture (`scanned`),
    `as_the_scan_was_read`, which may be wrong. `read` is false where it was checked by facts and common words only.
    """
    return {
        "text": claim.text,
        "cited": list(claim.cited),
        "relevance": round(claim.relevance, 4),
        "word_for_word": measured.word_for_word and not scanned,
        "as_the_scan_was_read": measured.word_for_word and scanned,
        "support": None if measured.support is None else round(measured.support, 6),
        "flags": list(measured.flags),
        "read": measured.read,
    }


def citation_json(citation: Citation) -> dict[str, Any]:
    """A citation as JSON; pages are 1-based, offsets are into the page's raw text, boxes in PDF points.

    `unsure` is null where it is not known how sure OCR was; `ocr_engine` where it is not known, or nothing was scanned.
    """
    return {
        "id": citation.id,
        "document": citation.document,
        "title": citation.title,
        "page": citation.page,
        "page_label": citation.page_label,
        "chunk_id": citation.chunk_id,
        "excerpt": citation.excerpt,
        "spans": [{"page": s.page, "start": s.start, "end": s.end} for s in citation.spans],
        "boxes": [{"page": page, **box._asdict()} for page, box in citation.boxes],
        "heading": citation.heading,
        "before": citation.before.text,
        "after": citation.after.text,
        "date": citation.date,
        "date_source": citation.date_source,
        "ocr": citation.ocr,
        "ocr_engine": citation.read_by or None,
        "unsure": None if citation.unsure is None else [unsure_json(one) for one in citation.unsure],
    }


def unsure_json(word: Unsure) -> dict[str, Any]:
    """A word that OCR may have read wrong; `alike` are signs to compare with the page, `box` is in PDF points."""
    return {
        "text": word.text,
        "page": word.span.page,
        "start": word.span.start,
        "end": word.span.end,
        "sure": round(word.sure, 3),
        "figure": word.figure,
        "alike": list(word.alike),
        "box": word.box._asdict(),
    }


def conflict_json(conflict: Conflict, citations: Sequence[Citation]) -> dict[str, Any]:
    """A contradiction as JSON: indexes into `claims`, both sides in that order, and who is `newer`, if known."""
    names = {citation.document_id: citation.document for citation in citations}
    return {
        "claims": [conflict.claim, conflict.other],
        "values": list(conflict.values),
        "documents": [names.get(document, document) for document in conflict.documents],
        "pages": list(conflict.pages),
        "dates": list(conflict.dates),
        "date_sources": list(conflict.date_sources),
        "newer": names.get(conflict.newer, conflict.newer),
        "newer_by_file_date": bool(conflict.newer) and conflict.by_file,
    }


def hit_json(name: str, hit: Hit) -> dict[str, Any]:
    return {
        "document": name,
        "page": hit.passage.page,
        "pages": sorted({span.page for span in hit.passage.spans}),
        "chunk_id": hit.passage.id,
        "score": round(hit.score, 6),
        "cosine": round(hit.cosine, 6),
        "lexical": round(hit.lexical, 4),
        "dense_rank": hit.dense_rank,
        "lexical_rank": hit.lexical_rank,
        "section": hit.passage.section,
        "text": hit.passage.text,
    }
