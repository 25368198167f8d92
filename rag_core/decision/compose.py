"""The answer's text from its claims: numbered citations, each source once. Of a question that asks two things, both
answers where both halves pass every check, else one, and which half is missing.

An answer without a citation cannot be composed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rag_core.decision.notes import on_letters, on_scans
from rag_core.domain.answer import Answer, by_key, evidence_key
from rag_core.domain.claims import Citation, Claim, Conflict
from rag_core.domain.decision import UNJUDGED, Decision, citation_coverage
from rag_core.domain.measurements import AS_OF, Measurements
from rag_core.domain.status import ConfidenceLevel
from rag_core.gating.levels import cut_passages, lowest, shows_conflicts

PLACES = 3  # that a refusal points at; more are a list to work through, and all passages found are shown below it
# relevance in [0, 1] from which a quote is near enough to point at; chosen, it keeps out what shares a common word only
NEAR = 0.05


def places_to_look(measurements: Measurements) -> tuple[Citation, ...]:
    """The quotes that bear on the question, the likest first, numbered from 1: no answer."""
    draft, cut = measurements.draft, cut_passages(measurements)
    quoted = [
        claim
        for claim, measured in zip(draft.claims, draft.measured, strict=True)
        if not measured.fabricated and not measured.quotes_missing
    ]
    quoted.sort(key=lambda claim: -claim.relevance)
    may_be = (measurements.correctness or 0) >= measurements.settings.min_place
    near = [claim for claim in quoted if claim.relevance >= NEAR] or quoted[:may_be]
    keys = dict.fromkeys(
        evidence_key(evidence) for claim in near for evidence in claim.evidence if evidence.passage not in cut
    )
    found = [draft.citations[key] for key in keys if key in draft.citations]
    return tuple(replace(citation, id=number) for number, citation in enumerate(found[:PLACES], 1))


def compose(measurements: Measurements) -> Answer | None:
    """Drop claims that rest on a passage beyond the distance cut, then number the citations; None where none is left.

    The other side of a contradiction goes with its claim, and where contradictions are not looked at. The checks have
    judged the whole draft before, so dropping can only make an answer shorter.
    """
    kept = _kept(measurements)
    if not kept:
        return None
    claims = tuple(measurements.draft.claims[index] for index in kept)
    measured = tuple(measurements.draft.measured[index] for index in kept)
    style, format = measurements.settings.citation_style, measurements.settings.citation_format
    return Answer(
        claims, measured, numbered(claims, measurements.draft.citations), _conflicts(measurements, kept), style, format
    )


def numbered(claims: Iterable[Claim], citations: Mapping[str, Citation]) -> tuple[Citation, ...]:
    """The citations, by `evidence_key`, that claims rest on, each once, numbered from 1 in order of first use."""
    keys = dict.fromkeys(evidence_key(evidence) for claim in claims for evidence in claim.evidence)
    return tuple(replace(citations[key], id=number) for number, key in enumerate(keys, 1))


def _kept(measurements: Measurements) -> list[int]:
    """Indexes of the claims that are shown, in order."""
    cut = cut_passages(measurements)
    near = [
        i
        for i, claim in enumerate(measurements.draft.claims)
        if not any(evidence.passage in cut for evidence in claim.evidence)
    ]
    shown = shows_conflicts(measurements)
    dropped = {one.other for one in measurements.conflicts if one.added and not (shown and one.claim in near)}
    return [index for index in near if index not in dropped]


def _conflicts(measurements: Measurements, kept: Sequence[int]) -> tuple[Conflict, ...]:
    """The conflicts of which both sides are shown, by the places of their claims in the answer."""
    if not shows_conflicts(measurements):
        return ()
    place = {index: n for n, index in enumerate(kept)}
    both = [one for one in measurements.conflicts if one.claim in place and one.other in place]
    return tuple(replace(one, claim=place[one.claim], other=place[one.other]) for one in both)


UNANSWERED = "unanswered"  # the name of the missing half in a decision's metadata
MAX_HALF_ANSWERED = ConfidenceLevel.LOW  # the highest level of an answer to one half


def both_or_one(likelier: Decision, other: Decision) -> Decision:
    """One decision on both halves, each judged by itself under the same settings; the likelier one has the whole
    question.

    Where both are answered, in their order, confidence and level are those of the less likely half.
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
