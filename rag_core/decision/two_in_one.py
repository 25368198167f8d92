"""The decision on a question that asks two things: both answers where both halves pass every check, else one, and which half is missing."""

from __future__ import annotations

from dataclasses import replace

from rag_core.decision.notes import on_letters, on_scans
from rag_core.domain.answer import Answer, by_key, evidence_key
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.decision import UNJUDGED, Decision, citation_coverage
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import ConfidenceLevel

UNANSWERED = "unanswered"  # the name of the missing half in a decision's metadata
MAX_HALF_ANSWERED = ConfidenceLevel.LOW  # the highest level of an answer to one half


def both_or_one(likelier: Decision, other: Decision, measurements: Measurements) -> Decision:
    """One decision on both halves, each judged by itself under the same settings.

    Where both are answered, confidence and level are those of the less likely half. The answers stand in the order of the questions.
    """
    one, two = likelier.outcome, other.outcome
    if not isinstance(one, Answer) or measurements.other is None:
        return likelier
    if not isinstance(two, Answer):
        half = measurements.other.question
        note = f"You asked two things, and one is answered. Nothing sure enough was found for: “{half}” The level is low at most."
        return replace(
            likelier,
            confidence_level=_lower(likelier.confidence_level, MAX_HALF_ANSWERED),
            notes=(note, *likelier.notes),
            metadata={**likelier.metadata, UNANSWERED: half},
        )
    first, second = (two, one) if measurements.question.startswith(measurements.other.question.rstrip("?？؟ ")) else (one, two)
    least, sure = sorted((likelier, other), key=lambda decision: decision.confidence)
    answer, numbered = (
        _both(first, second),
        {*on_scans(one.citations), *on_letters(one.citations), *on_scans(two.citations), *on_letters(two.citations)},
    )
    notes = dict.fromkeys(note for note in (*likelier.notes, *other.notes) if note not in numbered)
    unjudged = [*dict.fromkeys((*likelier.metadata.get(UNJUDGED, ()), *other.metadata.get(UNJUDGED, ())))]
    return replace(
        least,
        question=measurements.question,
        outcome=answer,
        confidence_level=_lower(likelier.confidence_level, other.confidence_level),
        retrieved=tuple({hit.passage.id: (name, hit) for name, hit in (*sure.retrieved, *least.retrieved)}.values()),
        notes=(*notes, *on_scans(answer.citations), *on_letters(answer.citations)),
        metadata={
            **least.metadata,
            "citation_coverage": citation_coverage(answer.claims),
            **({UNJUDGED: unjudged} if unjudged else {}),
        },
    )


def _both(first: Answer, second: Answer) -> Answer:
    said = {_quoted(claim): n for n, claim in enumerate(first.claims)}
    new = [n for n, claim in enumerate(second.claims) if _quoted(claim) not in said]
    kept = {n: said.get(_quoted(claim), len(said) + new.index(n) if n in new else 0) for n, claim in enumerate(second.claims)}
    known = by_key((*second.citations, *first.citations))
    claims = (*first.claims, *(second.claims[n] for n in new))
    keys = dict.fromkeys(evidence_key(evidence) for claim in claims for evidence in claim.evidence)
    return replace(
        first,
        claims=claims,
        measured=(*first.measured, *(second.measured[n] for n in new)),
        citations=tuple(replace(known[key], id=number) for number, key in enumerate(keys, 1)),
        conflicts=(*first.conflicts, *(replace(one, claim=kept[one.claim], other=kept[one.other]) for one in second.conflicts)),
    )


def _quoted(claim: Claim) -> tuple[str, tuple[Evidence, ...]]:
    return claim.text, claim.evidence


def _lower(one: ConfidenceLevel, other: ConfidenceLevel) -> ConfidenceLevel:
    return max(one, other, key=list(ConfidenceLevel).index)
