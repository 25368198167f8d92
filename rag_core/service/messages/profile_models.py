"""The bodies of the API's calls about domain profiles, and the arguments of MCP's tool, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from rag_core.records.stored import MAX_COMMENT_CHARS, ExecutionOutcome, FeedbackKind
from rag_core.service.messages.models import Told
from rag_core.service.messages.request_models import Asked, Knobs, Preset


class ProposalIn(Asked):
    """A change of a profile. It is judged on labelled questions, or on kept decisions where neither of the two is named."""

    values: Knobs = Field(min_length=1, examples=[{"min_correctness": 0.6}], description="The settings that change.")
    why: Annotated[str, Field(max_length=MAX_COMMENT_CHARS)] = ""
    run: int | None = Field(default=None, ge=1, le=2**53, description="A labelled run, for its questions.")
    set: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(default=None, description="A labelled set of the collection.")
    preset: Preset | None = Field(default=None, description="The preset that the profile stands over; the service's own without.")
    budget_tokens: int | None = Field(default=None, ge=1, le=10**9, description="Of a language model, for each of the two runs.")


ProfileName = Annotated[str, Field(pattern="^([a-z]{1,30}@[0-9]{1,7})?$", description="As in a decision's metadata, such as legal@0.")]


class Metrics(Asked):
    """The figures of a piece of work."""

    confidence: float = Field(ge=0, le=1, allow_inf_nan=False, examples=[0.9])
    citation_coverage: float = Field(
        ge=0, le=1, allow_inf_nan=False, examples=[1.0], description="Share of the sentences that cite a source."
    )
    hallucination_detected: bool = Field(examples=[False], description="Whether a sentence was found that no source supports.")


class ComparisonIn(Asked):
    """Two versions of a profile that live questions are split between."""

    a: int = Field(ge=0, le=9_999_999, examples=[0])
    b: int = Field(ge=0, le=9_999_999, examples=[1])
    alpha: float = Field(default=0.05, gt=0, le=0.5, allow_inf_nan=False, description="The rate of false alarms that is allowed.")


class SideOut(Told):
    """One side: readers' first words, and where the share of good ones lies, however often somebody looks."""

    version: int
    good: int
    answers: int
    share: float | None
    low: float
    high: float


class ComparisonOut(Told):
    """A comparison. `better` is the version that is better by more than chance; `needed` how many more answers that would take."""

    id: int
    domain: str
    a: SideOut
    b: SideOut
    alpha: float
    p: float = Field(description="Always-valid p-value: it holds at every look.")
    decided_at: int = Field(description="With how many answers p was alpha or less; 0 where it never was.")
    better: int | None
    needed: int | None = Field(description="If the shares stay as they are; null where they are equal, or it would take too many.")
    at: str
    by: str
    stopped: str
    stopped_by: str


class ComparisonsOut(Told):
    """The comparisons of a domain, oldest first."""

    items: list[ComparisonOut]


class LearnIn(Asked):
    """Labelled questions that choose a change of a profile, and prove it."""

    run: int | None = Field(default=None, ge=1, le=2**53, description="A labelled run, for its questions.")
    set: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(default=None, description="A labelled set of the collection.")
    preset: Preset | None = Field(default=None, description="The preset that the profile stands over; the service's own without.")


class ExecutionIn(Metrics):
    """How a piece of work with a prompt or a profile went, in numbers. One about a kept decision is of that decision's profile."""

    prompt_id: Literal["rag_strategy", "rag_generation"] = Field(examples=["rag_strategy"])
    outcome: ExecutionOutcome = ExecutionOutcome.ANSWERED
    feedback: FeedbackKind | None = None
    decision: Annotated[str, Field(pattern="^([1-9][0-9]{0,14})?$")] = Field(default="", description="The id of a kept decision.")
    profile: ProfileName = ""


class ProfileOut(Told):
    """A domain's profile: the version in force, and its settings."""

    domain: str
    title: str
    help: str
    version: int
    values: dict[str, Any]
    proposals: int = Field(description="Versions that nobody accepted or declined yet.")


class Profiles(Told):
    """The profiles of a collection."""

    items: list[ProfileOut]


class DetectedOut(Told):
    """The domain that a question and the searched documents speak for."""

    domain: str
    why: str
    profile: str


class VersionOut(Told):
    """A version of a profile; `evidence` says how questions end before and after it, and is empty for the shipped one."""

    version: int
    values: dict[str, Any]
    in_force: bool
    state: str
    why: str
    evidence: dict[str, Any]
    at: str
    by: str
    settled: str
    settled_by: str
    recorded: dict[str, Any] = Field(description="What programs recorded of their work under it.")


class Versions(Told):
    """All versions of a profile, the shipped one first."""

    domain: str
    items: list[VersionOut]
