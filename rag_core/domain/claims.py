"""Claims of an answer, the evidence they rest on, contradictions between them, and the citations shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.domain.bounds import require_between
from rag_core.domain.documents import Box, DateSource, Span
from rag_core.domain.scanned import Unsure

DELETED = "[text deleted]"  # stands for the text of a document that is gone


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim stretch of one passage that a claim rests on: `quote` is the raw text at `spans[0]`."""

    passage: str
    document: str
    quote: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer and what it rests on.

    `cited` are the passage ids that the draft named, as named: an id that was not retrieved stays here, so that a
    fabricated citation is reported and never quietly removed. `relevance` in [0, 1] says how well the sentence bears on
    the question (0 when not measured). `value` are the characters of the page that answer, within the first span of one
    of the evidence; None where it is not known which. `value_probability` in [0, 1] says how likely these are the right
    ones, if the sentence is.
    """

    text: str
    evidence: tuple[Evidence, ...] = ()
    cited: tuple[str, ...] = ()
    relevance: float = 0.0
    value: Span | None = None
    value_probability: float = 0.0

    def __post_init__(self) -> None:
        require_between("Claim.relevance", self.relevance, 0.0, 1.0)
        require_between("Claim.value_probability", self.value_probability, 0.0, 1.0)

    @property
    def value_evidence(self) -> Evidence | None:
        at = self.value
        return next((one for one in self.evidence if at is not None and one.spans[0].holds(at)), None)

    @property
    def value_text(self) -> str:
        """The value as the claim has it, without the breaks of rows; "" where there is none, or the page is gone."""
        evidence = self.value_evidence
        if evidence is None or self.value is None:
            return ""
        start, end = evidence.spans[0].start, evidence.spans[0].end
        if evidence.quote == DELETED or len(evidence.quote) != end - start:
            return ""
        raw = evidence.quote[self.value.start - start : self.value.end - start]
        rows = [" ".join(row.split()) for row in raw.split("\n")]
        # a word that is broken at the end of a row may be whole in the claim, with or without its hyphen
        within = re.search(r"[-\u2010]?\s?".join(re.escape(row.rstrip("-\u2010\xad")) for row in rows), self.text)
        return within[0] if within and len(rows) > 1 else " ".join(rows)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims of one draft that state the same thing with different values, first the one that the extract chose."""

    claim: int  # index of the claim
    other: int  # index of the claim that contradicts it
    values: tuple[str, str]  # as each states it, with its unit or what it counts
    documents: tuple[str, str]  # ids
    pages: tuple[int, int]  # 1-based
    dates: tuple[str, str] = ("", "")  # the documents', ISO as far as stated; empty where none is
    added: bool = True  # whether the second claim is there for this conflict only
    statements: tuple[str, str] = ("", "")  # sentence or row that states each value; empty where that is the claim
    date_sources: tuple[DateSource, DateSource] = (DateSource.NONE, DateSource.NONE)  # whose each date is

    @property
    def newer(self) -> str:
        """Id of the newer document; empty unless both dates are known, and differ as far as both are stated."""
        stated = min(map(len, self.dates))
        first, second = (date[:stated] for date in self.dates)
        return "" if first == second else self.documents[0 if first > second else 1]

    @property
    def by_file(self) -> bool:
        """Whether a date is only the file's, so that the document called newer may not be."""
        return DateSource.FILE in self.date_sources


BREAK = "\n"  # before and behind a heading in the text around a quote


@dataclass(frozen=True, slots=True)
class Around:
    """Text beside a quote: its places, and its reading form, or the cells of a row parted by bars."""

    spans: tuple[Span, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered source of an answer.

    `excerpt` is verbatim from the page; `boxes` mark it there, empty when the place is not certain.

    `ocr` says that it was read from a picture: then `excerpt` is as the scan was read. `unsure` has the words of it
    that may be wrong: OCR was not sure of them, or a file has two readings of them and shows neither plainly. It is
    None where nothing is known of that. `doubtful` says that a figure is among them, or may be. `read_by` is the engine
    that read it, as `rag_core.domain.scanned` names it; "" where it was not read from a picture, or that is not known.
    `heading` is the path of headings that it stands under, `before` and `after` what stands around it. `date` is the
    document's, ISO as far as stated, and `date_source` says whose. `page_label` is the number that the page prints,
    where that is another one than `page`, or the sheet and the cells that stand on it.
    """

    id: int
    document: str  # name as the user gave it
    document_id: str
    title: str
    page: int
    chunk_id: str
    excerpt: str
    spans: tuple[Span, ...]
    heading: str = ""
    ocr: bool = False
    boxes: tuple[tuple[int, Box], ...] = ()  # (page, rectangle)
    unsure: tuple[Unsure, ...] | None = ()
    doubtful: bool = False
    read_by: str = ""
    before: Around = Around()
    after: Around = Around()
    date: str = ""
    date_source: DateSource = DateSource.NONE
    page_label: str = ""

    @property
    def page_in_words(self) -> str:
        """Its page, and in brackets the label that it has there, where that is another one."""
        return f"{self.page} (labelled {self.page_label})" if self.page_label else str(self.page)

    @property
    def doubted(self) -> tuple[tuple[int, Box], ...]:
        """(page, rectangle) of each word that may be wrong; none where the place of the whole is not certain."""
        return tuple((one.span.page, one.box) for one in self.unsure or ()) if self.boxes else ()
