"""The replies of the HTTP API and the results of MCP's tools, as pydantic models.

The bodies of requests are in `request_models`. `collection` is written `namespace` in JSON, as published.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from rag_core.domain.documents import DateSource, Span
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult
from rag_core.records.stored import FeedbackKind
from rag_core.service.request_models import named

Item = TypeVar("Item")


class Told(BaseModel):
    """A reply; ids that count are texts in it."""

    model_config = ConfigDict(populate_by_name=True, from_attributes=True, coerce_numbers_to_str=True)


class Listed(Told, Generic[Item]):
    """Some of a list, in its order; `next` says where it goes on."""

    items: list[Item]
    next: int | None = None


class Source(Told):
    """A citation as it is quoted."""

    id: int
    document: str
    title: str
    page: int
    heading: str
    excerpt: str
    before: str
    after: str
    date: str


class Citation(Source):
    """A numbered source; pages from 1, offsets into the page's raw text, boxes in PDF points."""

    page_label: str = Field(
        description="The number that the page prints, where that is another one, or its sheet and cells; else empty."
    )
    chunk_id: str
    spans: list[Span]
    boxes: list[dict[str, float]]
    heading: str = Field(description="The headings that it stands under, from the outermost.")
    before: str = Field(description="The sentences or the row right before it, word for word; empty where nothing is.")
    after: str = Field(description="The same behind it.")
    date: str = Field(description="The document's, ISO 8601 as far as it is stated; empty where none is.")
    date_source: DateSource = Field(description="Whose the date is; empty without one.")
    ocr: bool
    ocr_engine: str | None = Field(
        description="What read it, tesseract or rapidocr; null where that is not known, or it is no picture."
    )
    unsure: list[dict[str, Any]] | None = Field(
        description="Words that may be read wrong; null where that is not known."
    )


class Value(Told):
    """The characters that answer; offsets into the page's raw text."""

    text: str
    citation: int = Field(description="The number of the citation that holds it.")
    page: int
    start: int
    end: int
    probability: float = Field(description="That it is the right one, if the answer is right.")


class Claim(Told):
    """A sentence of an answer; `support` is a probability, `flags` say what speaks against it."""

    text: str
    cited: list[str]
    relevance: float
    word_for_word: bool
    as_the_scan_was_read: bool
    support: float | None
    flags: list[str]
    read: bool = Field(description="Whether an entailment model has read it.")


class Retrieved(Told):
    """A passage that was found; ranks from 1, 0 where it was not among the candidates."""

    document: str
    page: int
    pages: list[int]
    chunk_id: str
    score: float
    cosine: float
    lexical: float
    dense_rank: int
    lexical_rank: int
    section: str
    text: str


class Decision(Told):
    """A cited answer or a refusal: the same JSON as the command line writes."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int
    id: str = Field(default="", description="Under which the decision is kept; left out where it is not.")
    question: str
    language: str
    status: AnswerStatus
    reason: Reason
    reasons: list[Reason]
    is_safe: bool
    is_refusal: bool
    hallucination: bool
    answer: str
    value: Value | None = Field(
        description="The characters that answer, on their page; null where it is not known which."
    )
    explanation: str
    confidence: float = Field(ge=0, le=1)
    confidence_basis: str
    confidence_level: ConfidenceLevel
    scores: dict[str, float]
    claims: list[Claim]
    citations: list[Citation]
    places: list[Citation]
    may_be: dict[str, float] | None = Field(
        description="Of a refusal: the place that may be the answer, and how likely; null without one."
    )
    conflicts: list[dict[str, Any]]
    retrieved: list[Retrieved]
    trace: list[CheckResult]
    judgements: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    suggestions: list[str]
    notes: list[str]
    metadata: dict[str, Any]


class Answer(Told):
    """A decision as it is read, without what was measured."""

    id: str = Field(default="", description="Under which the decision is kept; left out where it is not.")
    question: str
    status: str
    reason: str
    is_safe: bool
    is_refusal: bool
    answer: str
    value: Value | None
    explanation: str
    confidence: float
    confidence_level: str
    citations: list[Source]
    places: list[Source]
    suggestions: list[str]
    notes: list[str]
    metadata: dict[str, Any]


class Problem(Told):
    """Why a call failed (RFC 9457), and what to do about it."""

    type: str = Field(examples=["about:blank"])
    title: str
    status: int
    detail: str
    remedy: str
    kind: str = Field(description="A stable name of the problem, for programs.")
    errors: list[dict[str, Any]] = Field(default_factory=list, description="The fields that cannot be used.")
    request_id: str = Field(default="", description="X-Request-ID, as the log has it.")
    trace_id: str = Field(default="", description="The trace-id of `traceparent`.")
    error: dict[str, Any] | None = Field(default=None, description="Under /v1: the same as OpenAI's clients read it.")


class Indexed(Told):
    """One of the documents that were sent. `state` is indexed, unchanged (it was there), problem or waiting."""

    name: str
    id: str = ""
    state: Literal["indexed", "unchanged", "problem", "waiting"]
    chunks: int = 0
    problem: str = ""
    remedy: str = ""


class IndexOut(Told):
    """The outcome of documents that were sent; `job` goes on where it is not finished."""

    indexed: int
    unchanged: int
    chunks_created: int
    collection: str = named(...)
    finished: bool
    job: str
    documents: list[Indexed]


class Document(Told):
    """A document as indexed."""

    id: str
    name: str
    title: str
    language: str
    pages: int
    strategy: str
    strategy_evidence: str
    ocr_pages: list[int]
    unreadable_pages: list[int]
    hidden_chars: int
    problems: list[str]
    size_bytes: int
    date: str
    date_source: DateSource
    metadata: dict[str, Any]


class Documents(Listed[Document]):
    """Some of the documents; `next` is the offset of those that follow."""

    total: int


class Page(Told):
    """The raw text of a page, to which offsets refer."""

    document: str
    page: int
    text: str


class Collections(Told):
    """The collections that the token reaches."""

    items: list[str]


class Kept(Told):
    """A kept decision in a list."""

    id: str
    at: str
    origin: str
    question: str


class Said(Told):
    """A reader's word that was kept."""

    id: int


class FeedbackRow(Told):
    """A reader's word in the list of open ones."""

    id: int
    decision: str
    kind: FeedbackKind
    comment: str
    at: str
    question: str
    document: str
    page: int


class Job(Told):
    """A job: how far it is, and what came of it."""

    id: str
    kind: str
    collection: str = named(...)
    state: Literal["waiting", "running", "finished", "failed", "stopped"]
    share: float = Field(ge=0, le=1)
    done: int
    total: int
    step: str
    problem: str = ""
    remedy: str = ""
    indexed: int = 0


class Sentence(Told):
    """One sentence of a judged answer; `flags` say what speaks against it."""

    text: str
    supported: bool
    support: float
    evidence: str
    flags: list[str]


class Judgement(Told):
    """Whether a context supports an answer."""

    supported: bool
    support: float = Field(ge=0, le=1)
    sentences: list[Sentence]


class Confidence(Told):
    """The decision on a question, and its confidence metadata as the log has it."""

    answer: str
    status: AnswerStatus
    id: str
    citations: list[Citation]
    confidenceLevel: ConfidenceLevel
    isAnswerable: bool
    filteredCount: int
    rawCount: int
    scores: dict[str, float]
    indexing: dict[str, int] = Field(
        default_factory=dict, description="Of documents that were searched before all of their pages were read."
    )
