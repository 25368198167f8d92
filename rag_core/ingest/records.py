"""The JSON forms of documents, passages and pages on disk. Rows of arrays where there are many: the names would be most of the bytes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any

from rag_core.domain import Box, Document, Line, Metadata, Page, PageSource, Passage, PassageKind, Span, WordBox

LAST_UNSAID = 2  # the reading version of documents that do not name one


def metadata_to_json(metadata: Metadata) -> dict[str, Any]:
    """A JSON object with every field."""
    return {
        "title": metadata.title,
        "date": metadata.date,
        "authority": metadata.authority,
        "verified": metadata.verified,
        "values": dict(metadata.values),
    }


def metadata_from_json(row: Mapping[str, Any]) -> Metadata:
    """What `metadata_to_json` was given."""
    return Metadata(row["title"], row["date"], row["authority"], row["verified"], MappingProxyType(dict(row["values"])))


def document_to_json(document: Document) -> dict[str, Any]:
    """A JSON object with every field."""
    # the metadata's mapping is a read-only view, which asdict cannot copy
    return asdict(replace(document, metadata=Metadata(values={}))) | {"metadata": metadata_to_json(document.metadata)}


def document_from_json(row: Mapping[str, Any]) -> Document:
    """What `document_to_json` was given."""
    lists = {name: tuple(row[name]) for name in ("ocr_pages", "unreadable_pages", "problems")}
    return Document(**{"reading_version": LAST_UNSAID, **row, **lists, "metadata": metadata_from_json(row["metadata"])})


def passages_to_json(passages: Sequence[Passage]) -> list[list[Any]]:
    """One array a passage, without the document's id."""
    return [
        [
            passage.id, passage.text, _spans_to_json(passage.spans), passage.language, passage.section, passage.kind.value,
            list(passage.lines), passage.tokens, passage.ocr, _spans_to_json(passage.header), passage.header_text,
        ]
        for passage in passages
    ]  # fmt: skip


def passages_from_json(rows: Sequence[Sequence[Any]], document: str) -> tuple[Passage, ...]:
    """What `passages_to_json` was given; `document` is the id of the document they belong to."""
    return tuple(
        Passage(
            id, document, text, _spans_from_json(spans), language, section, PassageKind(kind),
            (lines[0], lines[1]), tokens, ocr, _spans_from_json(header), header_text,
        )
        for id, text, spans, language, section, kind, lines, tokens, ocr, header, header_text in rows
    )  # fmt: skip


def _spans_to_json(spans: Sequence[Span]) -> list[list[int]]:
    return [[span.page, span.start, span.end] for span in spans]


def _spans_from_json(rows: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(page, start, end) for page, start, end in rows)


def pages_to_json(pages: Sequence[Page]) -> tuple[list[dict[str, Any]], bytes]:
    """The pages' texts and facts, and their layout (rows and word boxes) apart.

    The layout is JSON lines in gzip, one gzip member a page, so that one page is read without unpacking the others: `layout` of a page
    is its member's (offset, length).
    """
    heads, members, offset = [], [], 0
    for page in pages:
        member = gzip.compress(json.dumps(_layout_to_json(page), separators=(",", ":")).encode() + b"\n", compresslevel=5, mtime=0)
        heads.append({
            "number": page.number, "text": page.text, "source": page.source.value, "width": page.width, "height": page.height,
            "hidden_chars": page.hidden_chars, "hidden_sample": page.hidden_sample, "problem": page.problem,
            "layout": [offset, len(member)],
        })  # fmt: skip
        members.append(member)
        offset += len(member)
    return heads, b"".join(members)


def page_from_json(head: Mapping[str, Any], layout: bytes | None = None) -> Page:
    """The page; without its rows and words when `layout` (the whole layout file) is not given."""
    facts = {name: value for name, value in head.items() if name != "layout"}
    page = Page(**{**facts, "source": PageSource(head["source"])})
    if layout is None:
        return page
    offset, length = head["layout"]
    row = json.loads(gzip.decompress(layout[offset : offset + length]))
    words = tuple(WordBox(*word) for word in row["words"])
    return replace(page, words=words, lines=tuple(_line_from_json(line) for line in row["lines"]))


def _layout_to_json(page: Page) -> dict[str, Any]:
    lines = [
        [line.start, line.end, list(line.box), line.size, line.bold, line.mono, line.block, [list(cell) for cell in line.cells]]
        for line in page.lines
    ]
    return {"words": [list(word) for word in page.words], "lines": lines}


def _line_from_json(row: Sequence[Any]) -> Line:
    start, end, box, size, bold, mono, block, cells = row
    return Line(start, end, Box(*box), size, bold, mono, block, tuple((first, last) for first, last in cells))
