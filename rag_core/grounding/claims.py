"""Measures each claim of a draft, once; `rag_core.decision.checks` hold the numbers against the thresholds.

A claim that is its evidence word for word, as those of all extracts are, is compared with nothing: no model is asked
about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.drafts import ClaimMeasurement, taken_of
from rag_core.domain.ports import Embedder, EntailmentModel, PageText
from rag_core.facts import changed_facts
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.grounding.additions import added_markup, indicators
from rag_core.grounding.citations import evidence_text, fabricated, quote_stands
from rag_core.grounding.entailment import MIN_SUPPORT, SAME_SENTENCE, Assessment, assess
from rag_core.grounding.overlap import overlap, similarities
from rag_core.ingest.normalise import normalise
from rag_core.language import holds_order, sentences
from rag_core.language.words import places

_BAR, _AFTER = "|", ":;"  # what a quoted row of a table has between its cells, and after its header


def measure_claims(
    claims: Sequence[Claim],
    retrieved: Mapping[str, str],
    page_text: PageText,
    language: str,
    embedder: Embedder | None = None,
    entailment_model: EntailmentModel | None = None,
    *,
    whole: bool = False,
    languages: Mapping[str, str] = MappingProxyType({}),
    supported_from: float = MIN_SUPPORT,
) -> tuple[ClaimMeasurement, ...]:
    """The measurements of each claim that the checks need, in the claims' order.

    Args:
        claims: the drafted answer.
        retrieved: the texts of the passages that may be cited, by id.
        page_text: the raw text of a page; "" where there is no such page.
        language: of the answer.
        embedder: for similarity and support, which stay unmeasured without one unless a claim is its evidence.
        entailment_model: reads a claim with its evidence; without one support rests on facts and common words.
        whole: the drafter took whole sentences, rows or passages. Otherwise words out of the midst of a sentence are
            not "word for word", and nothing may rest on an order to a language model.
        languages: of the passages, by id, where an answer may be in another language: facts are compared across both.
        supported_from: `min_support`, in [0, 1]: a claim that is supported less may be flagged as contradicted.
    """
    same = [
        _is_its_evidence(claim, page_text)
        and (whole or (not holds_order(claim.text, language) and _stands_whole(claim, retrieved, language)))
        for claim in claims
    ]
    measured = [_plain(claim, retrieved, page_text, language) for claim in claims]
    rest = [index for index, claim in enumerate(claims) if claim.evidence and not same[index]]
    compared = [claims[index] for index in rest]
    sources = [_source(claim.evidence, page_text) for claim in compared]
    cosines = similarities(
        [(normalise(claim.text).text, normalise(text).text) for claim, text in zip(compared, sources, strict=True)],
        embedder,
    )
    found = [Assessment(None)] * len(rest)
    if embedder is not None and rest:
        # against the passages that it cites; against its quotes where none of those was retrieved
        cited = [
            "\n".join(retrieved[one] for one in _passages(claim) if one in retrieved) or source
            for claim, source in zip(compared, sources, strict=True)
        ]
        said = [claim.text for claim in compared]
        found = assess(said, cited, language, embedder, entailment_model, supported_from)
    for index, text, cosine, one in zip(rest, sources, cosines, found, strict=True):
        claim = claims[index]
        theirs = _language(claim, languages) or language
        wrong = () if whole or not holds_order(text, theirs) else ("order",)
        changed = [*changed_facts(claim.text, text, language, theirs), *added_markup(claim.text, text)]
        changed += _denied(claim, page_text, language, theirs)
        measured[index] = replace(
            measured[index],
            changed_facts=tuple(dict.fromkeys(changed)),
            similarity=cosine,
            support=0.0 if wrong else one.support,
            flags=(*one.flags, *wrong),
            read=one.read,
        )
    known = [
        replace(one, similarity=1.0, support=1.0, word_for_word=True) if is_same else one
        for one, is_same in zip(measured, same, strict=True)
    ]
    return tuple(map(taken_of, claims, known))


def _plain(claim: Claim, retrieved: Collection[str], page_text: PageText, language: str) -> ClaimMeasurement:
    """The measurements without embedding; a claim that is not its evidence is compared and read by a model."""
    reading = normalise(claim.text).text
    return ClaimMeasurement(
        quotes_missing=_missing(claim, retrieved, page_text),
        fabricated=fabricated(claim, retrieved),
        indicators=indicators(reading, _source(claim.evidence, page_text), (language,)),
        overlap=_best_overlap(reading, claim, page_text),
        changed_facts=(),
        read=True,
        words=len(claim.text.split()),
    )


def _is_its_evidence(claim: Claim, page_text: PageText) -> bool:
    """Whether a claim is its evidence word for word; a row is read after its header, with bars."""
    quoted: list[str] = []
    for piece in claim.evidence:
        row, *header = [evidence_text(replace(piece, spans=(span,)), page_text) for span in piece.spans]
        quoted += [*(line for text in header for line in text.split("\n")), row]
    if len(quoted) == len(claim.evidence):  # no tables: words run on from one page to the next
        quoted = ["\n".join(quoted)]
    said = _words(claim.text)
    return bool(said) and said == [word for text in quoted for word in _words(text)]


def _words(text: str) -> list[str]:
    """The words between blanks, without the marks that part cells."""
    return [
        word for part in normalise(strip_marks(text)).text.split() if (word := part.rstrip(_AFTER)) not in ("", _BAR)
    ]


def _stands_whole(claim: Claim, retrieved: Mapping[str, str], language: str) -> bool:
    """Whether a claim begins and ends with sentences of a passage that it cites."""
    # marks may be the document's own
    forms = dict.fromkeys((normalise(claim.text).text, normalise(strip_marks(claim.text)).text))
    for text in (retrieved[one] for one in _passages(claim) if one in retrieved):
        edges = sentences(text, language)
        starts, ends = {start for start, _ in edges}, {end for _, end in edges}
        if any(at in starts and at + len(said) in ends for said in forms for at in places(said, text)):
            return True
    return False


def _language(claim: Claim, languages: Mapping[str, str]) -> str:
    """The one language of a claim's evidence; empty where it is not known, or there are several."""
    found = {languages.get(passage, "und") for passage in _passages(claim)}
    return found.pop() if len(found) == 1 and "und" not in found else ""


def _denied(claim: Claim, page_text: PageText, language: str, other: str) -> list[tuple[str, str]]:
    """The facts that one of several pieces of evidence states otherwise: nearly the claim's sentence, with another
    value or "not".

    A source that contradicts a claim must not stand beside one that says it.
    """
    found: list[tuple[str, str]] = []
    for text in (_source([piece], page_text) for piece in claim.evidence if len(claim.evidence) > 1):
        if min(overlap(claim.text, text) or 0.0, overlap(text, claim.text) or 0.0) >= SAME_SENTENCE:
            theirs = {kind for kind, _ in changed_facts(text, claim.text, other, language)}
            found += [
                (kind, what)
                for kind, what in changed_facts(claim.text, text, language, other)
                if kind in theirs and kind != "role"
            ]
    return found


def _passages(claim: Claim) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.passage for piece in claim.evidence))


def _source(evidence: Iterable[Evidence], page_text: PageText) -> str:
    return "\n".join(evidence_text(piece, page_text) for piece in evidence)


def _missing(claim: Claim, retrieved: Collection[str], page_text: PageText) -> tuple[str, ...]:
    """Quotes that do not stand on their page; a citation without any quote stands nowhere either."""
    if claim.cited and not claim.evidence:
        return tuple(f"no quote from {ref}" for ref in dict.fromkeys(claim.cited) if ref in retrieved)
    return tuple(piece.quote for piece in claim.evidence if not quote_stands(piece, page_text))


def _best_overlap(reading: str, claim: Claim, page_text: PageText) -> float | None:
    """Overlap with the best passage, all evidence of one passage (a row and its header) taken together."""
    texts = [
        _source((piece for piece in claim.evidence if piece.passage == passage), page_text)
        for passage in _passages(claim)
    ]
    shares = [share for text in texts or [""] if (share := overlap(reading, normalise(text).text)) is not None]
    return max(shares, default=None)
