"""Hits, drafts, citations and conflicts as rows of a record, and each again from its row.

A row has no text. `own` takes up what a draft says in words that no page has: a model's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from rag_core.domain.claims import Citation, Claim, Conflict, Evidence
from rag_core.domain.documents import Box, Span
from rag_core.domain.drafts import ClaimMeasurement, Draft
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.records.texts import DELETED, OwnWords, Texts, hash_of, hash_own, joined, parts, parts_or_hash, quoted, same, sources, stated

Row = Mapping[str, Any]

_REF_DIGITS = 8  # hash digits that stand for a cited id that a model made up, where its text is gone: two of them stay two
# what a record from before something was measured says of it: every draft was an extract then
_T = TypeVar("_T")
_BEFORE: Row = MappingProxyType({"support": 1.0, "flags": (), "read": True, "word_for_word": True, "quotes_elsewhere": ()})


def hit_row(hit: Hit, known: Collection[str] = ()) -> dict[str, Any]:
    """A hit; of a passage whose id is `known` from an earlier row, its scores only."""
    passage = hit.passage
    scores = {
        "id": passage.id, "score": hit.score, "cosine": hit.cosine, "lexical": hit.lexical, "dense_rank": hit.dense_rank,
        "lexical_rank": hit.lexical_rank, "rerank": hit.rerank,
    }  # fmt: skip
    if passage.id in known:
        return scores
    return scores | {
        "document": passage.document, "text": hash_of(passage.text), "spans": _spans(passage.spans), "language": passage.language,
        "section": hash_of(passage.section), "kind": passage.kind, "lines": passage.lines, "tokens": passage.tokens, "ocr": passage.ocr,
        "header": _spans(passage.header), "header_text": hash_of(passage.header_text),
    }  # fmt: skip


def hit_of(row: Row, texts: Texts, known: Mapping[str, Passage] = MappingProxyType({})) -> Hit:
    """The hit of a row; `known` are the passages of earlier ones."""
    passage = _passage_of(row, texts) if "document" in row else known[row["id"]]
    return Hit(passage, row["score"], row["cosine"], row["lexical"], row["dense_rank"], row["lexical_rank"], row["rerank"])


def _passage_of(row: Row, texts: Texts) -> Passage:
    document, spans, header = row["document"], _spans_of(row["spans"]), _spans_of(row["header"])
    return Passage(
        row["id"], document, texts.reading(document, spans, row["text"]), spans, row["language"],
        texts.section(document, row["id"], row["section"]), PassageKind(row["kind"]), (row["lines"][0], row["lines"][1]), row["tokens"],
        row["ocr"], header, texts.reading(document, header, row["header_text"]),
    )  # fmt: skip


def draft_row(draft: Draft, passages: Mapping[str, Passage], own: OwnWords) -> dict[str, Any]:
    """A draft; `passages` are the retrieved ones by id."""
    return {
        "drafter": draft.drafter,
        "claims": [_claim_row(claim, audit, passages, own) for claim, audit in zip(draft.claims, draft.audits, strict=True)],
        "citations": [{"key": key, **_citation_row(citation)} for key, citation in draft.citations.items()],
        "text": hash_own(draft.text, own),
        "context_chars": draft.context_chars,
        "chars": draft.chars,
    }


def draft_of(row: Row, passages: Mapping[str, Passage], texts: Texts) -> Draft:
    """The draft of a row."""
    read = [_claim_of(one, passages, texts) for one in row["claims"]]
    draft = Draft(
        row["drafter"],
        tuple(claim for claim, _ in read),
        tuple(audit for _, audit in read),
        {one["key"]: _citation_of(one, texts) for one in row["citations"]},
        texts.own(row["text"]),
        row["context_chars"],
    )
    return draft if draft.chars == row["chars"] and draft.text != DELETED else replace(draft, stored_chars=row["chars"])


def _claim_row(claim: Claim, audit: ClaimMeasurement, passages: Mapping[str, Passage], own: OwnWords) -> dict[str, Any]:
    known = [passages[piece.passage] for piece in claim.evidence if piece.passage in passages]
    refs = {*passages, *(piece.passage for piece in claim.evidence)}
    made_of = parts(claim.text, sources(known, claim.evidence))
    return {
        "text": made_of,
        "hash": hash_own(claim.text, own) if made_of is None else hash_of(claim.text),
        "evidence": [
            {"passage": one.passage, "document": one.document, "quote": hash_of(one.quote), "spans": _spans(one.spans)}
            for one in claim.evidence
        ],
        "cited": [_ref_row(ref, refs, own) for ref in claim.cited],
        "relevance": claim.relevance,
        "audit": {
            "quotes_missing": _each(audit.quotes_missing, lambda quote: parts_or_hash(quote, quoted(claim), own)),
            "quotes_elsewhere": [parts_or_hash(quote, quoted(claim), own) for quote in audit.quotes_elsewhere],
            "fabricated": _each(audit.fabricated, lambda ref: _ref_row(ref, refs, own)),
            "indicators": audit.indicators,  # phrases of our own lists
            "overlap": audit.overlap,
            "changed_facts": _each(audit.changed_facts, lambda one: [one[0], parts_or_hash(one[1], stated(claim), own)]),
            "similarity": audit.similarity,
            "support": audit.support,
            "flags": audit.flags,  # words of our own list
            "read": audit.read,
            "word_for_word": audit.word_for_word,
        },
    }


def _claim_of(row: Row, passages: Mapping[str, Passage], texts: Texts) -> tuple[Claim, ClaimMeasurement]:
    evidence = []
    for one in row["evidence"]:
        spans = _spans_of(one["spans"])
        evidence.append(Evidence(one["passage"], one["document"], texts.quote(one["document"], spans, one["quote"]), spans))
    known = [passages[one.passage] for one in evidence if one.passage in passages]
    text = same(joined(row["text"], sources(known, evidence)), row["hash"])
    if text == DELETED and not any(one.quote == DELETED for one in evidence):  # a claim does not outlive what it rests on
        text = texts.own(row["hash"])
    claim = Claim(text, tuple(evidence), tuple(_ref_of(ref, texts) for ref in row["cited"]), row["relevance"])
    audit = {**_BEFORE, **row["audit"]}
    return claim, ClaimMeasurement(
        quotes_missing=_tuple(audit["quotes_missing"], lambda one: texts.parts(one, quoted(claim))),
        quotes_elsewhere=tuple(texts.parts(one, quoted(claim)) for one in audit["quotes_elsewhere"]),
        fabricated=_tuple(audit["fabricated"], lambda ref: _ref_of(ref, texts)),
        indicators=_tuple(audit["indicators"], str),
        overlap=audit["overlap"],
        changed_facts=_tuple(audit["changed_facts"], lambda row: (row[0], texts.parts(row[1], stated(claim)))),
        similarity=audit["similarity"],
        support=audit["support"],
        flags=tuple(audit["flags"]),
        read=audit["read"],
        word_for_word=audit["word_for_word"],
    )


def _each(found: Iterable[_T] | None, row: Callable[[_T], Any]) -> list[Any] | None:
    """A row for each finding; None where nothing was measured."""
    return None if found is None else [row(one) for one in found]


def _tuple(rows: Iterable[Any] | None, of: Callable[[Any], _T]) -> tuple[_T, ...] | None:
    """The findings again; None where nothing was measured."""
    return None if rows is None else tuple(of(row) for row in rows)


def _ref_row(ref: str, known: Collection[str], own: OwnWords) -> Any:
    """A cited id: a passage's and a number as they are; any other is what a model wrote."""
    return ref if ref in known or (ref.isdecimal() and len(ref) < _REF_DIGITS) else {"hash": hash_own(ref, own)}


def _ref_of(row: Any, texts: Texts) -> str:
    if isinstance(row, str):
        return row
    text = texts.own(row["hash"])
    return f"{DELETED} {row['hash'][:_REF_DIGITS]}" if text == DELETED else text


def _citation_row(citation: Citation) -> dict[str, Any]:
    return {
        "id": citation.id, "document": citation.document, "document_id": citation.document_id, "title": citation.title,
        "page": citation.page, "chunk_id": citation.chunk_id, "excerpt": hash_of(citation.excerpt), "spans": _spans(citation.spans),
        "section": hash_of(citation.section), "ocr": citation.ocr, "boxes": [[page, *box] for page, box in citation.boxes],
    }  # fmt: skip


def _citation_of(row: Row, texts: Texts) -> Citation:
    document, spans, boxes = row["document_id"], _spans_of(row["spans"]), row["boxes"]
    return Citation(
        row["id"], row["document"], document, row["title"], row["page"], row["chunk_id"], texts.quote(document, spans, row["excerpt"]),
        spans, texts.section(document, row["chunk_id"], row["section"]), row["ocr"], tuple((page, Box(*box)) for page, *box in boxes),
    )  # fmt: skip


def conflict_row(conflict: Conflict, claims: Sequence[Claim]) -> dict[str, Any]:
    """A conflict between two of these claims."""
    texts = [claims[conflict.claim].text, claims[conflict.other].text]
    return {
        "claim": conflict.claim, "other": conflict.other, "values": [parts(value, texts) for value in conflict.values],
        "documents": conflict.documents, "pages": conflict.pages, "dates": conflict.dates, "added": conflict.added,
        "statements": [parts(text, texts) for text in conflict.statements],
    }  # fmt: skip


def conflict_of(row: Row, claims: Sequence[Claim]) -> Conflict:
    """The conflict of a row, between two of these claims."""
    texts = [claims[row["claim"]].text, claims[row["other"]].text]
    one, other = (joined(parts, texts) for parts in row["values"])
    mine, theirs = (joined(parts, texts) for parts in row.get("statements", ([], [])))
    documents, pages, dates = row["documents"], row["pages"], row["dates"]
    return Conflict(
        row["claim"], row["other"], (one, other), (documents[0], documents[1]), (pages[0], pages[1]), (dates[0], dates[1]), row["added"],
        (mine, theirs),
    )  # fmt: skip


def _spans(spans: Iterable[Span]) -> list[tuple[int, int, int]]:
    return [(span.page, span.start, span.end) for span in spans]


def _spans_of(rows: Iterable[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(*row) for row in rows)
