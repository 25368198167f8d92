"""Citations for the evidence of a draft: where each quote stands, with the rectangles that mark it on the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_core.audit.citations import evidence_key
from rag_core.domain import Box, Citation, Claim, Evidence, Hit, Span, WordBox
from rag_core.ports import Corpus


def cite(claims: Iterable[Claim], hits: Sequence[Hit], corpus: Corpus) -> dict[str, Citation]:
    """One citation per distinct place, by `evidence_key`; numbered when the answer is composed (id 0 here)."""
    passages = {hit.passage.id: hit.passage for hit in hits}
    documents = {document.id: document for document in corpus.documents}
    found: dict[str, Citation] = {}
    for evidence in (evidence for claim in claims for evidence in claim.evidence):
        key = evidence_key(evidence)
        if key in found or evidence.passage not in passages:
            continue
        document, passage = documents[evidence.document], passages[evidence.passage]
        found[key] = Citation(
            id=0,
            document=document.name,
            document_id=document.id,
            title=document.title,
            page=evidence.spans[0].page,
            chunk_id=passage.id,
            excerpt=evidence.quote,
            spans=evidence.spans,
            section=passage.section,
            ocr=passage.ocr,
            boxes=boxes_of(evidence, corpus),
        )
    return found


def boxes_of(evidence: Evidence, corpus: Corpus) -> tuple[tuple[int, Box], ...]:
    """One rectangle per visual row of the quote, from the boxes of its words; empty when any part has no word boxes.

    A quote of which only a part could be marked is not marked at all: a wrong mark is worse than none.
    """
    found: list[tuple[int, Box]] = []
    for span in evidence.spans:
        rows = _rows(span, corpus.words(evidence.document, span.page))
        if not rows:
            return ()
        found += [(span.page, row) for row in rows]
    return tuple(found)


def _rows(span: Span, words: Sequence[WordBox]) -> list[Box]:
    rows: list[Box] = []
    for word in words:
        if word.end <= span.start or word.start >= span.end:
            continue
        box = Box(word.x0, word.y0, word.x1, word.y1)
        if rows and _same_row(rows[-1], box):
            last = rows[-1]
            rows[-1] = Box(min(last.x0, box.x0), min(last.y0, box.y0), max(last.x1, box.x1), max(last.y1, box.y1))
        else:
            rows.append(box)
    return rows


def _same_row(row: Box, word: Box) -> bool:
    """Whether a word stands on the row: half of the lower of the two heights overlaps, and it does not start left of the row."""
    overlap = min(row.y1, word.y1) - max(row.y0, word.y0)
    return overlap > 0.5 * min(row.y1 - row.y0, word.y1 - word.y0) and word.x0 >= row.x0
