"""The LLM trace of one question: prompts, answers, judgements, drafts. Frozen, like the measurements.

Whatever a model wrote is untrusted text: it is shown as inert text only, and never as an answer before the checks have
judged it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Literal

from pydantic import BaseModel

from rag_core.domain.bounds import require_between
from rag_core.domain.claims import Conflict
from rag_core.domain.drafts import Draft
from rag_core.domain.passages import Hit
from rag_core.domain.status import Reason

Answerable = Literal["yes", "no", "partial", ""]  # "" where there is no judgement
YesNo = Literal["yes", "no", "unclear"]


class Step(StrEnum):
    """The steps that need a model, in the order in which they run."""

    SUFFICIENCY = "sufficiency"  # asks whether the passages answer the question
    EXPAND = "expand"  # searches again for what is missing; costs no call
    DRAFT = "draft"
    VERIFY = "verify"  # asks of each claim whether its passages say so


# what begins now, and how many claims it is about (0 where none)
OnStage = Callable[[Step | Literal["check"], int], None]


@cache
def _shape(schema: type[BaseModel]) -> str:
    return json.dumps(schema.model_json_schema(), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt, as it is sent to a model."""

    name: str  # `compress`, `sufficiency` or `verify`
    version: int  # counts up with every change of its wording
    system: str  # the rules
    user: str  # passages, question and what was wrong with an earlier draft, as quoted data
    schema: type[BaseModel]  # the answer's, for servers with structured outputs
    temperature: float = 0.0  # in [0, 2]
    max_tokens: int = 600  # the longest answer, its quotes and JSON included

    @property
    def hash(self) -> str:
        """12 hex digits over everything that shapes the answer but the model."""
        body = json.dumps(
            [self.name, self.version, self.system, self.user, _shape(self.schema), self.temperature, self.max_tokens]
        )
        return hashlib.sha256(body.encode()).hexdigest()[:12]

    @property
    def id(self) -> str:
        """As it stands in a trace: `compress/1 0a1b2c3d4e5f`."""
        return f"{self.name}/{self.version} {self.hash}"


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an answer may take: seconds from now, over all endpoints, and whether the user stopped it."""

    seconds: float
    cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer as it came."""

    text: str  # untrusted; JSON where `structured`, though servers exist that ignore the schema
    structured: bool  # whether it was asked for by a schema
    model: str  # the name it was asked for by
    endpoint: str  # host and port that answered; never a key
    tokens_in: int = 0  # the prompt's, as the server counted; 0 where it did not say
    tokens_out: int = 0  # the answer's
    ms: float = 0.0  # milliseconds until it was there
    tried: tuple[str, ...] = ()  # one sentence for each endpoint before it that did not answer
    complete: bool = True  # whether the model came to its end; False where it was cut off at the longest length


@dataclass(frozen=True, slots=True)
class Call:
    """One prompt of a question: what was asked of whom, what it cost, and why it failed; no text of a document or a
    model.

    With a `failure`, one sentence of ours, nothing came that could be used.
    """

    step: Step
    prompt: str = ""
    model: str = ""
    endpoint: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    ms: float = 0.0
    structured: bool = True
    tried: tuple[str, ...] = ()
    failure: str = ""

    @property
    def made(self) -> bool:
        """Whether an endpoint was asked: not without a model, or beyond the costs."""
        return bool(self.endpoint or self.ms)


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """The model's judgement of the passages, before it may draft."""

    call: Call  # its prompt; with a `failure` there is no judgement
    passages: int = 0  # how many it was shown. A replay that would show it more or fewer needs a new one
    can_answer: Answerable = ""  # yes, no or partial
    confidence: float = 0.0  # in [0, 1] as the model states it; uncalibrated
    missing: tuple[str, ...] = ()  # what it says is missing, a few words each; untrusted
    reasoning: str = ""  # untrusted
    contradicts: bool = False  # whether it says that the passages contradict each other
    sides: Draft | None = None  # the two sentences that it named, word for word; None where they are not there
    conflict: Conflict | None = None  # between the two claims of `sides`

    def __post_init__(self) -> None:
        require_between("Sufficiency.confidence", self.confidence, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Verification:
    """The model's answer on each claim: yes, no or unclear; none with a `failure`. It only takes trust away."""

    call: Call
    answers: tuple[YesNo, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One draft of the model with everything measured on it."""

    # beside the question and its settings its prompt depended on the level, the round, the passages and what was found
    # on the draft before: a replay that differs in them needs a new draft
    asked: tuple[str, ...]
    call: Call  # its prompt; with a `failure` the model could not be asked
    draft: Draft = field(default_factory=Draft)  # with the measurements of its claims
    problem: Reason = Reason.NONE  # why it is none: empty, malformed, declined, off the question or one-sided
    refusal: str = ""  # the reason that the model gave for declining; untrusted
    language: str = ""  # the sentences', as detected; empty where that is not certain
    sentences: int = 0  # how many the draft has
    tokens: int = 0  # in its sentences, without the quotes
    added: tuple[int, ...] = ()  # for each claim, the most content words in a row that its sources lack
    verification: Verification | None = None  # None where it was not asked for
    # for each claim, whether it does more than leave words of its source out; None when not measured
    reworded: tuple[bool, ...] | None = None
    correctness: float | None = None  # calibrated probability in [0, 1] that it is right; None when not measured

    def __post_init__(self) -> None:
        require_between("Attempt.correctness", self.correctness, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class LlmTrace:
    """Everything that a model was asked for one question, in order."""

    context_words: int = 0  # words of the retrieved passages together
    judgements: tuple[Sufficiency, ...] = ()  # on round 0, the passages first retrieved, and on each expanded one
    expanded: tuple[tuple[Hit, ...], ...] = ()  # the hits of the rounds after the first
    attempts: tuple[Attempt, ...] = ()  # the drafts

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every prompt that was to be sent, in order; `made` says which were."""
        found = [judgement.call for judgement in self.judgements]
        for attempt in self.attempts:
            found.append(attempt.call)
            if attempt.verification is not None:
                found.append(attempt.verification.call)
        return tuple(found)

    @property
    def tokens(self) -> int:
        """Tokens of all calls that were really made, in and out."""
        return sum(call.tokens_in + call.tokens_out for call in self.calls)
