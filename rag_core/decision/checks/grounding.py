"""The checks of a draft, whoever made it. All run and all reasons are kept.

A check looks only at what it is about: a claim without a citation is reported as uncited, and not as unverified as
well. The whole draft is judged, also claims that a distance cut would drop: a stricter cut must not turn a refusal into
an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rag_core.decision.checks.row import Check, listed
from rag_core.domain.answer import is_scanned
from rag_core.domain.claims import Claim
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import PassageKind
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction, several
from rag_core.gating.levels import unread
from rag_core.grounding.citations import is_cited
from rag_core.grounding.contradictions.subject import period_by_file
from rag_core.grounding.overlap import grounded_share
from rag_core.grounding.wording import contradiction, fact_in_words, flags_in_words
from rag_core.settings import Mode, Scale

_SHOWN_CHARS = 100  # a longer finding is cut where a check names it
_COMPARED = 2  # documents, where figures can belong to two periods
_CONTRADICTION_CHARS = 600  # two values, two file names
_COMPARE = "Compare the answer with its sources, ask for less at once, or lower min_support."
_MISSING = "Ask again; if it stays, choose another verifier, or set support_mode to observe."
RESOLVE = (
    "Resolve the contradiction: search only the document that applies, or set "
    "contradictions_mode to observe to see both sides."
)


def _measured(m: Measurements) -> tuple[ClaimMeasurement, ...]:
    """The measurements of all claims; a draft that was not measured must not pass for want of findings."""
    if len(m.draft.measured) != len(m.draft.claims):
        raise ValueError(f"{len(m.draft.claims)} claims need as many measurements, got {len(m.draft.measured)}")
    return m.draft.measured


def _with_evidence(m: Measurements) -> list[tuple[Claim, ClaimMeasurement]]:
    return [(claim, measured) for claim, measured in zip(m.draft.claims, _measured(m), strict=True) if claim.evidence]


def no_draft(m: Measurements) -> str:
    """Why a check of the draft does not apply: there is none."""
    return "" if m.draft.claims else "no draft to audit"


def _no_evidence(m: Measurements) -> str:
    """Why a check of claims with their evidence does not apply."""
    return no_draft(m) or ("" if _with_evidence(m) else "no claim with a citation")


def _prose(m: Measurements) -> list[ClaimMeasurement]:
    """The measurements of the sentences: a row is read cell by cell, and code line by line."""
    apart = {hit.passage.id for hit in m.hits if hit.passage.kind in (PassageKind.TABLE, PassageKind.CODE)}
    return [one for claim, one in _with_evidence(m) if not all(piece.passage in apart for piece in claim.evidence)]


def _no_sentence(m: Measurements) -> str:
    if m.draft.drafter == "raw":
        return "passages are shown as they are"
    return _no_evidence(m) or ("" if _prose(m) else "no sentence, but rows or code")


def longest_sentence(m: Measurements) -> float | None:
    """The words of the longest sentence, 0 without any; None where one was not counted."""
    counted = [one.words for one in _prose(m)]
    return None if None in counted else float(max((one or 0 for one in counted), default=0))


def _none_of(
    name: str,
    asks: str,
    reason: Reason,
    findings: Callable[[Measurements], Sequence[str] | None],
    clean: str,
    remedy: str | Callable[[Measurements, float | None], str],
    mode: str = "",
    abstains: Callable[[Measurements], str] = no_draft,
    chars: int = _SHOWN_CHARS,
    after: Callable[[Measurements], str] = lambda _: "",
) -> Check[Measurements]:
    """A check that passes without findings, of which the first are named; None was not measured, and has not passed."""

    def count(m: Measurements) -> float | None:
        found = findings(m)
        return None if found is None else float(len(found))

    def said(m: Measurements, value: float | None, _: float) -> str:
        if value is None:
            return "this was not measured"
        found = findings(m) or () if value else ()  # looked for again only where there are any: nearly all have none
        return f"{listed([finding[:chars] for finding in found], '; ') or clean}{after(m)}"

    return Check(
        name=name,
        asks=asks,
        reason=reason,
        scale=Scale.COUNT,
        passes=Direction.AT_MOST,
        value=count,
        threshold=0,
        mode=mode,
        abstains=abstains,
        said=said,
        remedy=remedy,
    )


def _all_of(name: str, measured: Iterable[ClaimMeasurement]) -> list[Any] | None:
    """The findings on claims under this name; None where one was not looked at."""
    found = [getattr(one, name) for one in measured]
    return None if None in found else [one for some in found for one in some]


def _fabricated(m: Measurements) -> list[str] | None:
    wrong: list[str] | None = _all_of("fabricated", _measured(m))
    return wrong and [
        f"Answer cites non-existent Source {ref}" if ref.isdecimal() else f"Invalid citation: {ref}"
        for ref in dict.fromkeys(wrong)
    ]


def _not_verbatim(m: Measurements) -> list[str] | None:
    if any(measured.quotes_missing is None for measured in _measured(m)):
        return None
    return [
        f"In another passage than the cited one: {quote}"
        if quote in measured.quotes_elsewhere
        else f"Not on its page: {quote}"
        for measured in _measured(m)
        for quote in measured.quotes_missing or ()
    ]


def _indicators(m: Measurements) -> list[str] | None:
    phrases: list[str] | None = _all_of("indicators", _measured(m))
    return phrases and [f'Answer contains hallucination indicator: "{phrase}"' for phrase in dict.fromkeys(phrases)]


def _changed_facts(m: Measurements) -> list[str] | None:
    facts = _all_of("changed_facts", (measured for _, measured in _with_evidence(m)))
    return facts and [fact_in_words(kind, text) for kind, text in facts]


def _verbatim_remedy(m: Measurements, _: float | None) -> str:
    if m.draft.drafter == "model":
        return "Do not rely on this answer: what it quotes does not stand where it says."
    return "Index the documents again: a quote could not be found on its page."


def _citations_in_words(m: Measurements, count: float | None, _: float) -> str:
    if not count:
        return "Answer contains no citations - likely hallucinated"
    return f"{count:g} of {several(len(m.draft.claims), 'claim')} with citations"


def _length(m: Measurements) -> float | None:
    return m.draft.chars / m.draft.context_chars if m.draft.context_chars > 0 else None


def _length_in_words(m: Measurements, ratio: float | None, most: float) -> str:
    found = f"{m.draft.chars} characters from {m.draft.context_chars}"
    too_long = ratio is not None and ratio > most
    return f"Answer much longer than context - likely added information ({found})" if too_long else found


def _words_in_words(m: Measurements, count: float | None, _: float) -> str:
    return "this was not measured" if count is None else f"the longest sentence has {several(int(count), 'word')}"


def _grounded(m: Measurements) -> float | None:
    return grounded_share([measured for _, measured in _with_evidence(m)], m.settings.min_sentence_overlap)


def _overlap_in_words(m: Measurements, share: float | None, least: float) -> str:
    if share is None:
        return "no words to compare"
    found = f"{share:.0%} of {several(len(_with_evidence(m)), 'claim')} grounded"
    return f"Answer not sufficiently grounded in context ({found})" if share < least else found


def _least_similarity(m: Measurements) -> float | None:
    known = [measured.similarity for _, measured in _with_evidence(m) if measured.similarity is not None]
    return min(known) if known and len(known) == len(_with_evidence(m)) else None


def _similarity_in_words(m: Measurements, least: float | None, _: float) -> str:
    return "similarity was not measured: no embedding model" if least is None else f"least similar claim {least:.2f}"


def _least_supported(m: Measurements) -> tuple[float, Claim, ClaimMeasurement] | None:
    cited = _with_evidence(m)
    known = [(measured.support, claim, measured) for claim, measured in cited if measured.support is not None]
    return min(known, key=lambda one: one[0], default=None) if len(known) == len(cited) else None


def _support(m: Measurements) -> float | None:
    least = _least_supported(m)
    return least[0] if least else None


def _support_in_words(m: Measurements, value: float | None, _: float) -> str:
    cited, least = _with_evidence(m), _least_supported(m)
    found = "support could not be measured: a model is missing or failed"
    if least:
        support, claim, measured = least
        found = f"least supported claim {support:.2f}"
        if measured.flags:
            found = f'{found} ({flags_in_words(measured.flags)}): "{claim.text[:_SHOWN_CHARS]}"'
    if cited and all(measured.word_for_word for _, measured in cited):
        scanned = any(is_scanned(claim, m.draft.citations.values()) for claim, _ in cited)
        found = (
            "every claim stands in its source as the scan was read"
            if scanned
            else "every claim stands word for word in its source"
        )
    if words_only := unread(m):
        found += f"; {words_only} of {several(len(cited), 'claim')} checked by facts and overlap only, no verifier has read them"  # noqa: E501
    return found


def _how_compared(m: Measurements) -> str:
    """How both sides are shown, and whose period only the date of a file told."""
    shown = m.conflicts and m.settings.contradictions_mode is Mode.OBSERVE
    said = ". Both sides are shown, at a low level at most and half the confidence" if shown else ""
    found = dict.fromkeys(hit.passage.document for hit in m.hits)
    names = [
        m.library.names.get(document, document)[:_SHOWN_CHARS]
        for document in found
        if period_by_file(document, m.library)
    ]
    return said if len(found) < _COMPARED or not names else f"{said}. Period by the file date: {listed(names, ', ')}"


GROUNDING: tuple[Check[Measurements], ...] = (
    Check(
        name="citations_present",
        asks="Does the answer have at least one citation?",
        reason=Reason.CITATIONS_PRESENT,
        scale=Scale.COUNT,
        value=lambda m: float(sum(map(is_cited, m.draft.claims))),
        threshold=1,
        abstains=no_draft,
        said=_citations_in_words,
        remedy="Do not rely on this answer: nothing in it can be checked.",
    ),
    _none_of(
        "citations_complete",
        "Does every claim have a citation?",
        Reason.CITATIONS_COMPLETE,
        lambda m: [f"Uncited claim: {claim.text}" for claim in m.draft.claims if not is_cited(claim)],
        "every claim has a citation",
        "Ask again, or ask for less at once: every sentence must name its source.",
    ),
    _none_of(
        "citations_valid",
        "Was every cited passage retrieved?",
        Reason.CITATIONS_VALID,
        _fabricated,
        "every citation names a retrieved passage",
        "Do not rely on this answer: it names a source that was not among the passages found.",
    ),
    _none_of(
        "verbatim",
        "Does every quote stand on the page it cites, character for character?",
        Reason.VERBATIM,
        _not_verbatim,
        "every quote stands on its page",
        _verbatim_remedy,
    ),
    _none_of(
        "indicators",
        "Is it free of phrases by which a model speaks from its own knowledge?",
        Reason.INDICATORS,
        _indicators,
        "no indicator phrase",
        "Rephrase the question so that the documents can be quoted, or set this audit to observe.",
        "indicators_mode",
    ),
    Check(
        name="length_ratio",
        asks="Is the answer not much longer than what it was drafted from?",
        reason=Reason.LENGTH_RATIO,
        scale=Scale.RATIO,
        passes=Direction.AT_MOST,
        value=_length,
        threshold="max_length_ratio",
        mode="length_ratio_mode",
        abstains=no_draft,
        said=_length_in_words,
        remedy="Ask a narrower question, or raise max_length_ratio.",
    ),
    Check(
        name="sentence_length",
        asks="Can each sentence of the answer be read at a glance?",
        reason=Reason.SENTENCE_LENGTH,
        scale=Scale.COUNT,
        passes=Direction.AT_MOST,
        value=longest_sentence,
        threshold="max_sentence_words",
        mode="sentence_length_mode",
        abstains=_no_sentence,
        said=_words_in_words,
        remedy="Read the sentence where it stands, or raise max_sentence_words.",
    ),
    Check(
        name="overlap",
        asks="Do enough claims share their words with their evidence?",
        reason=Reason.OVERLAP,
        scale=Scale.SHARE,
        value=_grounded,
        threshold="min_grounded",
        mode="overlap_mode",
        also=("min_sentence_overlap",),
        abstains=_no_evidence,
        said=_overlap_in_words,
        remedy="Ask in the documents' own words, or lower min_grounded.",
        certifiable=True,
        value_column=lambda of, s: of.grounded_share(s.min_sentence_overlap),
    ),
    _none_of(
        "facts",
        "Is there no number, date, name, negation or other fact that the evidence lacks?",
        Reason.FACTS,
        _changed_facts,
        "all facts stand in the evidence",
        "Compare the answer with its sources: what is named here does not stand in them.",
        "facts_mode",
        _no_evidence,
    ),
    Check(
        name="similarity",
        asks="Does every claim mean about what its evidence says?",
        reason=Reason.SIMILARITY,
        scale=Scale.COSINE,
        value=_least_similarity,
        threshold="min_similarity",
        mode="similarity_mode",
        abstains=_no_evidence,
        said=_similarity_in_words,
        remedy="Ask in the documents' own words, or lower min_similarity.",
        certifiable=True,
    ),
    Check(
        name="support",
        asks="Is every claim supported by what it cites, by an estimated probability?",
        reason=Reason.SUPPORT,
        scale=Scale.SUPPORT,
        value=_support,
        threshold="min_support",
        mode="support_mode",
        abstains=_no_evidence,
        said=_support_in_words,
        remedy=lambda m, least: _MISSING if least is None else _COMPARE,
        certifiable=True,
    ),
    _none_of(
        "contradictions",
        "Does no other source say the same with another value?",
        Reason.CONTRADICTED,
        lambda m: [contradiction(conflict, m.library) for conflict in m.conflicts],
        "no contradiction found",
        RESOLVE,
        "contradictions_mode",
        chars=_CONTRADICTION_CHARS,
        after=_how_compared,
    ),
)
