"""The JSON forms of documents, passages and pages on disk.

Where there are many they are arrays: names would be most of the bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import Any

from rag_core.domain.documents import Document, Metadata, Page, PageSource, Span
from rag_core.domain.passages import Passage, PassageKind, Piece, Role
from rag_core.errors import LibraryDamaged
from rag_core.ingest.layout import layout_from_json, layout_to_json
from rag_core.library.disk.files import REBUILD

LEVEL = 5  # compression's; chosen
JSON_ROWS = 1_000  # rows that are text in memory at a time, some 100 KB


def metadata_to_json(metadata: Metadata) -> dict[str, Any]:
    return values_of(metadata) | {"values": dict(metadata.values)}


def metadata_from_json(row: Mapping[str, Any]) -> Metadata:
    return Metadata(row["title"], row["date"], row["authority"], row["verified"], MappingProxyType(dict(row["values"])))


def document_to_json(document: Document) -> dict[str, Any]:
    return values_of(document) | {"metadata": metadata_to_json(document.metadata)}


def values_of(row: Any) -> dict[str, Any]:
    """The fields of a flat object by name. `asdict` copies each value, and takes ten times as long for thousands."""
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def document_from_json(row: Mapping[str, Any]) -> Document:
    lists = {
        name: tuple(row[name])
        for name in ("ocr_pages", "rapidocr_pages", "unreadable_pages", "problems", "page_labels")
    }
    return Document(**{**row, **lists, "metadata": metadata_from_json(row["metadata"])})


def passages_to_json(passages: Iterable[Passage]) -> Iterator[list[Any]]:
    """One array a passage, without the document's id."""
    return (
        [
            passage.id,
            passage.text,
            _spans_to_json(passage.spans),
            passage.language,
            passage.section,
            passage.kind.value,
            list(passage.lines),
            passage.tokens,
            passage.ocr,
            _spans_to_json(passage.header),
            passage.header_text,
            [[piece.role.value, _spans_to_json(piece.spans), _spans_to_json(piece.lead)] for piece in passage.pieces],
        ]
        for passage in passages
    )


def passages_from_json(rows: Sequence[Sequence[Any]], document: str) -> tuple[Passage, ...]:
    """The passages that `passages_to_json` was given; `document` is the id of the document they belong to."""
    return tuple(
        Passage(
            id,
            document,
            text,
            _spans_from_json(spans),
            language,
            section,
            PassageKind(kind),
            (lines[0], lines[1]),
            tokens,
            ocr,
            _spans_from_json(header),
            header_text,
            tuple(Piece(Role(role), _spans_from_json(where), _spans_from_json(lead)) for role, where, lead in pieces),
        )
        for id, text, spans, language, section, kind, lines, tokens, ocr, header, header_text, pieces in rows
    )


def _spans_to_json(spans: Sequence[Span]) -> list[list[int]]:
    return [[span.page, span.start, span.end] for span in spans]


def _spans_from_json(rows: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(page, start, end) for page, start, end in rows)


def page_to_json(page: Page) -> tuple[bytes, bytes]:
    """The page's text and facts, and its layout (rows and words), packed: most readers need the text alone."""
    facts = {name: value for name, value in values_of(page).items() if name not in ("words", "lines")}
    return pack(facts), pack(layout_to_json(page.words, page.lines))


def page_from_json(facts: bytes, layout: bytes | None = None) -> Page:
    """The page; without its rows and words when its packed `layout` is not given."""
    row = unpack(facts)
    page = Page(**{**row, "source": PageSource(row["source"])})
    if layout is None:
        return page
    words, lines = layout_from_json(unpack(layout))
    return replace(page, words=words, lines=lines)


def pack(value: Any) -> bytes:
    """JSON, compressed. zlib adds a checksum, so a changed byte is an error when it is read back."""
    return pack_parts([json.dumps(value, ensure_ascii=False, separators=(",", ":"))])


def json_rows(rows: Iterable[Any]) -> Iterator[str]:
    """The JSON array of `rows` in parts of `JSON_ROWS`, so that neither its text nor all rows need stand in memory."""
    waiting, before = iter(rows), "["
    while block := list(islice(waiting, JSON_ROWS)):
        yield before + json.dumps(block, ensure_ascii=False, separators=(",", ":"))[1:-1]
        before = ","
    yield "]" if before == "," else "[]"


def pack_parts(parts: Iterable[str]) -> bytes:
    """The texts, one after the other, compressed; not all of them need stand in memory."""
    made = zlib.compressobj(LEVEL)
    return b"".join([*(made.compress(part.encode("utf-8", "surrogatepass")) for part in parts), made.flush()])


def unpack(data: bytes) -> Any:
    """The value that `pack` was given; raises LibraryDamaged where the bytes are not packed JSON."""
    try:
        return json.loads(zlib.decompress(data))
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise LibraryDamaged("A part of the library cannot be read.", remedy=REBUILD) from error


def sealed(data: bytes) -> bytes:
    """The bytes behind their checksum: for what does not become smaller by compression."""
    return zlib.crc32(data).to_bytes(4, "little") + data


def unsealed(data: bytes) -> memoryview:
    """The bytes that `sealed` was given; raises LibraryDamaged where they are other bytes."""
    view = memoryview(data)[4:] if isinstance(data, bytes) else memoryview(b"")
    if len(view) + 4 > len(data or b"") or zlib.crc32(view).to_bytes(4, "little") != data[:4]:
        raise LibraryDamaged("A part of the library was changed.", remedy=REBUILD)
    return view
