"""Documents and their pages, as the whole product speaks of them.

Frozen values, checked where they are born. Offsets are always into `Page.text`, the page's raw text, so that whatever
is quoted can be found on the page again. This module knows nothing about files, models or thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from rag_core.domain.bounds import require_between


class Box(NamedTuple):
    """A rectangle on a page in PDF points (1/72 inch), origin at the top left, x to the right, y down."""

    x0: float
    y0: float
    x1: float
    y1: float


class WordBox(NamedTuple):
    """One word of a page: `page.text[start:end]` and where it stands, in PDF points.

    `sure`, from 0 to 1, is how sure OCR was of the word: a score, no probability. None where it was not recognised, or
    that is not known.
    """

    start: int
    end: int
    x0: float
    y0: float
    x1: float
    y1: float
    sure: float | None = None

    @property
    def box(self) -> Box:
        return Box(self.x0, self.y0, self.x1, self.y1)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a page's raw text: `pages[page - 1].text[start:end]`. Pages are 1-based."""

    page: int
    start: int
    end: int

    def __post_init__(self) -> None:
        if self.page < 1 or not 0 <= self.start < self.end:
            raise ValueError(f"Span needs page >= 1 and 0 <= start < end, got {self}")

    def holds(self, other: Span) -> bool:
        """Whether all of the other stretch is a part of this one."""
        return self.page == other.page and self.start <= other.start and other.end <= self.end


class PageSource(StrEnum):
    """Where a page's text came from."""

    TEXT = "text"  # the PDF's own text layer, or a text document
    OCR = "ocr"  # read from the page's picture
    EMPTY = "empty"  # a page with nothing on it
    UNREADABLE = "unreadable"  # has a picture or drawing but no text, and could not be read


@dataclass(frozen=True, slots=True)
class Line:
    """One visual row of a page: `page.text[start:end]`, without the line break.

    `cells` are offset pairs of the parts of the row that wide gaps set apart (inside `page.text` a tab parts them).
    `size` is the dominant font size in points, 0 when unknown. `block` numbers the paragraphs that the PDF itself
    declares.
    """

    start: int
    end: int
    box: Box
    size: float = 0.0
    bold: bool = False
    mono: bool = False
    block: int = 0
    cells: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page: raw text, its rows and word boxes. `number` is 1-based.

    `text` is what a reader of the page sees, row by row, rows parted by a line break; hidden text is not in it.
    `hidden_chars` counts characters that are in the file but cannot be seen. `lines` and `words` are empty for text
    documents.
    """

    number: int
    text: str
    source: PageSource = PageSource.TEXT
    lines: Sequence[Line] = ()
    words: Sequence[WordBox] = ()
    width: float = 0.0
    height: float = 0.0
    hidden_chars: int = 0
    problem: str = ""  # why the page could not be read, in one sentence
    # the engine that read its picture, as `rag_core.domain.scanned` names it; "" for text that stands in the file
    read_by: str = ""
    # the number that it prints, where the file says another one than `number`, or the sheet and the cells that stand on
    # it: "iv", "A-2", "Prices A1:D40"; untrusted text
    label: str = ""

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"Page.number must be >= 1, got {self.number}")


class DateSource(StrEnum):
    """Who says what the date of a document is."""

    NONE = ""  # there is no date
    GIVEN = "given"  # people, when they added the document or later
    FIRST_PAGE = "first_page"  # its first page, which says that it is its own
    FILE = "file"  # the file: when it was saved, which may be years later


@dataclass(frozen=True, slots=True)
class Metadata:
    """The facts about a document beside its text; they can be edited. Filters, recency and authority read them.

    `date` is the one that people gave: ISO (YYYY, YYYY-MM or YYYY-MM-DD) or empty; `authority` in [0, 1] or None when
    not stated; `values` are free key/values such as class and subject.
    """

    title: str = ""
    date: str = ""
    authority: float | None = None
    verified: bool = False
    values: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        require_between("Metadata.authority", self.authority, 0.0, 1.0)

    @property
    def standing(self) -> float | None:
        """The authority that counts, in [0, 1]: as stated, else 1 where somebody verified it, or None."""
        return 1.0 if self.authority is None and self.verified else self.authority


# what the findings say of a part that was not read, where all of its page or its document else was
NOT_READ = ("Part of this page is a picture", "attached file", "put on the page were not read")


@dataclass(frozen=True, slots=True)
class Document:
    """A document as indexed.

    `id` is `sha256:<hex>` of its bytes (or the caller's id for a text document given with one).

    `rapidocr_pages` are those of `ocr_pages` that RapidOCR read. `page_labels` are the numbers that the pages print, ""
    where that is their place in the file; none where it always is.

    `page_date` is the day by which its first page dates it, ISO, empty for none, and None where nobody has looked;
    `file_date` is the one that the file states. `date` is the best that is known, and `date_source` says whose it is.
    """

    id: str
    name: str  # file name or the id the caller gave; untrusted text
    language: str  # ISO 639-1 or "und"
    page_count: int
    metadata: Metadata = Metadata()
    strategy: str = "technical"  # how it was cut
    strategy_evidence: str = ""
    ocr_pages: tuple[int, ...] = ()
    unreadable_pages: tuple[int, ...] = ()
    hidden_chars: int = 0
    problems: tuple[str, ...] = ()
    size_bytes: int = 0
    page_date: str | None = None
    file_date: str = ""
    rapidocr_pages: tuple[int, ...] = ()
    page_labels: tuple[str, ...] = ()
    heading: str = ""  # on the first page, set large

    @property
    def date(self) -> str:
        """Its date, ISO as far as known: as people gave it, else of its first page, else of the file."""
        return self.metadata.date or self.page_date or self.file_date

    @property
    def date_source(self) -> DateSource:
        known = (
            (self.metadata.date, DateSource.GIVEN),
            (self.page_date, DateSource.FIRST_PAGE),
            (self.file_date, DateSource.FILE),
        )
        return next((source for stated, source in known if stated), DateSource.NONE)

    @property
    def is_partly_read(self) -> bool:
        """Whether something in it that may hold words was not read, by the reader's findings."""
        return any(part in problem for problem in self.problems for part in NOT_READ)

    def label_of(self, page: int) -> str:
        """The number that a page prints, where it is another one than its place in the file, from 1; "" otherwise."""
        return self.page_labels[page - 1] if page <= len(self.page_labels) else ""

    @property
    def title(self) -> str:
        """The title to show: metadata first, the name otherwise."""
        return self.metadata.title or self.name
