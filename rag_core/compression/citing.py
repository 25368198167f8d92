"""Citations for the evidence of a draft: where each quote stands, with the rectangles that mark it on the page; and for
the headings of documents as they are printed, which somebody who asks for a summary is shown instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from itertools import takewhile

from rag_core.domain.answer import evidence_key
from rag_core.domain.claims import Citation, Claim, Evidence
from rag_core.domain.documents import Box, Document, Span, WordBox
from rag_core.domain.passages import Hit, Passage, Role
from rag_core.domain.ports import Corpus
from rag_core.domain.scanned import RAPIDOCR, TESSERACT, Unsure, holds_figure, unsure_words
from rag_core.grounding.around import around, further, noted
from rag_core.grounding.units import evidence_of, units
from rag_core.ingest.normalise import normalise

NEAR = 3  # passages on each side of a quote's that are looked through for what stands around it; chosen
Words = Callable[[str, int], Sequence[WordBox]]  # (document id, 1-based page)


def cite(claims: Iterable[Claim], hits: Sequence[Hit], corpus: Corpus) -> dict[str, Citation]:
    """One citation per distinct place, by `evidence_key`; numbered when the answer is composed (id 0 here)."""
    passages = {hit.passage.id: hit.passage for hit in hits}
    documents = {document.id: document for document in corpus.documents}
    words = cache(corpus.words)  # to read a page's boxes takes milliseconds
    found: dict[str, Citation] = {}
    for evidence in (evidence for claim in claims for evidence in claim.evidence):
        key = evidence_key(evidence)
        if key in found or evidence.passage not in passages:
            continue
        document, passage = documents[evidence.document], passages[evidence.passage]
        unsure = _unsure(evidence, document, words, corpus)
        sides = around(evidence, passage, corpus.page_text, passages.values())
        near = _near(passage, corpus)
        before, after = further(sides, evidence, near, corpus.page_text)
        after = noted((before, after), evidence, near, corpus.page_text)
        found[key] = Citation(
            id=0,
            document=document.name,
            document_id=document.id,
            title=document.title,
            page=evidence.spans[0].page,
            chunk_id=passage.id,
            excerpt=evidence.quote,
            spans=evidence.spans,
            heading=passage.section,
            ocr=passage.ocr,
            boxes=boxes_of(evidence, words),
            unsure=unsure,
            doubtful=holds_figure(evidence.quote) if unsure is None else any(one.figure for one in unsure),
            read_by=_engine(evidence, document, unsure) if passage.ocr else "",
            before=before,
            after=after,
            date=document.date,
            date_source=document.date_source,
            page_label=document.label_of(evidence.spans[0].page),
        )
    return found


def _near(passage: Passage, corpus: Corpus) -> list[Passage]:
    """`NEAR` passages on each side, and further ones on the page where it ends: its notes may stand at the foot."""
    rows = corpus.rows([passage.document], {}) or range(len(corpus.passages))
    at = next(n for n, row in enumerate(rows) if corpus.passages[row].id == passage.id)
    near = [corpus.passages[row] for row in rows[max(0, at - NEAR) : at + NEAR + 1]]
    behind = (corpus.passages[row] for row in rows[at + NEAR + 1 :])
    return [*near, *takewhile(lambda one: one.spans[0].page <= passage.spans[-1].page, behind)]


def boxes_of(evidence: Evidence, words: Words) -> tuple[tuple[int, Box], ...]:
    """One rectangle per visual row of the quote, from the boxes of its words; empty when any part has no word boxes.

    A row is parted where words stand in it that are not quoted: the mark of a note, a column between two. A quote of
    which only a part could be marked is not marked at all: a wrong mark is worse than none.
    """
    found: list[tuple[int, Box]] = []
    for span in evidence.spans:
        rows = _rows(span, words(evidence.document, span.page))
        if not rows:
            return ()
        found += [(span.page, row) for row in rows]
    return tuple(found)


def _unsure(evidence: Evidence, document: Document, words: Words, corpus: Corpus) -> tuple[Unsure, ...] | None:
    """The words of the evidence that may be read wrong; None where OCR did not say how sure it was of a page."""
    found: list[Unsure] = []
    for span in evidence.spans:
        page = words(evidence.document, span.page)
        if span.page in document.ocr_pages and all(word.sure is None for word in page):
            return None
        read_by = RAPIDOCR if span.page in document.rapidocr_pages else TESSERACT
        if any(word.sure is not None for word in page):
            unsure = unsure_words(
                evidence.document, span, page, corpus.page_text(evidence.document, span.page), read_by
            )
            found += (one for one in unsure if one.sure < 1 or span.page in document.ocr_pages)
    return tuple(found)


def _engine(evidence: Evidence, document: Document, unsure: tuple[Unsure, ...] | None) -> str:
    """The engine that read the evidence; "" where nothing is known of how it was read."""
    if any(span.page in document.rapidocr_pages for span in evidence.spans):
        return RAPIDOCR
    return TESSERACT if unsure is not None else ""


def _rows(span: Span, words: Sequence[WordBox]) -> list[Box]:
    quoted: list[Box] = []
    others: list[WordBox] = []
    for word in words:
        if span.start < word.end and word.start < span.end:
            quoted.append(word.box)
        else:
            others.append(word)
    if not quoted:
        return []
    extent = reduce(_around, quoted)
    inside = [other for other in others if _holds(extent, other)]
    rows = quoted[:1]
    for box in quoted[1:]:
        row = _around(rows[-1], box)
        if _same_row(rows[-1], box) and not any(_holds(row, other) for other in inside):
            rows[-1] = row
        else:
            rows.append(box)
    return rows


def _same_row(row: Box, word: Box) -> bool:
    """Whether a word stands on the row: half of the lower height overlaps, and it starts not left of the row."""
    overlap = min(row.y1, word.y1) - max(row.y0, word.y0)
    return overlap > 0.5 * min(row.y1 - row.y0, word.y1 - word.y0) and word.x0 >= row.x0


def _around(row: Box, word: Box) -> Box:
    return Box(min(row.x0, word.x0), min(row.y0, word.y0), max(row.x1, word.x1), max(row.y1, word.y1))


def _holds(row: Box, word: Box | WordBox) -> bool:
    """Whether the middle of a word lies in a rectangle."""
    return row.x0 < (word.x0 + word.x1) / 2 < row.x1 and row.y0 < (word.y0 + word.y1) / 2 < row.y1


MAX_PASSAGES = 2000  # read: a book of 500 pages; chosen
MAX_HEADINGS = 60  # told: a list that can be looked through; chosen


def outline(corpus: Corpus, rows: Sequence[int] | None) -> dict[str, Citation]:
    """The headings of the searched documents, or how their passages begin, by `evidence_key`; none of too many."""
    searched = range(len(corpus.passages)) if rows is None else rows
    if len(searched) > MAX_PASSAGES:
        return {}
    passages = [corpus.passages[row] for row in searched]
    known = {passage.id: passage for passage in passages}
    first: dict[tuple[str, str], Evidence] = {}
    headings = [(passage, tuple(_headings(passage, corpus))) for passage in passages]
    headed = {passage.document for passage, own in headings if own}
    for passage, own in headings:
        for evidence in own if passage.document in headed else _beginning(passage, corpus):
            first.setdefault((passage.document, normalise(evidence.quote).text), evidence)
    order = {document.id: number for number, document in enumerate(corpus.documents)}
    found = sorted(first.values(), key=lambda one: (order[one.document], one.spans[0].page, one.spans[0].start))[
        :MAX_HEADINGS
    ]
    hits = [Hit(known[one.passage], 0.0, 0.0, 0.0) for one in found]
    return cite([Claim(one.quote, (one,)) for one in found], hits, corpus)


def _headings(passage: Passage, corpus: Corpus) -> Iterator[Evidence]:
    for piece in passage.pieces:
        if piece.role is Role.HEADING:
            found = evidence_of(passage, piece.spans[0], corpus.page_text)
            if any(map(str.isalpha, found.quote)):
                yield found


def _beginning(passage: Passage, corpus: Corpus) -> Sequence[Evidence]:
    return next((unit.evidence(corpus.page_text) for unit in units(passage, corpus.page_text)), ())
