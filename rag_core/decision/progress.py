"""Goes through the record of a question that a language model drafts: to its outcome, or to the next step to ask for.

`next_step` says what the loop (`llm_steps`) has to do; `decide` reads how it ended. So a replay is equal to asking
again, a refusal before drafting can make no call, and where other settings would send a prompt that was never sent, the
progress ends in an `Ask`, and nothing is invented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rag_core.decision.checks import GATING, GROUNDING, LLM_DRAFT, SUFFICIENCY, VERIFICATION
from rag_core.decision.checks import llm as of_llm
from rag_core.domain.decision import AttemptView
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step, Sufficiency
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import TOP_PASSAGES, Hit
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult, State, several
from rag_core.gating.levels import cut_passages, level, prompt_level
from rag_core.grounding.feedback import Finding, findings
from rag_core.settings import Mode


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
    """The next step that must be done before anything can be decided."""

    step: Step  # what
    hits: tuple[Hit, ...] = ()  # the passages that it is about
    round: int = 0  # number of the retrieval, from 0
    level: ConfidenceLevel | None = None  # for the wording of a draft's prompt; None for the one without
    findings: tuple[Finding, ...] = ()  # on the draft before
    asked: tuple[str, ...] = ()  # what the prompt of a draft depends on; see `llm_trace.Attempt.asked`


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft that may be the answer."""

    view: Measurements  # the measurements with this draft in them
    checks: tuple[CheckResult, ...]  # all passed where the model drafted
    most: ConfidenceLevel = ConfidenceLevel.HIGH  # the highest level, by what the model said of the passages
    notes: tuple[str, ...] = ()  # that say why
    note: str = ""  # why the model did not draft, where the extract stands


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer: all reasons, the first first, and one sentence without a word of the model.

    What a model says of its reasons stands in the trace only: it could ask the reader for anything ("enter your
    password there").
    """

    reasons: tuple[Reason, ...]
    explanation: str
    remedies: tuple[str, ...]


End = Ask | Drafted | Refused


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the record carries: its end, the check of sufficiency, its drafts, and one judgement a retrieval."""

    end: End
    checks: tuple[CheckResult, ...] = ()
    judged: tuple[AttemptView, ...] = ()
    judgements: tuple[Sufficiency, ...] = ()


_CHECK_SERVER = "Check the model's server, or draft without it."
_NOT_ASKED = Sufficiency(Call(Step.SUFFICIENCY))
_NO_MODEL = Sufficiency(
    Call(Step.SUFFICIENCY, failure="no language model drafts under these settings, and none was asked")
)
_OWN_WORDS = (  # measured: docs/decisions/10-rewording-checks.md
    "The language model uses words of its own. Of 456 lies that were made up to try the checks of such words, about "
    "two thirds "
    "passed. The level is medium at most."
)
UNAVAILABLE = "The language model could not be asked"


def next_step(measurements: Measurements) -> Ask | None:
    """The next step for a question; None when it can be decided. Nothing while a gate refuses."""
    if (
        measurements.llm_trace is None
        or measurements.failure
        or measurements.answer
        or any(check(measurements).blocks for check in GATING)
    ):
        return None
    end = progress_of(measurements).end
    return end if isinstance(end, Ask) else None


def progress_of(measurements: Measurements) -> Progress:
    """How far a record carries whose gates all pass; raises ValueError where there is none of a model."""
    if measurements.llm_trace is None:
        raise ValueError("measurements without a trace of a language model have nothing to follow")
    note = not_drafted(measurements, measurements.llm_trace)
    if not note and prompt_level(measurements) is ConfidenceLevel.INSUFFICIENT:
        explanation = "Refused: the confidence level is insufficient, and a model is not asked at that level."
        return Progress(
            Refused((Reason.LEVEL,), explanation, ("Ask with the document's words, or move the cuts of the levels.",))
        )
    return _from_sufficiency(measurements, measurements.llm_trace, note)


def without_llm(measurements: Measurements) -> tuple[CheckResult, ...]:
    """The check of sufficiency where no model has a part: a guard that cannot run has not passed."""
    off = SUFFICIENCY.mode_under(measurements.settings) is Mode.OFF
    return () if off or measurements.llm_trace is not None else (SUFFICIENCY(of_llm.Said(measurements, _NO_MODEL)),)


def not_drafted(measurements: Measurements, llm_trace: LlmTrace) -> str:
    """Why the model drafts nothing whatever the thresholds say; sufficiency is asked all the same."""
    s, language = measurements.settings, measurements.understanding.language
    if not measurements.hits or llm_trace.context_words <= s.short_context_words:
        return f"The passages have {several(llm_trace.context_words, 'word')}: too few to be worth compressing."
    if measurements.conflicts:
        return "The sources contradict each other: both sides are quoted, never compressed."
    foreign = language != "und" and not {language, "und"} & {hit.passage.language for hit in measurements.hits}
    if foreign and not s.translate:
        return "The passages are in another language than the question: the words of a translation cannot be checked."
    return ""


def hits_of(measurements: Measurements, round: int) -> tuple[Hit, ...]:
    """The passages of a round of retrieval, without those beyond the distance cut where that gate enforces."""
    hits = (
        measurements.hits
        if round == 0 or measurements.llm_trace is None
        else measurements.llm_trace.expanded[round - 1]
    )
    cut = cut_passages(replace(measurements, hits=hits))
    return tuple(hit for hit in hits if hit.passage.id not in cut)


def judged_hits(measurements: Measurements, round: int) -> tuple[Hit, ...]:
    """The passages that the model judges: all that it may draft from, or the first that relevance reads."""
    s, hits = measurements.settings, hits_of(measurements, round)
    return hits[:TOP_PASSAGES] if s.sufficiency_reads == "top" else hits


def _from_sufficiency(measurements: Measurements, llm_trace: LlmTrace, note: str) -> Progress:
    s, round = measurements.settings, 0
    if SUFFICIENCY.mode_under(s) is Mode.OFF:
        return (
            Progress(_extract(measurements, note, None)) if note else _from_drafts(measurements, llm_trace, 0, (), None)
        )
    while True:
        hits, said = judged_hits(measurements, round), llm_trace.judgements[: round + 1]
        if round >= len(llm_trace.judgements) or llm_trace.judgements[round].passages != len(hits):
            return Progress(
                Ask(Step.SUFFICIENCY, hits, round),
                (SUFFICIENCY(of_llm.Said(measurements, _NOT_ASKED)),),
                (),
                said[:round],
            )
        judgement = said[round]
        check = SUFFICIENCY(of_llm.Said(measurements, judgement))
        if not check.blocks:
            return replace(_from_sufficient(measurements, llm_trace, round, check, judgement, note), judgements=said)
        if check.state is State.NOT_RUN:
            why = f"Refused: sufficiency could not be checked. {judgement.call.failure}"
            return Progress(Refused((Reason.NOT_RUN,), why, (check.remedy,)), (check,), (), said)
        if round == s.expand_searches:
            return Progress(_insufficient(measurements, judgement, check), (check,), (), said)
        if round >= len(llm_trace.expanded):
            return Progress(Ask(Step.EXPAND, hits, round), (), (), said)
        if _ids(judged_hits(measurements, round + 1)) == _ids(hits):  # nothing new was found
            return Progress(_insufficient(measurements, judgement, check), (check,), (), said)
        round += 1


def _from_sufficient(
    measurements: Measurements, llm_trace: LlmTrace, round: int, check: CheckResult, judgement: Sufficiency, note: str
) -> Progress:
    enforced = SUFFICIENCY.mode_under(measurements.settings) is Mode.ENFORCE
    known = bool(measurements.conflicts)  # the extract quotes the two sides that were found without a model
    if enforced and not known and judgement.sides is not None and judgement.conflict is not None:
        view = replace(
            measurements, hits=hits_of(measurements, round), draft=judgement.sides, conflicts=(judgement.conflict,)
        )
        two = "The model found two passages that contradict each other: both sides are quoted."
        return Progress(Drafted(view, tuple(check(view) for check in GROUNDING), notes=(two,)), (check,))
    counted = judgement if enforced else None
    if note:
        return Progress(_extract(measurements, note, counted), (check,))
    return _from_drafts(measurements, llm_trace, round, (check,), counted)


def _extract(
    measurements: Measurements, note: str, judgement: Sufficiency | None, *, failed: bool = False, doubted: bool = False
) -> Drafted:
    """The extract stands; `failed` where the model was to draft, `doubted` where it found no answer."""
    most, notes = _caps(judgement)
    if doubted:
        most = most if notes else ConfidenceLevel.MEDIUM
        notes = (*notes, "The language model found no answer in these passages. The level is medium at most.")
    if failed:
        scanned = any(citation.ocr for citation in measurements.draft.citations.values())
        how = "as the scan was read" if scanned else "word for word"
        notes = (f"{note} The answer is taken from the documents {how}.", *notes)
    return Drafted(measurements, tuple(check(measurements) for check in GROUNDING), most, notes, note)


def _from_drafts(
    measurements: Measurements,
    llm_trace: LlmTrace,
    round: int,
    checks: tuple[CheckResult, ...],
    judgement: Sufficiency | None,
) -> Progress:
    judged: list[AttemptView] = []
    end = _end_of_drafts(measurements, llm_trace, round, judgement, judged)
    return Progress(end, checks, tuple(judged))


def _end_of_drafts(
    measurements: Measurements,
    llm_trace: LlmTrace,
    round: int,
    judgement: Sufficiency | None,
    judged: list[AttemptView],
) -> End:
    """How the drafts of a round end; each that was judged is appended to `judged`."""
    hits, wording = hits_of(measurements, round), prompt_level(measurements)
    found: tuple[Finding, ...] = ()
    for number in range(measurements.settings.max_retries + 1):
        asked = (
            f"level:{wording or 'none'}",
            f"round:{round}",
            f"passages:{len(hits)}",
            *(finding.key for finding in found),
        )
        ask = Ask(Step.DRAFT, hits, round, wording, found, asked)
        if number >= len(llm_trace.attempts) or llm_trace.attempts[number].asked != asked:
            return ask
        attempt = llm_trace.attempts[number]
        view = replace(measurements, hits=hits, draft=attempt.draft, conflicts=(), correctness=attempt.correctness)
        one = _judge(view, attempt, number + 1)
        if isinstance(one, Ask):
            return replace(ask, step=Step.VERIFY)
        judged.append(one)
        failed = [check for check in one.checks if check.blocks]
        if one.outcome is Outcome.SHOWN:
            return Drafted(view, one.checks, *_caps(judgement, attempt))
        if one.outcome is Outcome.REFUSED:
            return _declined(measurements, judgement)
        if one.outcome is Outcome.FAILED:
            return _unavailable(measurements, judgement, "no draft was made", attempt.call.failure)
        if any(check.state is State.NOT_RUN and check.reason is Reason.VERIFICATION for check in failed):
            why = attempt.verification.call.failure if attempt.verification else ""
            return _unavailable(measurements, judgement, "its draft could not be verified", why)
        found = findings(view, failed, attempt)
    return _exhausted(measurements, judgement, judged)


def _judge(view: Measurements, attempt: Attempt, number: int) -> AttemptView | Ask:
    """A draft held against the settings; an `Ask` where its verification, which costs a call, is missing."""
    if attempt.call.failure:
        return AttemptView(number, Outcome.FAILED, attempt)
    if attempt.problem is not Reason.NONE:
        return AttemptView(number, UNUSED.get(attempt.problem, Outcome.REFUSED), attempt)
    drafted = of_llm.Drafted(view, attempt)
    checks = (*(check(view) for check in GROUNDING), *(check(drafted) for check in LLM_DRAFT))
    rejected = any(check.blocks for check in checks)
    if not rejected and VERIFICATION.mode_under(view.settings) is not Mode.OFF:
        if attempt.verification is None:
            return Ask(Step.VERIFY)
        checks = (*checks, VERIFICATION(drafted))
        rejected = checks[-1].blocks
    return AttemptView(number, Outcome.REJECTED if rejected else Outcome.SHOWN, attempt, checks)


def _caps(judgement: Sufficiency | None, attempt: Attempt | None = None) -> tuple[ConfidenceLevel, tuple[str, ...]]:
    """The highest level by what the model said of its passages and in whose words, and the notes that say why."""
    notes = []
    if judgement is not None and judgement.can_answer == "partial":
        notes.append(
            "The language model finds that the passages answer a part of the question only. The level is low at most."
        )
    if judgement is not None and judgement.contradicts:
        notes.append(
            "The model says that passages contradict each other, and could not show where. The level is low at most."
        )
    if notes:
        return ConfidenceLevel.LOW, tuple(notes)
    if attempt is not None and any(attempt.reworded or ()):
        return ConfidenceLevel.MEDIUM, (_OWN_WORDS,)
    return ConfidenceLevel.HIGH, ()


def _insufficient(measurements: Measurements, judgement: Sufficiency, check: CheckResult) -> Refused:
    explanation = "Refused: the language model finds that the passages do not answer the question."
    if judgement.can_answer == "partial":
        explanation = "Refused: the language model finds that the passages answer a part of the question only."
    elif judgement.can_answer == "yes":
        sure = (
            f"confidence {judgement.confidence:.2f}, {SUFFICIENCY.threshold_under(measurements.settings):.2f} required"
        )
        explanation = f"Refused: the language model is not sure enough that the passages answer the question ({sure})."
    return Refused((Reason.SUFFICIENCY,), explanation, (check.remedy,))


def _unavailable(measurements: Measurements, judgement: Sufficiency | None, what: str, why: str) -> Drafted | Refused:
    """A draft could not be made or verified: the extract, which needs neither, or nothing."""
    if measurements.settings.fallback_extract:
        return _extract(measurements, f"{UNAVAILABLE}: {what}. {why}", judgement, failed=True)
    return Refused((Reason.NOT_RUN,), f"Refused: {what}. {why}", (_CHECK_SERVER,))


def _declined(measurements: Measurements, judgement: Sufficiency | None) -> Drafted | Refused:
    """The model drafts nothing, which nothing can check: a refusal, unless the extract's own score is high."""
    s = measurements.settings
    if s.fallback_extract and s.main_gate == "correctness" and level(measurements) is ConfidenceLevel.HIGH:
        note = "The language model found no answer, and the score of the documents' own words is high."
        return _extract(measurements, note, judgement, failed=True, doubted=True)
    explanation = "Refused: the language model found no answer in the passages that were retrieved."
    return Refused(
        (Reason.MODEL_REFUSED,),
        explanation,
        ("Ask with words that the document uses, or add the document that holds the answer.",),
    )


def _exhausted(
    measurements: Measurements, judgement: Sufficiency | None, judged: Sequence[AttemptView]
) -> Drafted | Refused:
    """All drafts were rejected: the extract if the settings allow it, else a refusal with every reason."""
    checks = {check.reason: check for one in judged for check in one.checks if check.blocks}
    reasons = sorted({*checks, *(one.attempt.problem for one in judged if one.attempt.problem in UNUSED)}, key=_order)
    names = ", ".join(reason.replace("_", " ") for reason in reasons)
    drafts = "the model's draft was" if len(judged) == 1 else f"all {len(judged)} drafts of the model were"
    if measurements.settings.fallback_extract:
        return _extract(measurements, f"{drafts[0].upper()}{drafts[1:]} rejected ({names}).", judgement, failed=True)
    remedies = tuple(dict.fromkeys(check.remedy for check in checks.values() if check.remedy))
    return Refused(
        tuple(reasons), f"Refused: {drafts} rejected ({names}).", remedies or ("Ask again, or choose another model.",)
    )


def _order(reason: Reason) -> tuple[bool, int]:
    return reason in UNUSED, list(Reason).index(reason)


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]
