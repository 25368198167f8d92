"""The bodies of the API's calls about domain profiles, and the arguments of MCP's tool, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from rag_core.records.stored import ExecutionOutcome, FeedbackKind
from rag_core.service.messages.models import Told
from rag_core.service.messages.request_models import Asked

ProfileName = Annotated[str, Field(pattern="^[a-z]{0,30}$", description="As in a decision's metadata, such as legal.")]


class Metrics(Asked):
    """The figures of a piece of work."""

    confidence: float = Field(ge=0, le=1, allow_inf_nan=False, examples=[0.9])
    citation_coverage: float = Field(
        ge=0, le=1, allow_inf_nan=False, examples=[1.0], description="Share of the sentences that cite a source."
    )
    hallucination_detected: bool = Field(examples=[False], description="Whether a sentence was found that no source supports.")


class ExecutionIn(Metrics):
    """How a piece of work with a prompt or a profile went, in numbers. One about a kept decision is of that decision's profile."""

    prompt_id: Literal["rag_strategy", "rag_generation"] = Field(examples=["rag_strategy"])
    outcome: ExecutionOutcome = ExecutionOutcome.ANSWERED
    feedback: FeedbackKind | None = None
    decision: Annotated[str, Field(pattern="^([1-9][0-9]{0,14})?$")] = Field(default="", description="The id of a kept decision.")
    profile: ProfileName = ""


class ProfileOut(Told):
    """A domain's profile and its settings."""

    domain: str
    title: str
    help: str
    values: dict[str, Any]


class Profiles(Told):
    """The profiles of the domains."""

    items: list[ProfileOut]


class RecordedOut(ProfileOut):
    """A profile, with what programs recorded of their work under it."""

    recorded: dict[str, Any]


class DetectedOut(Told):
    """The domain that a question and the searched documents speak for."""

    domain: str
    why: str
