"""A document as other programs are told of it."""

from __future__ import annotations

from rag_core.domain.documents import Document


def document_json(document: Document) -> dict[str, object]:
    """A document's record as the command line, the HTTP API and MCP give it.

    `date` is the best that is known, and `date_source` says whose: given, first_page, file, or empty for no date.
    `metadata` are what people stated, or the file (title, author), so that writing them back states nothing new: its
    date is that of people alone.
    """
    meta = document.metadata
    return {
        "id": document.id,
        "name": document.name,
        "title": document.title,
        "language": document.language,
        "pages": document.page_count,
        "strategy": document.strategy,
        "strategy_evidence": document.strategy_evidence,
        "ocr_pages": list(document.ocr_pages),
        "unreadable_pages": list(document.unreadable_pages),
        "hidden_chars": document.hidden_chars,
        "problems": list(document.problems),
        "size_bytes": document.size_bytes,
        "date": document.date,
        "date_source": document.date_source,
        "metadata": {"date": meta.date, "authority": meta.authority, "verified": meta.verified, **meta.values},
    }
