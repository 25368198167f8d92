"""What the product talks about: documents, pages, passages, hits, claims, citations.

Frozen values, checked where they are born. Offsets are always into `Page.text`, the page's raw text, so that whatever is quoted can be
found on the page again. This module knows nothing about files, models or thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


def require_between(name: str, value: float, low: float, high: float) -> None:
    """Raise ValueError unless low <= value <= high.

    NaN is rejected too: `min()` and `max()` would let a NaN slip past a gate, so scores are checked here, once.
    """
    if not low <= value <= high:
        raise ValueError(f"{name} must be in [{low:g}, {high:g}], got {value}")


class Box(NamedTuple):
    """A rectangle on a page in PDF points (1/72 inch), origin at the top left, x to the right, y down."""

    x0: float
    y0: float
    x1: float
    y1: float


class WordBox(NamedTuple):
    """One word of a page: `page.text[start:end]` and where it stands, in PDF points."""

    start: int
    end: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a page's raw text: `pages[page - 1].text[start:end]`. Pages are 1-based."""

    page: int
    start: int
    end: int

    def __post_init__(self) -> None:
        if self.page < 1 or not 0 <= self.start < self.end:
            raise ValueError(f"Span needs page >= 1 and 0 <= start < end, got {self}")


class PageSource(StrEnum):
    """Where a page's text came from."""

    TEXT = "text"  # the PDF's own text layer, or a text document
    OCR = "ocr"  # read from the page's picture
    EMPTY = "empty"  # a page with nothing on it
    UNREADABLE = "unreadable"  # has a picture or drawing but no text, and could not be read


HIDDEN_SIGNS = ("\u2e28", "\u2e29")  # around each hidden word that was kept; no print uses these brackets, and their like is plain to see


def holds_hidden(text: str) -> bool:
    """Whether a text of a page holds hidden words that were kept: no reader of the page sees them, so nothing may rest on it."""
    return any(sign in text for sign in HIDDEN_SIGNS)


@dataclass(frozen=True, slots=True)
class Line:
    """One visual row of a page: `page.text[start:end]`, without the line break.

    `cells` are offset pairs into the page text of the parts of the row that wide gaps set apart (one part for running text,
    several for a row of a table; inside `page.text` they are parted by a tab). `size` is the dominant font size in points, 0 when
    unknown. `block` numbers the
    paragraphs that the PDF itself declares (lines of one block stand together).
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

    `text` is what a reader of the page sees, row by row, rows parted by a line break; hidden text is not in it unless ingest
    was told to keep it; then each of its words stands between HIDDEN_SIGNS.
    `hidden_chars` counts characters that are in the file but cannot be seen. `lines` and `words` are empty for text documents.
    """

    number: int
    text: str
    source: PageSource = PageSource.TEXT
    lines: Sequence[Line] = ()
    words: Sequence[WordBox] = ()
    width: float = 0.0
    height: float = 0.0
    hidden_chars: int = 0
    hidden_sample: str = ""
    problem: str = ""  # why the page could not be read, in one sentence

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"Page.number must be >= 1, got {self.number}")


class PassageKind(StrEnum):
    """What a passage is made of (S3-3)."""

    PARAGRAPH = "paragraph"
    TABLE = "table"
    CODE = "code"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known about a document beside its text; editable. Filters, recency and authority read it.

    `date` is ISO (YYYY, YYYY-MM or YYYY-MM-DD) or empty; `authority` in [0, 1] or None when not stated; `values` are free key/values such
    as class and subject.
    """

    title: str = ""
    date: str = ""
    authority: float | None = None
    verified: bool = False
    values: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if self.authority is not None:
            require_between("Metadata.authority", self.authority, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as indexed. `id` is `sha256:<hex>` of its bytes (or the caller's id for a text document given with one)."""

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
    reading_version: int = 0  # of the reader that read its pages; 0 where no reader did

    @property
    def title(self) -> str:
        """The title to show: metadata first, the name otherwise."""
        return self.metadata.title or self.name


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document, the unit that is indexed and retrieved.

    `text` is the reading form (white space collapsed, joined hyphens, NFKC but for superscripts, subscripts and fractions) of the raw text
    at `spans`; `ingest.normalise` computes it and maps offsets back. `tokens` counts the embedding model's own tokens of `context` + text
    as they were embedded.
    """

    id: str
    document: str
    text: str
    spans: tuple[Span, ...]
    language: str = "und"
    section: str = ""
    kind: PassageKind = PassageKind.PARAGRAPH
    lines: tuple[int, int] = (0, 0)  # 1-based line range on the first page
    tokens: int = 0
    ocr: bool = False
    header: tuple[Span, ...] = ()  # of a table: the spans of the rows that name its columns and its unit
    header_text: str = ""

    def __post_init__(self) -> None:
        if not self.spans or not self.text:
            raise ValueError(f"Passage {self.id} needs text and at least one span")

    @property
    def page(self) -> int:
        """The page it starts on, 1-based."""
        return self.spans[0].page


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage as retrieved for one question.

    `score` is the fused rank score (only its order means something); `cosine` in [-1, 1] and `lexical` >= 0 (BM25) are recomputed from
    the stored vector and text, never taken from an engine. Ranks are 1-based; 0 means not among that ranking's candidates.
    """

    passage: Passage
    score: float
    cosine: float
    lexical: float
    dense_rank: int = 0
    lexical_rank: int = 0
    rerank: float | None = None

    def __post_init__(self) -> None:
        require_between("Hit.cosine", self.cosine, -1.0, 1.0)
        if not math.isfinite(self.score) or not math.isfinite(self.lexical) or self.lexical < 0:
            raise ValueError(f"Hit scores must be finite and lexical >= 0, got {self.score}, {self.lexical}")
        if self.rerank is not None:
            require_between("Hit.rerank", self.rerank, 0.0, 1.0)

    @property
    def distance(self) -> float:
        """1 - cosine, in [0, 2]. Rounded to 12 decimals: a cosine of 0.72 is a distance of 0.28, and equal passes."""
        return round(1.0 - self.cosine, 12)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim stretch of one passage that a claim rests on. `quote` is the raw text at `spans[0]`, character for character."""

    passage: str
    document: str
    quote: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer and what it rests on.

    `cited` are the passage ids that the draft named, as named: an id that was not retrieved stays here, so that a fabricated citation is
    reported and never quietly removed. `relevance` in [0, 1] says how well the sentence bears on the question (0 when not measured).
    """

    text: str
    evidence: tuple[Evidence, ...] = ()
    cited: tuple[str, ...] = ()
    relevance: float = 0.0

    def __post_init__(self) -> None:
        require_between("Claim.relevance", self.relevance, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims of one draft that state the same thing with different values, first the one that the extract chose.

    Args:
        claim: index of the claim.
        other: index of the claim that contradicts it.
        values: as each states it, with its unit or what it counts.
        documents: ids.
        pages: 1-based.
        dates: of the documents, ISO as far as stated; empty where none is.
        added: whether the second claim is there for this conflict only.
        statements: the sentence or row of each claim that states its value; empty where that is the claim.
    """

    claim: int
    other: int
    values: tuple[str, str]
    documents: tuple[str, str]
    pages: tuple[int, int]
    dates: tuple[str, str] = ("", "")
    added: bool = True
    statements: tuple[str, str] = ("", "")

    @property
    def newer(self) -> str:
        """Id of the newer document; empty unless both dates are known, and differ as far as both are stated."""
        stated = min(map(len, self.dates))
        first, second = (date[:stated] for date in self.dates)
        return "" if first == second else self.documents[0 if first > second else 1]


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered source of an answer. `excerpt` is verbatim from the page; `boxes` mark it there, empty when the place is not certain."""

    id: int
    document: str  # name as the user gave it
    document_id: str
    title: str
    page: int
    chunk_id: str
    excerpt: str
    spans: tuple[Span, ...]
    section: str = ""
    ocr: bool = False
    boxes: tuple[tuple[int, Box], ...] = ()  # (page, rectangle)
