"""Reads the pages of a source, and keeps them as they come: a killed process need not read again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rag_core.domain.documents import Document, Metadata, Page
from rag_core.domain.ports import Cancel, Progress
from rag_core.domain.scanned import TESSERACT
from rag_core.errors import EmptyDocument, IngestError, LibraryDamaged, LibraryError, LimitExceeded, PasswordNeeded
from rag_core.ingest.layout import Lines
from rag_core.ingest.limits import DEFAULT_LIMITS
from rag_core.ingest.reading.markdown import plain
from rag_core.ingest.reading.ocr_engines import OCR_LANGUAGES
from rag_core.ingest.reading.pdf import SAVE_AGAIN, read_pdf
from rag_core.ingest.reading.pdf_facts import form_of
from rag_core.ingest.reading.pdf_findings import STRUCK_OUT, struck_out
from rag_core.ingest.reading.pdf_process import Event, size_of
from rag_core.ingest.reading.text import MAIL, VALUES, decoded, mail_of, rows_of, without_struck
from rag_core.library.disk.files import REBUILD
from rag_core.library.stored.collection import Collection
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.stored_json import pack, page_from_json, page_to_json, unpack
from rag_core.library.stored.typed_json import reader

if TYPE_CHECKING:
    from rag_core.library.indexing.batches import Batches

# the PDF reader's version; pages that another version read are read again when the library is rebuilt
READING_VERSION = 16
# what one file being read may hold in this process: 16 million characters in any script but emoji, and 200,000 rows
HELD_BYTES = 64 << 20
BATCH_BYTES = 1 << 20  # packed pages that are kept at once; chosen
# packed, on disk; the longest filing tried takes 2 MB. The page reader holds as much of all documents together
LAYOUT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options by which a source is read. `can_ocr` says whether pictures could be read on this machine."""

    kind: str
    ocr: bool
    can_ocr: bool
    version: int = READING_VERSION
    ocr_engine: str = TESSERACT


@dataclass(frozen=True, slots=True)
class Reading:
    """The pages of a source, and what the file says about itself (title, date, author).

    They have their rows. The boxes of their words stand on disk only: they take most of the room, and cutting needs
    none.
    """

    pages: tuple[Page, ...]
    metadata: Metadata = field(default_factory=Metadata)
    problems: tuple[str, ...] = ()
    size: int = 0  # in bytes, of the file


class PageKeeper:
    """Keeps the pages of one document, some at a time. `document` is its number in the collection."""

    def __init__(self, collection: Collection, document: int) -> None:
        self.collection, self.document = collection, document
        self._waiting: list[tuple[int, bytes, bytes]] = []
        self._bytes = self._layout_bytes = 0

    def put(self, page: Page) -> None:
        """Keep one page, with the next ones; raises LimitExceeded beyond `LAYOUT_BYTES`, or Gone."""
        facts, layout = page_to_json(page)
        self._layout_bytes += len(layout)
        if self._layout_bytes > LAYOUT_BYTES:
            raise LimitExceeded(
                f"The places of the file's words take more than {LAYOUT_BYTES >> 20:,} MiB on disk (reached on page "
                f"{page.number:,}).",
                remedy="Split the file into parts.",
            )
        self._waiting.append((page.number, facts, layout))
        self._bytes += len(facts) + len(layout)
        if self._bytes > BATCH_BYTES:
            self.flush()

    def flush(self, reading: object = None) -> None:
        """Keep all of them now, and at the end what is to be known of the `reading`; raises Gone."""
        if self._waiting or reading is not None:
            self.collection.put_pages(self.document, self._waiting, reading)
        self._waiting, self._bytes = [], 0


class RecognisedPages:
    """The readings by OCR of the pictures of a source, by their keys: a reading that was killed goes on from there."""

    def __init__(self, collection: Collection, digest: str) -> None:
        self._collection, self._digest = collection, digest

    def get(self, key: str) -> Event | None:
        """The reading under the key; None where nothing is kept."""
        query = "SELECT event FROM recognised WHERE digest = ? AND key = ?"
        with self._collection.reading() as db:
            found = db.execute(query, (self._digest, key)).fetchone()
        return None if found is None else unpack(found[0])

    def put(self, key: str, event: Event) -> None:
        """Keep what was read; where the disk refuses it, or the source was deleted, the reading goes on without."""
        insert = "INSERT OR REPLACE INTO recognised SELECT digest, ?, ? FROM waiting WHERE digest = ?"
        with suppress(LibraryError), self._collection.writing() as db:
            db.execute(insert, (key, pack(event), self._digest))


def read(
    row: Accepted,
    data: BinaryIO,
    options: ReadOptions,
    keeper: PageKeeper,
    password: str | None,
    progress: Progress | None,
    cancelled: Cancel | None,
    listener: Batches | None = None,
) -> Reading:
    """Read a source, and give `keeper` its pages as they come, of which `listener` hears. A text document is one page.

    Raises:
        IngestError: it cannot be read.
        Cancelled: `cancelled` said so.
        LibraryError: the disk refused.
    """
    held, size = 0, size_of(data)

    def keep(page: Page) -> Page:
        nonlocal held
        keeper.put(page)
        held += sys.getsizeof(page.text) + (page.lines.bytes if isinstance(page.lines, Lines) else 0)
        if held > HELD_BYTES:
            raise LimitExceeded(
                f"Text and rows of the file take more than {HELD_BYTES >> 20} MiB of memory (reached on page "
                f"{page.number:,}).",
                remedy="Split the file into parts.",
            )
        bare = replace(page, words=())
        if listener is not None:
            listener.read(bare, size)
        return bare

    if row.kind == "text":
        text, said, problems = _text(data, row.name, "" if row.caller_id else Path(row.name).suffix.lower())
        pages = (keep(Page(1, text)),)
        return Reading(pages, said, problems, size)
    if row.needs_password and password is None:
        raise PasswordNeeded(
            f"{row.name} is encrypted, and its password is not stored.", remedy="Add the file again with its password."
        )
    content = read_pdf(
        data,
        row.name,
        password=password,
        ocr=options.ocr,
        ocr_engine=options.ocr_engine,
        form=form_of(row.name),
        begun=listener.begun if listener else lambda stated, count: None,
        keep=keep,
        recognised=RecognisedPages(keeper.collection, row.digest),
        progress=progress and (lambda what, done, total: progress(f"{what}: reading", done, total)),
        cancelled=cancelled,
    )
    return Reading(content.pages, content.metadata, content.problems, size)


def _text(data: BinaryIO, name: str, end: str) -> tuple[str, Metadata, tuple[str, ...]]:
    """The words of a text, table of values or mail, what it says of itself, and what to know about how it was read.

    `end` is that of the file's name; "" for words that somebody gave with an id of their own.
    """
    said, problems = Metadata(), list[str]()
    if end == MAIL:
        try:
            text, said, note = mail_of(_bytes(data, name))
        except (ValueError, LookupError) as error:
            raise IngestError(
                f"{name} is no mail with plain words.", remedy="Save the mail as a PDF or a web page."
            ) from error
        text, problems = _bounded(text, name), [note]
    else:
        text, encoding = _decoded(data, name)
        problems.append(
            f"The file is not UTF-8 and was read as {encoding}. Check letters with accents." if encoding else ""
        )
    text = _bounded(rows_of(text), name) if end in VALUES else text
    text, struck = without_struck(text, markdown=end == ".md")
    if not text.strip():
        raise EmptyDocument(f"All text of {name} is struck out.", remedy="Add the version that is in force.")
    if end == ".md":
        text, said = plain(text)
        text = _bounded(text, name)
    return text, said, tuple(filter(None, (*problems, struck_out([(1, struck)]) if struck else "")))


def _bytes(data: BinaryIO, name: str) -> bytes:
    most = 4 * DEFAULT_LIMITS.chars  # UTF-8 takes up to four bytes a character
    if size_of(data) > most:
        raise LimitExceeded(
            f"{name} has {size_of(data):,} bytes; at most {most:,} are allowed.", remedy="Split it into parts."
        )
    return data.read()


def _decoded(data: BinaryIO, name: str) -> tuple[str, str]:
    try:
        text, encoding = decoded(_bytes(data, name))
    except ValueError as error:
        raise IngestError(f"{name} is no text.", remedy="Save it as UTF-8 text and add it again.") from error
    return _bounded(text, name), encoding


def _bounded(text: str, name: str) -> str:
    for many, what, most in (
        (len(text), "characters", DEFAULT_LIMITS.chars),
        (text.count("\n"), "lines", DEFAULT_LIMITS.rows),
    ):
        if many > most:
            raise LimitExceeded(
                f"{name} has {many:,} {what}; at most {most:,} are allowed.", remedy="Split it into parts."
            )
    if not text.strip():
        raise EmptyDocument(f"{name} holds no text.", remedy="Check that it was saved completely.")
    return text


def reading_from(collection: Collection, document: int, known: Any) -> Reading:
    """The reading whose pages a document has, by its row without pages; raises LibraryDamaged where it is not that."""
    try:
        pages = tuple(
            replace(page_from_json(facts, layout), words=()) for facts, layout in collection.stored_pages(document)
        )
        if not pages or [page.number for page in pages] != list(range(1, len(pages) + 1)):
            raise LibraryDamaged("Pages of a document are missing.", remedy=REBUILD)
        reading: Reading = reader(Reading)(known)
        return replace(reading, pages=pages)
    except (ValueError, KeyError, TypeError) as error:
        raise LibraryDamaged("A reading cannot be used again.", remedy=REBUILD) from error


def no_text(document: Document) -> EmptyDocument:
    if document.unreadable_pages:
        return EmptyDocument(
            f"None of the {document.page_count} pages has text. {' '.join(document.problems)}".strip(),
            remedy=_remedy(document.problems),
        )
    if STRUCK_OUT in " ".join(document.problems):
        return EmptyDocument(
            f"No text of it holds. {' '.join(document.problems)}", remedy="Add the version that is in force."
        )
    return EmptyDocument(
        f"There is no text on any of its {document.page_count} pages.", remedy="Check that it is the right file."
    )


def _remedy(problems: Sequence[str]) -> str:
    """The remedy for pages that could not be read, by the PDF reader's findings."""
    said = " ".join(problems)
    if "switched off" in said:
        what = "Switch on the setting `ocr` and index the file again"
    elif "library of Tesseract" in said:
        what = "Install Tesseract (on Debian: tesseract-ocr)"
    elif "no language data" in said:
        packages = " ".join(f"tesseract-ocr-{code}" for code in OCR_LANGUAGES)
        which = f" (on Debian: {packages})" if "of Tesseract are installed" in said else ""
        what = f"Install the language data of Tesseract for the document's language{which}"
    elif "are spent" in said:
        what = "Split the file into parts, so that each is read in its own time"
    elif "too large" in said:
        what = "Print the file to a usual paper size"
    elif "damaged" in said:
        return SAVE_AGAIN
    else:
        what = "Add a clearer or straighter scan"
    return f"{what}, or add a copy that has a text layer."
