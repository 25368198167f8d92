"""The decision on a question that asks two things: both answers where both halves pass every check, else one, and which
half is missing.
"""

from __future__ import annotations

from dataclasses import replace

from rag_core.decision.compose import numbered
from rag_core.decision.notes import on_letters, on_scans
from rag_core.domain.answer import Answer, by_key
from rag_core.domain.decision import UNJUDGED, Decision, citation_coverage
from rag_core.domain.measurements import AS_OF
from rag_core.domain.status import ConfidenceLevel
from rag_core.gating.levels import lowest

UNANSWERED = "unanswered"  # the name of the missing half in a decision's metadata
MAX_HALF_ANSWERED = ConfidenceLevel.LOW  # the highest level of an answer to one half


def both_or_one(likelier: Decision, other: Decision) -> Decision:
    """One decision on both halves, each judged by itself under the same settings; the question of the likelier one is
    the whole.

    Where both are answered, confidence and level are those of the less likely half. The answers stand in the order of
    the questions.
    """
    one, two = likelier.outcome, other.outcome
    if not isinstance(one, Answer):
        return likelier
    if not isinstance(two, Answer):
        missing = other.metadata.get(AS_OF) or f"“{other.question}”"
        note = (
            f"You asked two things, and one is answered. Nothing sure enough was found "
            f"for: {missing} The level is low at most."
        )
        return replace(
            likelier,
            confidence_level=lowest(likelier.confidence_level, MAX_HALF_ANSWERED),
            notes=(note, *likelier.notes),
            metadata={**likelier.metadata, UNANSWERED: other.question},
        )
    days = [str(decision.metadata.get(AS_OF, "")) for decision in (likelier, other)]
    first = other.question.rstrip("?？؟ ")
    other_first = days[1] < days[0] if all(days) else likelier.question.startswith(first)
    answer = _both(two, one) if other_first else _both(one, two)
    least, sure = sorted((likelier, other), key=lambda decision: decision.confidence)
    unjudged = [*dict.fromkeys((*likelier.metadata.get(UNJUDGED, ()), *other.metadata.get(UNJUDGED, ())))]
    return replace(
        least,
        question=likelier.question,
        outcome=answer,
        confidence_level=lowest(likelier.confidence_level, other.confidence_level),
        retrieved=tuple({hit.passage.id: (name, hit) for name, hit in (*sure.retrieved, *least.retrieved)}.values()),
        notes=(*dict.fromkeys((*_of_no_source(likelier), *_of_no_source(other))), *_of_sources(answer)),
        metadata={
            **least.metadata,
            "citation_coverage": citation_coverage(answer.claims),
            **({UNJUDGED: unjudged} if unjudged else {}),
        },
    )


def _of_sources(answer: Answer) -> tuple[str, ...]:
    """The notes that name sources by their numbers, which are others in an answer to both halves."""
    return (*on_scans(answer.citations), *on_letters(answer.citations))


def _of_no_source(decision: Decision) -> list[str]:
    named = _of_sources(decision.outcome) if isinstance(decision.outcome, Answer) else ()
    return [note for note in decision.notes if note not in named]


def _both(first: Answer, second: Answer) -> Answer:
    """Both answers; a sentence that answers both halves stands once."""
    claims, measured = list(first.claims), list(first.measured)
    places = {(claim.text, claim.evidence): number for number, claim in enumerate(claims)}
    moved = []  # where the claims of the second answer stand in that to both
    for claim, of_claim in zip(second.claims, second.measured, strict=True):
        moved.append(places.setdefault((claim.text, claim.evidence), len(claims)))
        if moved[-1] == len(claims):
            claims.append(claim)
            measured.append(of_claim)
    return replace(
        first,
        claims=tuple(claims),
        measured=tuple(measured),
        citations=numbered(claims, by_key((*second.citations, *first.citations))),
        conflicts=(
            *first.conflicts,
            *(replace(one, claim=moved[one.claim], other=moved[one.other]) for one in second.conflicts),
        ),
    )
