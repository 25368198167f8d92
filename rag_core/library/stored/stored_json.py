"""The forms of passages and pages on disk, and how they are packed.

Where there are many they are arrays: names would be most of the bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from rag_core.domain.documents import Page, PageSource
from rag_core.domain.passages import Passage
from rag_core.errors import LibraryDamaged
from rag_core.ingest.layout import layout_from_json, layout_to_json
from rag_core.library.disk.files import REBUILD
from rag_core.library.stored.typed_json import reader, to_row

LEVEL = 5  # compression's; chosen
JSON_ROWS = 1_000  # rows that are text in memory at a time, some 100 KB


def passages_to_json(passages: Iterable[Passage]) -> Iterator[list[Any]]:
    """One array a passage."""
    return ([*to_row(passage).values()] for passage in passages)


def passages_from_json(rows: Sequence[Sequence[Any]]) -> tuple[Passage, ...]:
    """The passages that `passages_to_json` was given."""
    read = reader(Passage)
    return tuple(read(dict(zip(Passage.__match_args__, row, strict=True))) for row in rows)


def page_to_json(page: Page) -> tuple[bytes, bytes]:
    """The page's text and facts, and its layout (rows and words), packed: most readers need the text alone."""
    facts = to_row(replace(page, words=(), lines=()))
    return pack(facts), pack(layout_to_json(page.words, page.lines))


def page_from_json(facts: bytes, layout: bytes | None = None) -> Page:
    """The page; without its rows and words when its packed `layout` is not given."""
    row = unpack(facts)
    page = Page(**{**row, "source": PageSource(row["source"]), "words": (), "lines": ()})
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
