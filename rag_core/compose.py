"""The answer's text from its claims: numbered citations, each source once. An answer without a citation cannot be composed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_core.audit.citations import evidence_key, render
from rag_core.case import Case
from rag_core.domain import Citation, Claim
from rag_core.gates import cut_passages


@dataclass(frozen=True, slots=True)
class Composed:
    """Text with its claims and the citations they use, numbered from 1 in order of first use."""

    text: str
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]


def compose(case: Case) -> Composed:
    """Drop claims that rest on a passage beyond the distance cut, then number the citations and write the text.

    Audits have judged the whole draft before, so dropping can only make an answer shorter, never pass a failed audit.
    """
    cut = cut_passages(case)
    claims = tuple(claim for claim in case.draft.claims if not any(evidence.passage in cut for evidence in claim.evidence))
    numbered: dict[str, Citation] = {}
    for key in (evidence_key(evidence) for claim in claims for evidence in claim.evidence):
        if key not in numbered:
            numbered[key] = replace(case.draft.citations[key], id=len(numbered) + 1)
    return Composed(render(claims, numbered, case.settings), claims, tuple(numbered.values()))
