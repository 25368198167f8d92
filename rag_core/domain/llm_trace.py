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
    """One prompt, as it is sent to a model.

    Args:
        name: of the prompt (`compress`, `sufficiency`, `verify`).
        version: counts up with every change of its wording.
        system: the rules.
        user: passages, question and what was wrong with an earlier draft, as quoted data.
        schema: of the answer, for servers with structured outputs.
        temperature: in [0, 2].
        max_tokens: the longest answer, its quotes and JSON included.
    """

    name: str
    version: int
    system: str
    user: str
    schema: type[BaseModel]
    temperature: float = 0.0
    max_tokens: int = 600

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
    """How long an answer may take: seconds from now, over all endpoints and attempts, and whether the user has stopped
    it meanwhile.
    """

    seconds: float
    cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer as it came.

    Args:
        text: untrusted; JSON where `structured`, though servers exist that ignore the schema.
        structured: whether it was asked for by a schema.
        model: the name it was asked for by.
        endpoint: host and port that answered; never a key.
        tokens_in: of the prompt, as the server counted; 0 where it did not say.
        tokens_out: of the answer.
        ms: milliseconds until it was there, 0 from the cache.
        cached: whether it was taken from the cache.
        tried: one sentence for each endpoint before it that did not answer.
        complete: whether the model came to its end; False where it was cut off at the longest length.
    """

    text: str
    structured: bool
    model: str
    endpoint: str
    tokens_in: int = 0
    tokens_out: int = 0
    ms: float = 0.0
    cached: bool = False
    tried: tuple[str, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """One prompt of a question: what was asked of whom, what it cost, and why it failed if it did.

    No text of a document or a model.

    `failure` is one sentence of ours; then nothing came that could be used.
    """

    step: Step
    prompt: str = ""
    model: str = ""
    endpoint: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    ms: float = 0.0
    cached: bool = False
    structured: bool = True
    tried: tuple[str, ...] = ()
    failure: str = ""

    @property
    def made(self) -> bool:
        """Whether an endpoint was asked, or answered before: not where no model is configured, or what a question may
        cost is spent.
        """
        return bool(self.endpoint or self.cached or self.ms)

    @property
    def sent(self) -> bool:
        """Whether an endpoint was asked now, and no answer was taken from the cache."""
        return self.made and not self.cached


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """The model's judgement of the passages, before it may draft.

    Args:
        call: its prompt; with a `failure` there is no judgement.
        passages: how many it was shown. A replay that would show it more or fewer needs a new one.
        can_answer: yes, no or partial.
        confidence: in [0, 1] as the model states it; uncalibrated.
        missing: what it says is missing, a few words each; untrusted.
        reasoning: untrusted.
        contradicts: whether it says that the passages contradict each other.
        sides: a draft of the two sentences that it named, each word for word from its page; None where they could not
            be found there.
        conflict: between the two claims of `sides`.
    """

    call: Call
    passages: int = 0
    can_answer: Answerable = ""
    confidence: float = 0.0
    missing: tuple[str, ...] = ()
    reasoning: str = ""
    contradicts: bool = False
    sides: Draft | None = None
    conflict: Conflict | None = None

    def __post_init__(self) -> None:
        require_between("Sufficiency.confidence", self.confidence, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Verification:
    """The model's answer on each claim of its draft: yes, no or unclear, in the claims' order.

    It can only take trust away.

    With a `failure` of the call there are no answers.
    """

    call: Call
    answers: tuple[YesNo, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One draft of the model with everything measured on it.

    Args:
        asked: what its prompt depended on beside the question, the passages and the settings that need a new question:
            the level, the round, the passages and what was found on the draft before. A replay that would ask for
            something else needs a new draft.
        call: its prompt; with a `failure` the model could not be asked.
        draft: with the measurements of its claims.
        problem: NONE, EMPTY_DRAFT (no sentence), MALFORMED_DRAFT, MODEL_REFUSED where the model declined to answer,
            OFF_QUESTION where no sentence answers the question, or ONE_SIDED where another passage contradicts one.
        refusal: the reason that the model gave for declining; untrusted.
        language: of the draft's sentences as detected; empty where that is not certain.
        sentences: how many the draft has.
        tokens: of its sentences, without the quotes.
        added: for each claim, the most content words in a row that its sources lack.
        verification: None where it was not asked for.
        reworded: for each claim, whether it does more than leave words of its source out; None when not measured.
        correctness: the calibrated probability in [0, 1] that this draft is right, taken as that of the extract is;
            None when not measured.
    """

    asked: tuple[str, ...]
    call: Call
    draft: Draft = field(default_factory=Draft)
    problem: Reason = Reason.NONE
    refusal: str = ""
    language: str = ""
    sentences: int = 0
    tokens: int = 0
    added: tuple[int, ...] = ()
    verification: Verification | None = None
    reworded: tuple[bool, ...] | None = None
    correctness: float | None = None

    def __post_init__(self) -> None:
        require_between("Attempt.correctness", self.correctness, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class LlmTrace:
    """Everything that a model was asked for one question, in order.

    Args:
        context_words: words of the retrieved passages together.
        judgements: on round 0, the passages first retrieved, and on each expanded one.
        expanded: the hits of the rounds after the first.
        attempts: the drafts.
    """

    context_words: int = 0
    judgements: tuple[Sufficiency, ...] = ()
    expanded: tuple[tuple[Hit, ...], ...] = ()
    attempts: tuple[Attempt, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every prompt that was to be sent, in order of the steps; `made` says which were sent, or answered from the
        cache.
        """
        found = [judgement.call for judgement in self.judgements]
        for attempt in self.attempts:
            found.append(attempt.call)
            if attempt.verification is not None:
                found.append(attempt.verification.call)
        return tuple(found)

    @property
    def tokens(self) -> int:
        """Tokens of all calls that were really made, in and out."""
        return sum(call.tokens_in + call.tokens_out for call in self.calls if not call.cached)
