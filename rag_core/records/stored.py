"""The values that are kept beside a library: decisions, feedback, runs of labelled sets, saved presets. Storage is elsewhere.

Times are ISO 8601 in UTC, to the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rag_core.settings import Settings

MAX_COMMENT_CHARS = 1000  # a reader's comment, or a note on a run, about a paragraph; chosen


class FeedbackKind(StrEnum):
    """The reader's feedback on a decision: right or wrong."""

    HELPFUL = "helpful"
    WRONG_ANSWER = "wrong_answer"
    WRONG_REFUSAL = "wrong_refusal"


class FeedbackState(StrEnum):
    """The state of a reader's feedback: open, taken as a label, or dismissed."""

    OPEN = "open"
    LABELLED = "labelled"  # a person confirmed it as a label
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A kept question; its measurements are read by `id`. `origin` says where it was asked: "ask" for the page."""

    id: int
    at: str
    origin: str
    question: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """A reader's word on one stored decision. All texts are untrusted.

    Args:
        decision: id of the stored decision.
        comment: plain text of at most `MAX_COMMENT_CHARS` characters.
        question: of the decision.
        searched: ids of the documents that it was restricted to; none for all.
        document: id of the document that holds the answer, as the reader pointed it out; empty when not said.
        page: 1-based; 0 when not said.
    """

    id: int
    decision: int
    kind: FeedbackKind
    comment: str
    at: str
    state: FeedbackState
    question: str
    searched: tuple[str, ...] = ()
    document: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class RunHead:
    """A labelled set run against one version of a library: what it was run with, and how far it came.

    Args:
        name: as the user called it.
        set_name: the labelled set; the run keeps the labels it started with.
        settings: what the questions were measured under.
        calibration: identity of the calibration in force; empty for none.
        model: embedding model and precision.
        version: of the library.
        total: questions.
        done: of them measured and stored.
        note: of whoever keeps the run; untrusted text of at most `MAX_COMMENT_CHARS` characters.
    """

    id: int
    name: str
    set_name: str
    collection: str
    settings: Settings
    calibration: str
    model: str
    version: int
    started: str
    total: int
    done: int
    note: str = ""


class ExecutionOutcome(StrEnum):
    """The end of a piece of work that a program did with a prompt."""

    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Execution:
    """A program's record of one use of a prompt or profile: numbers and names of ours, no text.

    Args:
        prompt: `rag_strategy` or `rag_generation`.
        profile: that it worked under, such as `legal`; empty where none.
        confidence: in [0, 1].
        citation_coverage: share of its sentences that cite a source, in [0, 1].
        hallucination: whether a sentence was found that no source supports.
        feedback: of a reader; None where nobody said a word.
        decision: id of the kept decision that it is about; 0 for none.
    """

    prompt: str
    profile: str
    confidence: float
    citation_coverage: float
    hallucination: bool
    outcome: ExecutionOutcome
    feedback: FeedbackKind | None = None
    decision: int = 0
    id: int = 0
    at: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class SavedPreset:
    """Settings that a user saved under a name: the values that differ from the defaults or all of them, and the certificate they carry."""

    name: str
    values: Mapping[str, Any]
    certificate: Mapping[str, Any] | None
    created: str
