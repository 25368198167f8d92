"""The values kept beside a library: decisions, feedback, runs, presets. Times are ISO 8601 in UTC, to the second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_core.settings import Settings

ProfileName = Annotated[str, Field(pattern="^[a-z]{0,30}$", description="As in a decision's metadata, such as legal.")]
MAX_COMMENT_CHARS = 1000  # a reader's comment, about a paragraph; chosen


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
    """A reader's word on one stored decision, untrusted; `page`, from 1, says where they saw the answer."""

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
    """A labelled set run against one version of a library."""

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


class ExecutionOutcome(StrEnum):
    """The end of a piece of work that a program did with a prompt."""

    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"


class Metrics(BaseModel):
    """The figures of a piece of work."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    confidence: float = Field(ge=0, le=1, allow_inf_nan=False, examples=[0.9])
    citation_coverage: float = Field(
        ge=0, le=1, allow_inf_nan=False, examples=[1.0], description="Share of the sentences that cite a source."
    )
    hallucination_detected: bool = Field(
        examples=[False], description="Whether a sentence was found that no source supports."
    )


class Execution(BaseModel):
    """How a piece of work with a prompt or a profile went; about a kept decision, of that decision's profile."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt_id: Literal["rag_strategy", "rag_generation"] = Field(examples=["rag_strategy"])
    metrics: Metrics
    outcome: ExecutionOutcome = ExecutionOutcome.ANSWERED
    feedback: FeedbackKind | None = None
    decision: Annotated[str, Field(pattern="^([1-9][0-9]{0,14})?$")] = Field(
        default="", description="The id of a kept decision."
    )
    profile: ProfileName = ""


@dataclass(frozen=True, slots=True)
class SavedPreset:
    """Settings that a user saved under a name, and the certificate that they carry."""

    name: str
    values: Mapping[str, Any]
    certificate: Mapping[str, Any] | None
    created: str
