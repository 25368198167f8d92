"""The answer's text from its claims: numbered citations, each source once.

An answer without a citation cannot be composed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rag_core.domain.answer import Answer, evidence_key
from rag_core.domain.claims import Citation, Claim, Conflict
from rag_core.domain.measurements import Measurements
from rag_core.gating.levels import cut_passages, shows_conflicts

PLACES = 3  # that a refusal points at; more are a list to work through, and all passages found are shown below it
# relevance in [0, 1] from which a quote is near enough to point at; chosen, it keeps out what shares a common word only
NEAR = 0.05


def places_to_look(measurements: Measurements) -> tuple[Citation, ...]:
    """The quotes of the extract that bear on the question, the likest first, numbered from 1: where to look, not an
    answer.
    """
    draft, cut = measurements.draft, cut_passages(measurements)
    near = [
        claim
        for claim, measured in zip(draft.claims, draft.measured, strict=True)
        if claim.relevance >= NEAR and not measured.fabricated and not measured.quotes_missing
    ]
    near.sort(key=lambda claim: -claim.relevance)
    keys = dict.fromkeys(
        evidence_key(evidence) for claim in near for evidence in claim.evidence if evidence.passage not in cut
    )
    found = [draft.citations[key] for key in keys if key in draft.citations]
    return tuple(replace(citation, id=number) for number, citation in enumerate(found[:PLACES], 1))


def compose(measurements: Measurements) -> Answer | None:
    """Drop claims that rest on a passage beyond the distance cut, then number the citations; None where no claim is
    left.

    The other side of a contradiction goes with the claim that it contradicts, and where contradictions are not looked
    at. The checks have judged the whole draft before, so dropping can only make an answer shorter, never pass a failed
    check.
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
    """The citations that claims rest on, each once, numbered from 1 in order of first use; `citations` are by
    `evidence_key`.
    """
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
