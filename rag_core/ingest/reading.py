"""A source read into pages, kept on disk: reading may have taken minutes of OCR, so a killed process does not read again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_core.domain import Document, Metadata, Page
from rag_core.errors import EmptyDocument, IngestError, LibraryError, PasswordNeeded
from rag_core.ingest.files import Stamp, pack, stamp, stamps_from_json, stamps_to_json
from rag_core.ingest.inbox import Accepted
from rag_core.ingest.pagereader import LAYOUT, PAGES, read_pages
from rag_core.ingest.pdf import read_pdf
from rag_core.ingest.private import tighten, write
from rag_core.ingest.records import metadata_from_json, metadata_to_json, pages_to_json
from rag_core.ingest.sealed import seal, unseal
from rag_core.ports import Cancel, Progress

READING_VERSION = 3  # of the PDF reader; pages read by another version are read again
READING = "reading.json"
UNREAD = Stamp("", 0)
READING_FILES = (PAGES, LAYOUT, READING)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What decides how a source is read. `can_ocr` says whether pictures could be read on this machine."""

    kind: str
    ocr: bool
    can_ocr: bool
    keep_hidden: bool
    version: int = READING_VERSION


def is_outdated(document: Document) -> bool:
    """Whether an earlier version read the document: before version 3, text under boxes and pictures was read as if it showed."""
    return 0 < document.reading_version < READING_VERSION


@dataclass(frozen=True, slots=True)
class Reading:
    """The pages of a source, and what the file says about itself (title, date, author)."""

    pages: tuple[Page, ...]
    metadata: Metadata = field(default_factory=Metadata)
    problems: tuple[str, ...] = ()
    source: Stamp = UNREAD  # of the bytes that it was read from


def read(
    row: Accepted, data: bytes, options: ReadOptions, password: str | None, progress: Progress | None, cancelled: Cancel | None
) -> Reading:
    """Read a source. A text document is one page, its text kept character for character.

    Raises:
        IngestError: it cannot be read.
        Cancelled: `cancelled` said so.
    """
    if row.kind == "text":
        return Reading((Page(1, _decoded(data, row.name)),))
    if row.needs_password and password is None:
        raise PasswordNeeded(f"{row.name} is encrypted, and its password is not stored.", remedy="Add the file again with its password.")
    content = read_pdf(
        data,
        row.name,
        password=password,
        keep_hidden=options.keep_hidden,
        ocr=options.ocr,
        progress=progress and (lambda what, done, total: progress(f"{what}: reading", done, total)),
        cancelled=cancelled,
    )
    values = {"author": content.author} if content.author else {}
    return Reading(content.pages, Metadata(content.title, content.date, values=values), content.problems)


def _decoded(data: bytes, name: str) -> str:
    try:
        text = data.decode()  # a byte-order mark stays: offsets count it
    except UnicodeDecodeError as error:
        raise IngestError(f"{name} is not UTF-8 text (byte {error.start}).", remedy="Save it as UTF-8 and add it again.") from error
    if not text.strip():
        raise EmptyDocument(f"{name} holds no text.", remedy="Check that it was saved completely.")
    return text


def keep(reading: Reading, options: ReadOptions, folder: Path) -> None:
    """Write a reading into `folder`, which must exist. It counts only once its last file stands."""
    heads, layout = pages_to_json(reading.pages)
    files = {PAGES: pack(heads), LAYOUT: layout}
    for name, data in files.items():
        write(folder / name, data)
    row = {
        "options": _to_json(options),
        "metadata": metadata_to_json(reading.metadata),
        "problems": list(reading.problems),
        "stamps": stamps_to_json({name: stamp(data) for name, data in files.items()}),
        "read_from": list(reading.source),
    }
    write(folder / READING, json.dumps(seal(row), ensure_ascii=False).encode())


def kept(options: ReadOptions, folder: Path) -> Reading | None:
    """The reading that stands in `folder`; None when there is none by these options, or not a whole one."""
    row = _matching(options, folder)
    if row is None:
        return None
    try:
        pages = read_pages(folder, stamps_from_json(row["stamps"]))
        return Reading(pages, metadata_from_json(row["metadata"]), tuple(row["problems"]), Stamp(*row["read_from"]))
    except (LibraryError, ValueError, KeyError, TypeError):  # damaged or cut short: it is read again from the source
        return None


def reuse(options: ReadOptions, folders: Iterable[Path], target: Path) -> Reading | None:
    """The first whole reading by these options in any of `folders`; its files then stand in `target` too."""
    for folder in folders:
        reading = kept(options, folder)
        if reading is not None:
            for name in READING_FILES if folder != target else ():
                shutil.copyfile(folder / name, target / name)
                tighten(target / name)
            return reading
    return None


def _matching(options: ReadOptions, folder: Path) -> Any:
    try:
        row = unseal(json.loads((folder / READING).read_bytes()))  # an earlier version may have read damaged bytes: read again
        return row if row["options"] == _to_json(options) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _to_json(options: ReadOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ReadOptions.__dataclass_fields__}
