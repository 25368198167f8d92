"""The bodies of the HTTP API and the results of MCP's tools, as pydantic models. The client reads with the same ones.

`collection` is written `namespace` in JSON, as published. Whatever a request has besides is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.given import MAX_LINE_CHARS, MAX_TEXT_CHARS
from rag_core.library.stored.bounds import MAX_FILES, MAX_KEY_CHARS, MAX_KEYS, MAX_NAME_CHARS, MAX_VALUE_CHARS
from rag_core.records.stored import MAX_COMMENT_CHARS, FeedbackKind

MAX_PASSAGES = 200  # as `decide_over` takes
MAX_SETTINGS = 200  # more than there are
MAX_TOGETHER = 16  # collections of one question: they are joined in memory for each
MAX_CONTENT_CHARS = 10_000_000  # one document as text; below the largest body
MAX_ROWS = 1000  # labelled questions of one run; larger sets are for the command line
MAX_PAGE = 1_000_000  # number of a page, or of an item in a list: beyond any document
PAGE_ITEMS, MAX_PAGE_ITEMS = 50, 200  # items of a list that come at once

Name = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$", examples=["default"])]
Question = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARS, examples=["How long is the warranty period?"])]
Value = bool | int | float | Annotated[str, Field(max_length=MAX_VALUE_CHARS)]
Facts = Annotated[dict[Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS)], Value], Field(max_length=MAX_KEYS)]
Knobs = Annotated[dict[Annotated[str, Field(max_length=MAX_KEY_CHARS)], Value], Field(max_length=MAX_SETTINGS)]
Preset = Annotated[str, Field(max_length=MAX_KEY_CHARS)]
Line = Annotated[str, Field(max_length=MAX_LINE_CHARS)]
Domain = Annotated[
    str, Field(pattern="^[a-z]{1,30}$", examples=["legal"], description="A domain profile, such as legal; `auto` detects it. None without.")
]
Version = Annotated[int, Field(ge=0, le=MAX_PAGE, description="A version of a profile; 0 is the shipped one.")]
Language = Annotated[str, Field(pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3})?$")]  # ISO 639-1, or longer as BCP 47 has it


class Asked(BaseModel):
    """A request: unknown fields are refused, so that a misspelt one is not taken for its default."""

    model_config = ConfigDict(extra="forbid")


class Told(BaseModel):
    """A reply."""

    model_config = ConfigDict(populate_by_name=True)


_ALIASES = AliasChoices("namespace", "collection")


def _named(default: Any = "default") -> Any:
    return Field(default, validation_alias=_ALIASES, serialization_alias="namespace", description="The collection.")


class Chosen(Asked):
    """The settings of a call."""

    preset: Preset | None = Field(default=None, description="A named set of settings; the service's own where it is left out.")
    settings: Knobs = Field(default_factory=dict, description="Single settings over it: numbers, switches and choices.")


class TextIn(Asked):
    """A document as text. Metadata: title, date, authority, verified, source, and keys of your own."""

    content: str = Field(max_length=MAX_CONTENT_CHARS, examples=["The warranty period is 24 months from delivery."])
    metadata: Facts = Field(default_factory=dict, examples=[{"title": "Terms", "date": "2024-05-01"}])
    id: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = Field(default="", description="Yours; equal texts with different ids stay two.")
    language: Language = Field(default="", description="ISO 639-1; detected where it is left out.")


class IndexIn(Chosen):
    """Documents to add."""

    domain: Domain | None = None
    documents: list[TextIn] = Field(min_length=1, max_length=MAX_FILES)
    collection: Name = _named()


class QueryIn(Chosen):
    """A question to a collection."""

    query: Question
    collection: Name = _named()
    collections: list[Name] | None = Field(
        default=None, min_length=1, max_length=MAX_TOGETHER,
        description="Several to ask together, ranked together, instead of one; the decision is then kept in none of them.",
    )  # fmt: skip
    top_k: int | None = Field(default=None, ge=1, le=100, description="How many passages are retrieved.")
    documents: list[Annotated[str, Field(max_length=MAX_NAME_CHARS)]] | None = Field(
        default=None, max_length=1000, description="Ids or names of those to search; all where it is left out."
    )
    filters: dict[str, Annotated[str, Field(max_length=MAX_VALUE_CHARS)]] = Field(default_factory=dict, max_length=MAX_KEYS)
    domain: Domain | None = None
    session: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = Field(
        default="", description="Whom you ask for, where you serve many: an id of your own. Two profiles are compared by it; it is hashed."
    )

    @model_validator(mode="after")
    def _one_or_several(self) -> QueryIn:
        if self.collections is not None and "collection" in self.model_fields_set:
            raise ValueError("namespace and collections do not go together: name all of them in collections")
        if self.collections is not None and self.domain is not None:
            raise ValueError("domain and collections do not go together: each collection has its own profiles")
        return self


class PassageIn(Asked):
    """A passage that you retrieved; all but its text may be left out."""

    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARS)
    document: Line = ""
    page: int | None = Field(default=None, ge=1, le=MAX_PAGE)
    section: Line = ""
    id: Line = ""
    score: float | None = Field(default=None, allow_inf_nan=False)
    language: Language = ""
    metadata: Facts = Field(default_factory=dict)


class DecideIn(Chosen):
    """A question over passages, best first."""

    question: Question
    passages: list[PassageIn] = Field(min_length=1, max_length=MAX_PASSAGES, examples=[[{"text": "The warranty period is 24 months."}]])


class ReplayIn(Chosen):
    """The settings to decide a kept question under."""

    settings: Knobs = Field(default_factory=dict, examples=[{"min_confidence": 0.9}])


class FeedbackIn(Asked):
    """A reader's word on a decision; `document` and `page` say where the answer stands."""

    kind: FeedbackKind
    comment: Annotated[str, Field(max_length=MAX_COMMENT_CHARS)] = ""
    document: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""
    page: int = Field(default=0, ge=0, le=MAX_PAGE)


class MetadataIn(Asked):
    """A document's metadata; it replaces all of it."""

    metadata: Facts = Field(examples=[{"title": "Terms", "class": "10"}])


class RunIn(Chosen):
    """Labelled questions `{id, question, answerable, answers?, documents?, …}` to measure."""

    name: Annotated[str, Field(min_length=1, max_length=100)] = Field(examples=["warranty"])
    questions: list[dict[str, Any]] = Field(
        min_length=1, max_length=MAX_ROWS, examples=[[{"id": "1", "question": "How long is the warranty?", "answerable": True}]]
    )
    budget_tokens: int | None = Field(default=None, ge=1, le=10**9, description="Stop when a language model has taken so many.")


class Citation(Told):
    """A numbered source; pages from 1, offsets into the page's raw text, boxes in PDF points."""

    id: int
    document: str
    title: str
    page: int
    chunk_id: str
    excerpt: str
    spans: list[dict[str, int]]
    boxes: list[dict[str, float]]
    section: str
    ocr: bool
    unsure: list[dict[str, Any]] | None = Field(description="Words that OCR may have read wrong; null where that is not known.")


class Decision(Told):
    """A cited answer or a refusal: the same JSON as the command line writes."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid")

    schema_version: int
    id: str = Field(description="Under which the decision is kept; empty where it is not.")
    question: str
    language: str
    status: str
    reason: str
    reasons: list[str]
    is_safe: bool
    is_refusal: bool
    hallucination: bool
    answer: str
    explanation: str
    confidence: float = Field(ge=0, le=1)
    confidence_basis: str
    confidence_level: str
    scores: dict[str, float]
    claims: list[dict[str, Any]]
    citations: list[Citation]
    places: list[Citation]
    conflicts: list[dict[str, Any]]
    retrieved: list[dict[str, Any]]
    trace: list[dict[str, Any]]
    judgements: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
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
    collection: str = _named(...)
    finished: bool
    job: str
    documents: list[Indexed]


class QuotaIn(Asked):
    """The most that a collection may have; what is left out has no limit."""

    documents: int | None = Field(default=None, ge=1, le=10**9, examples=[500])
    bytes: int | None = Field(default=None, ge=1, le=2**53, description="Of files as they were handed in.")


class QuotaOut(Told):
    """How much a collection has, and the most that it may have; None for no limit."""

    documents: int
    bytes: int
    most_documents: int | None
    most_bytes: int | None


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
    read_by_earlier_version: bool
    date: str
    date_source: Literal["", "given", "first_page", "file"]
    metadata: dict[str, Any]


class Documents(Told):
    """Some of the documents; `next` is the offset of those that follow."""

    items: list[Document]
    total: int
    next: int | None


class Erased(Told):
    """How much went with a document: kept questions, results of labelled runs, labels, words of readers."""

    decisions: int
    results: int
    labels: int
    feedback: int


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


class KeptList(Told):
    """Some of the kept decisions, newest first; `next` goes into `before`."""

    items: list[Kept]
    next: int | None


class Said(Told):
    """A reader's word that was kept."""

    id: int


class FeedbackRow(Told):
    """A reader's word in the list of open ones."""

    id: int
    decision: str
    kind: str
    comment: str
    at: str
    question: str
    document: str
    page: int


class FeedbackList(Told):
    """The open feedback of a collection, newest first; `next` goes into `offset`."""

    items: list[FeedbackRow]
    next: int | None = None


class Job(Told):
    """A job: how far it is, and what came of it. `run` is the number of a labelled run, 0 for none."""

    id: str
    kind: str
    collection: str = _named(...)
    state: Literal["waiting", "running", "finished", "failed", "stopped"]
    share: float = Field(ge=0, le=1)
    done: int
    total: int
    step: str
    run: int = 0
    problem: str = ""
    remedy: str = ""
    indexed: int = 0
    measured: int = 0


class Jobs(Told):
    """Jobs, newest first; `next` goes into `offset`."""

    items: list[Job]
    next: int | None = None


class JudgeIn(Asked):
    """An answer to hold against a context, sentence by sentence."""

    context: str = Field(min_length=1, max_length=MAX_TEXT_CHARS, examples=["The warranty period is 24 months."])
    answer: str = Field(min_length=1, max_length=10_000, examples=["The warranty lasts 24 months."])
    language: Language = ""


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

    model_config = ConfigDict(populate_by_name=True)

    answer: str
    status: str
    id: str
    citations: list[Citation]
    confidenceLevel: str
    isAnswerable: bool
    filteredCount: int
    rawCount: int
    scores: dict[str, float]
    indexing: dict[str, int] = Field(default_factory=dict, description="Of documents that were searched before all vectors were there.")
