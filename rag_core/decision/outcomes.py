"""How a question that a language model drafts for may end, and how one of its drafts may: the vocabulary of
`progress`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rag_core.domain.decision import AttemptView
from rag_core.domain.llm_trace import Step, Sufficiency
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult
from rag_core.grounding.feedback import Finding


class Outcome(StrEnum):
    """The outcome of one draft of the model."""

    SHOWN = "shown"
    REJECTED = "rejected"
    REFUSED = "refused"  # the model declined to answer
    MALFORMED = "malformed"
    EMPTY = "empty"
    OFF_QUESTION = "off_question"
    ONE_SIDED = "one_sided"
    FAILED = "failed"  # there is none: the model could not be asked


UNUSED = {  # drafts that no check was made of; among the reasons of a refusal they come after the checks
    Reason.EMPTY_DRAFT: Outcome.EMPTY,
    Reason.MALFORMED_DRAFT: Outcome.MALFORMED,
    Reason.OFF_QUESTION: Outcome.OFF_QUESTION,
    Reason.ONE_SIDED: Outcome.ONE_SIDED,
}


@dataclass(frozen=True, slots=True)
class Ask:
    """The next step that must be done before anything can be decided.

    Args:
        step: what.
        hits: the passages that it is about.
        round: of retrieval, from 0.
        level: for the wording of a draft's prompt; None for the one without.
        findings: on the draft before.
        asked: what the prompt of a draft depends on; see `llm_trace.Attempt.asked`.
    """

    step: Step
    hits: tuple[Hit, ...] = ()
    round: int = 0
    level: ConfidenceLevel | None = None
    findings: tuple[Finding, ...] = ()
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft that may be the answer.

    `view` are the measurements with this draft in them; `most` is its highest confidence level.

    Its checks passed. Only a draft of two sides that contradict each other is not judged yet.
    """

    view: Measurements
    checks: tuple[CheckResult, ...]
    most: ConfidenceLevel = ConfidenceLevel.HIGH
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extract:
    """The extract stands, and `note` says why the model did not draft.

    `failed` when it was asked to, or should have been.

    `most` and `notes` as in `Drafted`: what the model said of the passages holds whoever drafts.
    """

    note: str
    failed: bool = False
    most: ConfidenceLevel = ConfidenceLevel.HIGH
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer: all reasons, the first first, and one sentence without a word of the model.

    What a model says of its reasons stands in the trace only: it could ask the reader for anything ("enter your
    password there").
    """

    reasons: tuple[Reason, ...]
    explanation: str
    remedies: tuple[str, ...]


End = Ask | Drafted | Extract | Refused


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the record carries: how it ends, the check of sufficiency where the settings have it, and the drafts that
    were judged.

    `judgements` are those of the model that count under the settings, one a round of retrieval.
    """

    end: End
    checks: tuple[CheckResult, ...] = ()
    judged: tuple[AttemptView, ...] = ()
    judgements: tuple[Sufficiency, ...] = ()
