"""The audits of a draft: each holds one measurement of its claims (`audit.claims`) against its threshold.

All audits run and all their reasons are kept (S2-15). An audit looks only at what it is about: a claim without a citation is reported as
uncited, and not as unverified as well (S3-18).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_core.domain.claims import Claim, Conflict
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, judge
from rag_core.gating.gates import unread
from rag_core.grounding.citations import is_cited
from rag_core.grounding.overlap import grounded_share
from rag_core.grounding.wording import fact_in_words, flags_in_words
from rag_core.settings import Mode

Audit = Callable[[Measurements], CheckResult]

_NO_DRAFT = "no draft to audit"
_NO_CITED = "no claim with a citation"
_SHOWN, _SHOWN_CHARS = 3, 100  # findings named in a check, and characters of each
_CONTRADICTION_CHARS = 600  # two values, two file names
_COMPARE = "Compare the answer with its sources, ask for less at once, or lower min_support."
_MISSING = "Ask again; if it stays, choose another verifier, or set support_mode to observe."
RESOLVE = "Resolve the contradiction: search only the document that applies, or set contradictions_mode to observe to see both sides."


def citations_present(case: Measurements) -> CheckResult:
    """The answer has at least one citation (S2-9)."""
    count = len([claim for claim in case.draft.claims if is_cited(claim)])
    found = f"{count} of {len(case.draft.claims)} claims have citations" if count else "Answer contains no citations - likely hallucinated"
    return _at_least_citation(case, count, found)


def citations_complete(case: Measurements) -> CheckResult:
    """Every claim has a citation (S3-15)."""
    uncited = [f"Uncited claim: {claim.text}" for claim in case.draft.claims if not is_cited(claim)]
    remedy = "Ask again, or ask for less at once: every sentence must name its source."
    return _none_of(case, Reason.CITATIONS_COMPLETE, uncited, "every claim has a citation", remedy)


def citations_valid(case: Measurements) -> CheckResult:
    """Every cited passage was retrieved (S2-11, S2-14)."""
    wrong = dict.fromkeys(ref for audit in _audits(case) for ref in audit.fabricated)
    findings = [f"Answer cites non-existent Source {ref}" if ref.isdecimal() else f"Invalid citation: {ref}" for ref in wrong]
    remedy = "Do not rely on this answer: it names a source that was not among the passages found."
    return _none_of(case, Reason.CITATIONS_VALID, findings, "every citation names a retrieved passage", remedy)


def verbatim(case: Measurements) -> CheckResult:
    """Every quote stands on the page it cites, character for character."""
    missing = [
        f"In another passage than the cited one: {quote}" if quote in audit.quotes_elsewhere else f"Not on its page: {quote}"
        for audit in _audits(case)
        for quote in audit.quotes_missing
    ]
    remedy = "Index the documents again: a quote could not be found on its page."
    if case.draft.drafter == "model":
        remedy = "Do not rely on this answer: what it quotes does not stand where it says."
    return _none_of(case, Reason.VERBATIM, missing, "every quote stands on its page", remedy)


def indicator_phrases(case: Measurements) -> CheckResult:
    """No phrase by which a model speaks from its own knowledge (S2-10)."""
    phrases = dict.fromkeys(phrase for audit in _audits(case) for phrase in audit.indicators)
    findings = [f'Answer contains hallucination indicator: "{phrase}"' for phrase in phrases]
    remedy = "Rephrase the question so that the documents can be quoted, or set this audit to observe."
    return _none_of(case, Reason.INDICATORS, findings, "no indicator phrase", remedy, case.settings.indicators_mode)


def length_ratio(case: Measurements) -> CheckResult:
    """The answer is not much longer than what it was drafted from (S2-12)."""
    draft, settings = case.draft, case.settings
    ratio = draft.chars / draft.context_chars if draft.context_chars > 0 else None
    found = f"{draft.chars} characters from {draft.context_chars}"
    if ratio is not None and ratio > settings.max_length_ratio:
        found = f"Answer much longer than context - likely added information ({found})"
    return judge(
        Reason.LENGTH_RATIO, ratio, settings.max_length_ratio, Direction.AT_MOST, "ratio", Reason.LENGTH_RATIO, settings.length_ratio_mode,
        found=found, remedy="Ask a narrower question, or raise max_length_ratio.", abstain=_nothing(case),
    )  # fmt: skip


def word_overlap(case: Measurements) -> CheckResult:
    """Enough claims share their words with their evidence (S2-13)."""
    settings = case.settings
    cited = [audit for _, audit in _cited(case)]
    share = grounded_share(cited, settings.min_sentence_overlap)
    found = "no words to compare" if share is None else f"{share:.0%} of {len(cited)} claims grounded"
    if share is not None and share < settings.min_grounded:
        found = f"Answer not sufficiently grounded in context ({found})"
    return judge(
        Reason.OVERLAP, share, settings.min_grounded, Direction.AT_LEAST, "share", Reason.OVERLAP, settings.overlap_mode,
        found=found, remedy="Ask in the documents' own words, or lower min_grounded.", abstain=_nothing(case) or _uncited(case),
    )  # fmt: skip


def facts(case: Measurements) -> CheckResult:
    """No number, date, name, negation, comparison or other fact that the evidence lacks (S2-17)."""
    changed = [fact_in_words(kind, text) for _, audit in _cited(case) for kind, text in audit.changed_facts]
    remedy = "Compare the answer with its sources: what is named here does not stand in them."
    return _none_of(case, Reason.FACTS, changed, "all facts stand in the evidence", remedy, case.settings.facts_mode, _uncited(case))


def similarity(case: Measurements) -> CheckResult:
    """Every claim means about what its evidence says (S4-10)."""
    settings = case.settings
    measured = [audit.similarity for _, audit in _cited(case)]
    known = [cosine for cosine in measured if cosine is not None]
    least = min(known) if known and len(known) == len(measured) else None
    found = "similarity was not measured: no embedding model" if least is None else f"least similar claim {least:.2f}"
    return judge(
        Reason.SIMILARITY, least, settings.min_similarity, Direction.AT_LEAST, "cosine", Reason.SIMILARITY, settings.similarity_mode,
        found=found, remedy="Ask in the documents' own words, or lower min_similarity.", abstain=_nothing(case) or _uncited(case),
    )  # fmt: skip


def support(case: Measurements) -> CheckResult:
    """Every claim is supported by what it cites, by an estimated probability (S3-15).

    The whole draft is judged, also claims that a distance cut would drop: a stricter cut must not turn a refusal into an answer.
    """
    s, cited = case.settings, _cited(case)
    known = [(audit.support, claim.text, audit.flags) for claim, audit in cited if audit.support is not None]
    least = min(known, key=lambda one: one[0], default=None) if len(known) == len(cited) else None
    found = _least_supported(*least) if least else "support could not be measured: a model is missing or failed"
    if cited and all(audit.word_for_word for _, audit in cited):
        found = "every claim stands word for word in its source"
    if words_only := unread(case):
        found += f"; {words_only} of {len(cited)} claims checked by facts and overlap only, no verifier has read them"
    return judge(
        Reason.SUPPORT, least[0] if least else None, s.min_support, Direction.AT_LEAST, "support", Reason.SUPPORT, s.support_mode,
        found=found, remedy=_COMPARE if least else _MISSING,
        abstain=_nothing(case) or _uncited(case),
    )  # fmt: skip


def contradictions(case: Measurements) -> CheckResult:
    """No other source says the same with another value (S3-9, S3-11, S4-21).

    Observed, the answer has both sides, a level of `low` at most and half its confidence.
    """
    mode = case.settings.contradictions_mode
    findings = [contradiction(conflict, case.library) for conflict in case.conflicts]
    check = _none_of(case, Reason.CONTRADICTED, findings, "no contradiction found", RESOLVE, mode, chars=_CONTRADICTION_CHARS)
    shown = ". Both sides are shown, at a low level at most and half the confidence" if findings and mode is Mode.OBSERVE else ""
    return replace(check, stage="contradictions", found=f"{check.found}{shown}")


AUDITS: tuple[Audit, ...] = (
    citations_present, citations_complete, citations_valid, verbatim, indicator_phrases, length_ratio, word_overlap, facts, similarity,
    support, contradictions,
)  # fmt: skip


def contradiction(conflict: Conflict, library: LibraryFacts) -> str:
    """A conflict in one sentence without its full stop: both values, where each stands, and which document is newer, or that none is known.

    It holds text of documents and their names, which are untrusted.
    """
    names = [library.names.get(document, document) for document in conflict.documents]
    sides = [
        f'"{value}" ({", ".join(filter(None, (name, f"page {page}", date)))})'
        for value, name, page, date in zip(conflict.values, names, conflict.pages, conflict.dates, strict=True)
    ]
    one = "The document contradicts itself" if conflict.documents[0] == conflict.documents[1] else "The documents contradict each other"
    return f"{one}: {' and '.join(sides)}{_newer(conflict, library)}"


def _newer(conflict: Conflict, library: LibraryFacts) -> str:
    """Which document is newer; where that is not known, why not. Nothing of one that contradicts itself."""
    if conflict.documents[0] == conflict.documents[1]:
        return ""
    if conflict.newer:
        return f". Newer: {library.names.get(conflict.newer, conflict.newer)}"
    undated = [library.names.get(document, document) for document, date in zip(conflict.documents, conflict.dates, strict=True) if not date]
    return f". Which one is newer is not known: no date of {' and '.join(undated)}" if undated else ". By their dates neither is newer"


def _least_supported(support: float, text: str, flags: Sequence[str]) -> str:
    """How well the claim is supported that is supported least, and what speaks against it."""
    said = f"least supported claim {support:.2f}"
    return f'{said} ({flags_in_words(flags)}): "{text[:_SHOWN_CHARS]}"' if flags else said


def _nothing(case: Measurements) -> str:
    return "" if case.draft.claims else _NO_DRAFT


def _uncited(case: Measurements) -> str:
    return "" if _cited(case) else _NO_CITED


def _cited(case: Measurements) -> list[tuple[Claim, ClaimMeasurement]]:
    """The claims that rest on evidence, with their audits."""
    return [(claim, audit) for claim, audit in zip(case.draft.claims, _audits(case), strict=True) if claim.evidence]


def _audits(case: Measurements) -> tuple[ClaimMeasurement, ...]:
    """The measurements of all claims; a draft that was not measured must not pass for want of findings."""
    if len(case.draft.audits) != len(case.draft.claims):
        raise ValueError(f"{len(case.draft.claims)} claims need as many measurements, got {len(case.draft.audits)}")
    return case.draft.audits


def _at_least_citation(case: Measurements, count: int, found: str) -> CheckResult:
    return judge(
        Reason.CITATIONS_PRESENT, count, 1, Direction.AT_LEAST, "count", Reason.CITATIONS_PRESENT, Mode.ENFORCE,
        found=found, remedy="Do not rely on this answer: nothing in it can be checked.", abstain=_nothing(case),
    )  # fmt: skip


def _none_of(
    case: Measurements,
    reason: Reason,
    findings: Sequence[str],
    clean: str,
    remedy: str,
    mode: Mode = Mode.ENFORCE,
    abstain: str = "",
    chars: int = _SHOWN_CHARS,
) -> CheckResult:
    """A check that passes when there are no findings; the first of them are named, each cut at `chars`."""
    found = "; ".join(finding[:chars] for finding in findings[:_SHOWN]) or clean
    if len(findings) > _SHOWN:
        found += f" and {len(findings) - _SHOWN} more"
    return judge(
        reason, len(findings), 0, Direction.AT_MOST, "count", reason, mode, found=found, remedy=remedy, abstain=_nothing(case) or abstain
    )
