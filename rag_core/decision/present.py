"""Puts a decision into words: an answer with its citations, or a refusal that says why and what to do, and notes for
the reader.

`decide` says which of them it is. Text of a language model stands in an answer's own claims and in the trace of its
attempts, nowhere else: a reason for a refusal in its words could ask the reader for anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rag_core.decision.checks import CHECKS, Check
from rag_core.decision.checks.gating import LIKELY, NEAR, WAIT
from rag_core.decision.compose import places_to_look
from rag_core.decision.confidence import confidence
from rag_core.decision.notes import (
    GATED,
    ask_again,
    document_wanted,
    not_indexed,
    not_read,
    notes_on,
    nowhere_in_words,
    on_contradictions,
    on_letters,
    on_scans,
    on_unread,
)
from rag_core.domain import replies
from rag_core.domain.answer import Answer, Outcome, Refusal, Reply
from rag_core.domain.claims import Citation
from rag_core.domain.decision import REGENERATE, UNJUDGED, AttemptView, Decision, citation_coverage
from rag_core.domain.indexing import indexing_of
from rag_core.domain.llm_trace import LlmTrace, Sufficiency
from rag_core.domain.measurements import Measurements
from rag_core.domain.replies import SETTLED, is_reply
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult, State, Trace
from rag_core.gating.levels import level, lowest, main_score, mean_cosine, within_cut
from rag_core.language import refusal, unsure
from rag_core.settings import Mode, Settings
from rag_core.settings.presets import DEFAULT_PRESET, presets

RESOLVE_CONFLICTS = "resolve_conflicts"
EXPAND_SEARCH = "expand_search"
_READ_THEM = "Some pages could not be read: the page of documents names them, and says what helps."


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """Where a language model has a part: the highest level (`most`), and why it did not draft (`drafter_note`)."""

    attempts: tuple[AttemptView, ...] = ()
    judgements: tuple[Sufficiency, ...] = ()
    notes: tuple[str, ...] = ()
    most: ConfidenceLevel = ConfidenceLevel.HIGH
    drafter_note: str = ""


NO_CONTEXT = AnswerContext()


def answer(measurements: Measurements, trace: Trace, composed: Answer, beside: AnswerContext) -> Decision:
    value, basis, row = confidence(measurements, composed.claims)
    used = {evidence.passage for claim in composed.claims for evidence in claim.evidence}
    return replace(
        _decision(measurements, composed, trace.plus(row), value, basis, beside),
        confidence_level=lowest(level(measurements), beside.most),
        notes=(
            *beside.notes,
            *on_contradictions(measurements),
            *on_unread(measurements),
            *on_scans(composed.citations),
            *on_letters(composed.citations),
            *notes_on(measurements, trace, {h.passage.language for h in measurements.hits if h.passage.id in used}),
        ),
        metadata={
            **_metadata(measurements, len(used), RESOLVE_CONFLICTS if composed.conflicts else "", beside),
            "citation_coverage": citation_coverage(composed.claims),
            **({UNJUDGED: list(missing)} if (missing := unjudged(measurements.settings, trace)) else {}),
        },
    )


def _decision(
    measurements: Measurements, outcome: Outcome, trace: Trace, confidence: float, basis: str, beside: AnswerContext
) -> Decision:
    """A decision with what is the same of answers and refusals."""
    names = measurements.library.names
    return Decision(
        question=measurements.question,
        language=measurements.understanding.language,
        outcome=outcome,
        trace=trace,
        confidence=confidence,
        confidence_basis=basis,
        retrieved=tuple((names.get(hit.passage.document, hit.passage.document), hit) for hit in measurements.hits),
        scores=scores(measurements),
        attempts=beside.attempts,
        judgements=beside.judgements,
    )


def reply(measurements: Measurements) -> Decision:
    """The outcome of a text that needs no retrieval: it claims nothing about any document's content."""
    reason = SETTLED.get(measurements.understanding.intent, Reason.ABOUT_LIBRARY)
    answered = reason.status is AnswerStatus.SUCCESS
    language, text = measurements.understanding.language, measurements.answer
    # kept by a version with other words: it is said again in those of now
    if answered and not is_reply(text, reason, language):
        text = replies.reply(measurements.understanding.intent, language, measurements.library)
    outcome: Outcome = Reply(text, reason, language) if answered else _wish_refused(measurements, reason)
    return Decision(
        question=measurements.question,
        language=language,
        outcome=outcome,
        trace=Trace(),
        confidence_level=ConfidenceLevel.HIGH if answered else ConfidenceLevel.INSUFFICIENT,
        scores={"correctness": 0.0, "answerability": 0.0, "top_cosine": 0.0},
        metadata=_metadata(measurements, 0),
    )


def _wish_refused(measurements: Measurements, reason: Reason) -> Refusal:
    """The refusal of what no sentence answers; one of a summary has the headings of the documents as its places."""
    headings = tuple(replace(one, id=number) for number, one in enumerate(measurements.draft.citations.values(), 1))
    return Refusal(_sentence(measurements, reason), (reason,), measurements.answer, places=headings)


def refuse_for(
    measurements: Measurements,
    checks: Sequence[CheckResult],
    failed: Sequence[CheckResult],
    beside: AnswerContext = NO_CONTEXT,
) -> Decision:
    """A refusal by these checks, in order; the first gives status and headline, all are reported."""
    first = failed[0]
    reasons = tuple(Reason.NOT_RUN if check.state is State.NOT_RUN else check.reason for check in failed)
    found = "; ".join(check.found or check.note for check in failed)
    verb = "could not be checked" if first.state is State.NOT_RUN else "did not pass"
    names = ", ".join(check.stage.replace("_", " ") for check in failed)
    remedies = tuple(dict.fromkeys(check.remedy for check in failed if check.remedy))
    return refuse(measurements, checks, reasons, f"Refused: {names} {verb} ({found}).", remedies, beside)


def refuse(
    measurements: Measurements,
    checks: Sequence[CheckResult],
    reasons: tuple[Reason, ...],
    explanation: str,
    suggestions: tuple[str, ...],
    beside: AnswerContext = NO_CONTEXT,
) -> Decision:
    """A refusal with its checks and all its reasons, the first of which gives the status."""
    trace, places = Trace(tuple(checks)), places_to_look(measurements)
    may_be = _may_be(measurements, places)
    value, basis = _refusal_confidence(measurements, reasons[0])
    left, waiting = not_read(measurements), not_indexed(measurements)
    # a likely answer was found, or may stand in a file that waits: no other document is wanted
    wanted = (WAIT,) if waiting else () if NEAR in suggestions else document_wanted(measurements, reasons[0])
    explanation = " ".join(filter(None, (nowhere_in_words(measurements, reasons[0]), explanation, left, waiting)))
    outcome = Refusal(
        text=_sentence(measurements, reasons[0], may_be),
        reasons=reasons,
        explanation=explanation,
        suggestions=(*ask_again(measurements), *suggestions, *wanted, *((_READ_THEM,) if left else ())),
        places=places,
        may_be=may_be,
    )
    return replace(
        _decision(measurements, outcome, trace, value, basis, beside),
        notes=(*beside.notes, *notes_on(measurements, trace, measurements.library.languages)),
        metadata=_metadata(measurements, 0, _action(reasons), beside),
    )


def _may_be(measurements: Measurements, places: Sequence[Citation]) -> float | None:
    """The probability that the best place is the answer, where it is worth saying."""
    value, least = measurements.correctness, measurements.settings.min_place
    if value is None or not places or measurements.nowhere or least == 1:
        return None
    return value if value >= least else None


def _sentence(measurements: Measurements, reason: Reason, may_be: float | None = None) -> str:
    """The sentence that refuses; that nothing is there only where nothing was near and everything was read."""
    s, language = measurements.settings, measurements.understanding.language
    near = may_be is not None or (measurements.answerability or 0) >= LIKELY
    unread = not_read(measurements) or not_indexed(measurements) or indexing_of(measurements.metadata)
    absent = reason in GATED and not near and not unread
    return s.refusal_text or (refusal(language) if absent or s.min_place == 1 else unsure(language))


def _action(reasons: Collection[Reason]) -> str:
    """The action that the reader must take, as another program reads it."""
    actions = {Reason.CONTRADICTED: RESOLVE_CONFLICTS, Reason.SUFFICIENCY: EXPAND_SEARCH}
    rejected = any(reason.status is AnswerStatus.HALLUCINATION_DETECTED for reason in reasons)
    return next((action for reason, action in actions.items() if reason in reasons), REGENERATE if rejected else "")


def _refusal_confidence(measurements: Measurements, reason: Reason) -> tuple[float, str]:
    """The top score on the main gate's scale, clipped to [0, 1]; 0 under the weighted formula, as its source has it."""
    if not measurements.hits or reason is Reason.FAILURE or measurements.settings.confidence == "weighted":
        return 0.0, "none"
    score = main_score(measurements)
    if score is not None:
        return score, measurements.settings.main_gate
    return max(0.0, min(1.0, max(hit.cosine for hit in measurements.hits))), "top"


def scores(measurements: Measurements) -> dict[str, float]:
    """The named measurements of a decision; the calibrated ones are 0 without hits or a calibration."""
    top = max((hit.cosine for hit in measurements.hits), default=-1.0)
    named = {
        "correctness": measurements.correctness or 0.0,
        "answerability": measurements.answerability or 0.0,
        "top_cosine": top,
        "mean_cosine": mean_cosine(measurements.hits) or 0.0,
        "top_lexical": max((hit.lexical for hit in measurements.hits), default=0.0),
        "relevance": measurements.relevance or 0.0,
    }
    return named | {name: value for name, value in measurements.features.items() if name not in named}


def _metadata(
    measurements: Measurements, used: int, action: str = "", beside: AnswerContext = NO_CONTEXT
) -> dict[str, object]:
    """`action` is what the reader must do, for another program; left out where nothing is."""
    drafting = ("extract", "conflicts", "audit", "model", "check")
    return {
        "drafter": measurements.draft.drafter,
        "preset": measurements.settings.preset,
        "levels": measurements.settings.levels,
        "settings_hash": measurements.settings.hash(),
        "library_generation": measurements.library.version,
        "embedding_model": measurements.library.model,
        "chunks_retrieved": len(measurements.hits),
        "chunks_used": used,
        "is_answerable": bool(used),
        "raw_count": len(measurements.hits),
        "filtered_count": len(within_cut(measurements.hits, measurements.settings)),
        "retrieval_time_ms": round(sum(ms for name, ms in measurements.timings.items() if name not in drafting), 2),
        "generation_time_ms": round(sum(ms for name, ms in measurements.timings.items() if name in drafting), 2),
        "total_tokens": measurements.llm_trace.tokens if measurements.llm_trace else 0,
        **({"action": action} if action else {}),
        **(_of_model(measurements.llm_trace, beside) if measurements.llm_trace else {}),
        **measurements.metadata,
    }


def _of_model(llm_trace: LlmTrace, beside: AnswerContext) -> dict[str, object]:
    """Who drafted and why not the model, what was asked of whom, and what it cost; no text of a document or a model."""
    calls = llm_trace.calls
    last = next((one.attempt.call for one in beside.attempts if one.outcome == "shown"), calls[-1] if calls else None)
    judged = next((one for one in reversed(llm_trace.judgements) if one.can_answer), None)
    return {
        "drafter_note": beside.drafter_note,
        "model": last.model if last else "",
        "endpoint": last.endpoint if last else "",
        "prompt": last.prompt if last else "",
        "tried": list(dict.fromkeys(sentence for call in calls for sentence in call.tried)),
        "calls": sum(call.made for call in calls),
        "attempts": len(beside.attempts),
        **({"can_answer": judged.can_answer, "sufficiency": judged.confidence} if judged else {}),
    }


def unjudged(settings: Settings, trace: Trace) -> tuple[str, ...]:
    """The names of these checks that cannot refuse: off, observing, or with a limit as loose as can be."""
    preset = _preset(settings.preset)
    return tuple(check.name for check in _enforced(preset.preset) if not _judges(check, settings, trace, preset))


def _judges(check: Check[Any], settings: Settings, trace: Trace, preset: Settings) -> bool:
    if check.mode_under(settings) is not Mode.ENFORCE:
        return False
    return all(
        value != _loosest(name) or value == getattr(preset, name) for name, value in _limits(check, settings, trace)
    )


def _limits(check: Check[Any], settings: Settings, trace: Trace) -> Iterator[tuple[str, object]]:
    """The limits of a check by their settings; the threshold has what the question's intent adds to it."""
    for name in check.also:
        yield name, getattr(settings, name)
    if isinstance(check.threshold, str):
        yield from ((check.threshold, row.threshold) for row in trace.checks if row.stage == check.name)


def _loosest(name: str) -> float | None:
    """The value of a setting under which most passes; None where no direction of it is the stricter one."""
    knob = Settings.knob(name)
    return {"higher": knob.low, "lower": knob.high}.get(knob.stricter)


@cache
def _enforced(preset: str) -> tuple[Check[Any], ...]:
    return tuple(check for check in CHECKS if check.mode and check.mode_under(_preset(preset)) is Mode.ENFORCE)


@cache
def _preset(name: str) -> Settings:
    """A preset's own settings; the default one's where no preset has this name any more."""
    return Settings.load(name if name in presets() else DEFAULT_PRESET)
