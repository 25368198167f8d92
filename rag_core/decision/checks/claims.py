"""Claims of a draft as its checks look at them: each with what was measured on it, and how long the sentences are."""

from __future__ import annotations

from rag_core.domain.claims import Claim
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import PassageKind


def measured_of(m: Measurements) -> tuple[ClaimMeasurement, ...]:
    """The measurements of all claims; a draft that was not measured must not pass for want of findings."""
    if len(m.draft.measured) != len(m.draft.claims):
        raise ValueError(f"{len(m.draft.claims)} claims need as many measurements, got {len(m.draft.measured)}")
    return m.draft.measured


def with_evidence(m: Measurements) -> list[tuple[Claim, ClaimMeasurement]]:
    """The claims that rest on evidence, with what was measured on them."""
    return [(claim, measured) for claim, measured in zip(m.draft.claims, measured_of(m), strict=True) if claim.evidence]


def no_draft(m: Measurements) -> str:
    """Why a check of the draft does not apply: there is none."""
    return "" if m.draft.claims else "no draft to audit"


def no_evidence(m: Measurements) -> str:
    """Why a check of claims with their evidence does not apply."""
    return no_draft(m) or ("" if with_evidence(m) else "no claim with a citation")


def _prose(m: Measurements) -> list[ClaimMeasurement]:
    """The measurements of the sentences: a row is read cell by cell, and code line by line."""
    kinds = {hit.passage.id: hit.passage.kind for hit in m.hits}
    apart = (PassageKind.TABLE, PassageKind.CODE)
    return [
        one for claim, one in with_evidence(m) if not all(kinds.get(piece.passage) in apart for piece in claim.evidence)
    ]


def no_sentence(m: Measurements) -> str:
    """Why no sentence is counted."""
    if m.draft.drafter == "raw":
        return "passages are shown as they are"
    return no_evidence(m) or ("" if _prose(m) else "no sentence, but rows or code")


def longest_sentence(m: Measurements) -> float | None:
    """The words of the longest sentence, 0 without any; None where one was not counted."""
    counted = [one.words for one in _prose(m)]
    return None if None in counted else float(max((one or 0 for one in counted), default=0))
