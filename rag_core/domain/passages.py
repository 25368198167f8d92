"""Passages, the unit that is indexed, and hits, passages as they were retrieved for a question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rag_core.domain.bounds import require_between
from rag_core.domain.documents import Span

TOP_PASSAGES, TOP_CHARS = 3, 500  # what the relevance check reads of a retrieval, and of each passage; as published


class PassageKind(StrEnum):
    """The kind of text that a passage is made of."""

    PARAGRAPH = "paragraph"
    TABLE = "table"
    CODE = "code"
    LIST = "list"


class Role(StrEnum):
    """The part that a piece of a passage plays for a reader. Only `TEXT`, `ITEM`, `ROWS` and `CODE` state anything."""

    TEXT = "text"  # running text
    ITEM = "item"  # an item in a list
    ROWS = "rows"  # rows in a table
    CODE = "code"
    HEADING = "heading"
    CAPTION = "caption"  # under a figure or table: its first sentence only names it
    ASIDE = "aside"  # a line of a table of contents, a signature: context

    @property
    def states(self) -> bool:
        """Whether anything of the piece can be an answer."""
        return self not in (Role.HEADING, Role.ASIDE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a passage over whose ends no sentence runs: a paragraph, an item, a heading, rows of a table.

    `lead` is where the sentence stands that leads in an item ("The following are excluded:"); none without one.
    """

    role: Role
    spans: tuple[Span, ...]
    lead: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document, the unit that is indexed and retrieved.

    `text` is the reading form (white space collapsed, joined hyphens, NFKC but for superscripts, subscripts, fractions
    and circled signs) of the raw text at `spans`; `ingest.normalise` computes it and maps offsets back. `tokens` counts
    the embedding model's own tokens of `context` + text as they were embedded. `pieces` are all of its text in reading
    order; none where nobody told them apart.
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
    header: tuple[Span, ...] = ()  # tables only: the spans of the rows that name the columns and the unit
    header_text: str = ""
    pieces: tuple[Piece, ...] = ()

    def __post_init__(self) -> None:
        if not self.spans or not self.text:
            raise ValueError(f"Passage {self.id} needs text and at least one span")

    @property
    def parts(self) -> tuple[Piece, ...]:
        """Its pieces; all of it as one item where nobody told them apart, since no title may open an item."""
        return self.pieces or (Piece(Role.ITEM, self.spans),)

    @property
    def page(self) -> int:
        return self.spans[0].page


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage as retrieved for one question.

    `score` is the fused rank score (only its order means something); `cosine` in [-1, 1] and `lexical` >= 0 (BM25) are
    recomputed from the stored vector and text, never taken from an engine. Ranks are 1-based; 0 means not among that
    ranking's candidates.
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
        require_between("Hit.rerank", self.rerank, 0.0, 1.0)

    @property
    def distance(self) -> float:
        """1 - cosine, in [0, 2]. Rounded to 12 decimals: a cosine of 0.72 is a distance of 0.28, and equal passes."""
        return round(1.0 - self.cosine, 12)


@dataclass(frozen=True, slots=True)
class Place:
    """Sentences or rows that stand together, and the line that says where: title, headings, head of the table."""

    heading: str  # that line
    units: tuple[str, ...]  # the sentences or rows


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """A sentence or row in its place, as a reader has read it."""

    log_odds: float  # that it answers the question there, in [-10, 10]; uncalibrated
    value: tuple[int, int] = (0, 0)  # the characters of it that answer, start and end
    sure: float = 0.0  # how much of the reader's attention to values lies on these characters, in [0, 1]; uncalibrated


@dataclass(frozen=True, slots=True)
class ReadPlace:
    """The log odds that a place answers the question, in [-10, 10], and what is said of each of its units."""

    log_odds: float
    units: tuple[ReadUnit, ...]

    def to_json(self) -> list[Any]:
        return [self.log_odds, [[one.log_odds, *one.value, one.sure] for one in self.units]]

    @classmethod
    def from_json(cls, row: list[Any]) -> ReadPlace:
        return cls(row[0], tuple(ReadUnit(odds, (start, end), sure) for odds, start, end, sure in row[1]))
