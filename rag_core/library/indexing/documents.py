"""A document of the pages of a source: its language, how it is cut, its passages, and its record, also as other
programs are told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from rag_core.domain.documents import Document, Page, PageSource
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel, Embedder
from rag_core.domain.scanned import RAPIDOCR
from rag_core.ingest.blocks.headings import believed_title, page_title
from rag_core.ingest.dating import believed, first_page_date
from rag_core.ingest.passages import strategies
from rag_core.ingest.passages.chunk import chunk
from rag_core.language import canonical, detect
from rag_core.library.indexing.reading import Reading
from rag_core.library.stored.entry import Accepted, Entry, combined
from rag_core.settings import Settings

LANGUAGE_CHARS = 20_000  # enough to detect a language by


@dataclass(frozen=True, slots=True)
class Manner:
    """How a source is cut. `title` is as it is embedded with the passages."""

    language: str
    choice: strategies.Choice
    title: str


def manner_of(row: Accepted, reading: Reading, settings: Settings) -> Manner:
    """How what was read of a source is to be cut, under the ingest settings."""
    language = canonical(row.language) or detect(_sample(reading.pages))
    wanted = row.strategy or settings.strategy
    choice = strategies.choose(reading.pages, language) if wanted == "auto" else strategies.named(wanted)
    return Manner(language, choice, row.metadata.title or _stated(row, reading) or _title_of(row))


def passages_of(
    row: Accepted,
    pages: Sequence[Page],
    manner: Manner,
    settings: Settings,
    embedder: Embedder,
    cancelled: Cancel | None,
) -> tuple[Passage, ...]:
    """The passages of these pages, perhaps none; `embedder` counts tokens. Raises as `chunk` does."""
    passages = chunk(
        row.id,
        pages,
        language=manner.language,
        title=manner.title,
        strategy=manner.choice.strategy,
        embedder=embedder,
        max_tokens=min(manner.choice.strategy.max_tokens, settings.passage_tokens),
        overlap_tokens=settings.overlap_tokens,
        cancelled=cancelled,
    )
    return tuple(passages)


def entry_of(number: int, key: str, document: Document, row: Accepted) -> Entry:
    """A document under the name and metadata that it was handed in with; `number` is its own in the library's file."""
    return Entry(number, key, replace(document, name=row.name, metadata=combined(document.metadata, row.metadata)), row)


def document_of(row: Accepted, reading: Reading, manner: Manner) -> Document:
    pages, today, stated = reading.pages, date.today(), reading.metadata.date
    return Document(
        id=row.id,
        name=row.name,
        language=manner.language,
        page_count=len(pages),
        metadata=replace(reading.metadata, title=_stated(row, reading), date=""),
        page_date=first_page_date(pages[0], manner.language, today) if pages else "",
        heading=page_title(pages[0]) if pages else "",
        file_date=stated if believed(stated, today) else "",
        strategy=manner.choice.strategy.name,
        strategy_evidence=manner.choice.evidence,
        ocr_pages=tuple(page.number for page in pages if page.source is PageSource.OCR),
        rapidocr_pages=tuple(page.number for page in pages if page.read_by == RAPIDOCR),
        page_labels=tuple(page.label for page in pages) if any(page.label for page in pages) else (),
        unreadable_pages=tuple(page.number for page in pages if page.source is PageSource.UNREADABLE),
        hidden_chars=sum(page.hidden_chars for page in pages),
        problems=tuple(dict.fromkeys(reading.problems)),  # those of single pages are among them, with their pages
        size_bytes=reading.size,
    )


def document_json(document: Document) -> dict[str, object]:
    """A document's record as the command line, the HTTP API and MCP give it.

    `date` is the best that is known; that of `metadata`, which people stated or the file, is that of people alone, so
    that writing them back states nothing new.
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


def _sample(pages: Iterable[Page]) -> str:
    sample = ""
    for page in pages:
        sample += page.text[: LANGUAGE_CHARS - len(sample)] + "\n"
        if len(sample) >= LANGUAGE_CHARS:
            break
    return sample


def _stated(row: Accepted, reading: Reading) -> str:
    """The title that a file states, or the one that its pages print; a text has its own among its words."""
    stated = reading.metadata.title
    return believed_title(stated, reading.pages) if stated and row.kind == "pdf" else stated


def _title_of(row: Accepted) -> str:
    """A title from a PDF's name ("AMAZON_2017_10K.pdf"), for what is embedded; a caller's id says nothing."""
    return Path(row.name).stem.replace("_", " ") if row.kind == "pdf" else ""
