"""From a case to its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from rag_core.case import Case, Draft
from rag_core.domain import Citation, Claim, Conflict, Hit, Passage, Span
from rag_core.recorded.texts import hash_of, parts, quoted, sources, stated

SCHEMA_VERSION = 1

_BY_DOCUMENT = ("names", "titles", "dates", "authority")


def to_record(case: Case) -> dict[str, Any]:
    """The record of a case as JSON values; about 8 KB for a question with ten passages, and a third of that compressed."""
    facts = case.library
    kept = _documents(case)
    passages = {hit.passage.id: hit.passage for hit in case.hits}
    return {
        "schema_version": SCHEMA_VERSION,
        "question": case.question,
        "settings": case.settings.model_dump(mode="json"),
        "understanding": asdict(case.understanding),
        "library": {
            "documents": facts.documents,
            "passages": facts.passages,
            "pages": facts.pages,
            "unreadable": {id: _runs(pages) for id, pages in facts.unreadable.items()},
            "languages": facts.languages,
            **{name: {id: value for id, value in getattr(facts, name).items() if id in kept} for name in _BY_DOCUMENT},
            "generation": facts.generation,
            "model": facts.model,
            "unknown_languages": facts.unknown_languages,
        },
        "hits": [_hit(hit) for hit in case.hits],
        "signals": dict(case.signals),
        "answerability": case.answerability,
        "relevance": case.relevance,
        "keywords": asdict(case.keywords),
        "missing_entities": case.missing_entities,
        "draft": _draft(case.draft, passages),
        "conflicts": [_conflict(conflict, case.draft.claims) for conflict in case.conflicts],
        "answer": case.answer,
        "failure": case.failure,
        "timings": dict(case.timings),
        "metadata": dict(case.metadata),
    }


def _documents(case: Case) -> set[str]:
    """The documents that a decision on this case can name."""
    cited = {evidence.document for claim in case.draft.claims for evidence in claim.evidence}
    return {hit.passage.document for hit in case.hits} | cited | {id for conflict in case.conflicts for id in conflict.documents}


def _hit(hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    return {
        "id": passage.id, "document": passage.document, "text": hash_of(passage.text), "spans": _spans(passage.spans),
        "language": passage.language, "section": hash_of(passage.section), "kind": passage.kind, "lines": passage.lines,
        "tokens": passage.tokens, "ocr": passage.ocr, "header": _spans(passage.header), "header_text": hash_of(passage.header_text),
        "score": hit.score, "cosine": hit.cosine, "lexical": hit.lexical, "dense_rank": hit.dense_rank, "lexical_rank": hit.lexical_rank,
        "rerank": hit.rerank,
    }  # fmt: skip


def _draft(draft: Draft, passages: Mapping[str, Passage]) -> dict[str, Any]:
    claims = []
    for claim, audit in zip(draft.claims, draft.audits, strict=True):
        known = [passages[piece.passage] for piece in claim.evidence if piece.passage in passages]
        made_of = sources(known, claim.evidence)
        claims.append(
            {
                "text": parts(claim.text, made_of),
                "hash": hash_of(claim.text),
                "evidence": [
                    {"passage": one.passage, "document": one.document, "quote": hash_of(one.quote), "spans": _spans(one.spans)}
                    for one in claim.evidence
                ],
                "cited": claim.cited,
                "relevance": claim.relevance,
                "audit": {
                    "quotes_missing": [parts(quote, quoted(claim)) for quote in audit.quotes_missing],
                    "fabricated": audit.fabricated,
                    "indicators": audit.indicators,  # phrases of our own lists
                    "overlap": audit.overlap,
                    "changed_facts": [[kind, parts(text, stated(claim))] for kind, text in audit.changed_facts],
                    "similarity": audit.similarity,
                    "support": audit.support,
                    "flags": audit.flags,  # of our own list
                    "read": audit.read,
                    "word_for_word": audit.word_for_word,
                },
            }
        )
    citations = [{"key": key, **_citation(citation)} for key, citation in draft.citations.items()]
    return {
        "drafter": draft.drafter, "claims": claims, "citations": citations, "text": hash_of(draft.text),
        "context_chars": draft.context_chars, "chars": draft.chars,
    }  # fmt: skip


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "id": citation.id, "document": citation.document, "document_id": citation.document_id, "title": citation.title,
        "page": citation.page, "chunk_id": citation.chunk_id, "excerpt": hash_of(citation.excerpt), "spans": _spans(citation.spans),
        "section": hash_of(citation.section), "ocr": citation.ocr, "boxes": [[page, *box] for page, box in citation.boxes],
    }  # fmt: skip


def _conflict(conflict: Conflict, claims: Sequence[Claim]) -> dict[str, Any]:
    texts = [claims[conflict.claim].text, claims[conflict.other].text]
    return {
        "claim": conflict.claim, "other": conflict.other, "values": [parts(value, texts) for value in conflict.values],
        "documents": conflict.documents, "pages": conflict.pages, "dates": conflict.dates, "added": conflict.added,
        "statements": [parts(text, texts) for text in conflict.statements],
    }  # fmt: skip


def _spans(spans: Iterable[Span]) -> list[tuple[int, int, int]]:
    return [(span.page, span.start, span.end) for span in spans]


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending runs as [first, last]: a scan of 300 pages is one."""
    grouped = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    return [[run[0][1], run[-1][1]] for _, group in grouped if (run := list(group))]
