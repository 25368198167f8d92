"""Decides a question from its `Measurements`. Pure: no model, index, file or clock, so that replay costs nothing.

The line: gates in order (the first enforced failure refuses), then, where a language model drafts, its progress, then
all checks (all reasons are kept), then the answer is composed from its claims. Three things no setting turns off: every
claim has a citation, its quote stands on that page, and a failure is never an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.decision.checks import GATING, GROUNDING
from rag_core.decision.compose import both_or_one, compose
from rag_core.decision.notes import given_rows
from rag_core.decision.present import NO_CONTEXT, AnswerContext, answer, refuse, refuse_for, reply
from rag_core.decision.progress import Ask, Refused, progress_of, without_llm
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Trace
from rag_core.errors import InvalidSetting
from rag_core.settings import Cost, Settings


def decide(measurements: Measurements) -> Decision:
    """Judge what was measured under its own settings; rows on ready passages judge nothing."""
    decision, rows = _decided(measurements), given_rows(measurements)
    decision = replace(decision, trace=Trace((*rows, *decision.trace.checks))) if rows else decision
    if measurements.other is None:
        return decision
    return both_or_one(decision, decide(replace(measurements.other, settings=measurements.settings)))


def _decided(measurements: Measurements) -> Decision:
    if measurements.failure:
        return refuse(
            measurements, (), (Reason.FAILURE,), measurements.failure, ("Try again; if it stays, the log says more.",)
        )
    if measurements.answer:
        return reply(measurements)
    gates = [check(measurements) for check in GATING]
    stop = next((i for i, check in enumerate(gates) if check.blocks), None)
    if stop is not None:
        judged = [
            *gates[: stop + 1],
            *(result.not_reached() for result in (*gates[stop + 1 :], *_grounding(measurements))),
        ]
        return refuse_for(measurements, judged, (gates[stop],))
    if measurements.llm_trace is not None:
        return _from_llm_trace(measurements, gates)
    guard, grounding = without_llm(measurements), _grounding(measurements)
    if unasked := tuple(check for check in guard if check.blocks):
        return refuse_for(measurements, (*gates, *guard, *(result.not_reached() for result in grounding)), unasked)
    return _judge(measurements, (*gates, *guard, *grounding))


def replay(measurements: Measurements, settings: Settings) -> Decision:
    """Decide the same measurements under other settings, with no model call. Equal to asking again under them.

    Where they would send a language model a prompt that was never sent, the decision has the reason `needs_generation`.
    Raises as `require_replayable`.
    """
    require_replayable(measurements.settings, settings)
    return decide(replace(measurements, settings=settings))


def require_replayable(before: Settings, after: Settings) -> None:
    """Raise InvalidSetting unless only judging settings differ."""
    was, is_now = before.model_dump(), after.model_dump()
    for knob in Settings.knobs():
        if knob.cost is not Cost.REPLAY and was[knob.name] != is_now[knob.name]:
            raise InvalidSetting(
                f"Changing {knob.name!r} needs more than a judgement.", remedy="Ask the question again."
            )


def _judge(measurements: Measurements, checks: Sequence[CheckResult], beside: AnswerContext = NO_CONTEXT) -> Decision:
    if not measurements.draft.claims:
        remedies = ("Ask for a fact that the documents state.",)
        return refuse(measurements, checks, (Reason.EMPTY_DRAFT,), "No sentence could be drafted.", remedies, beside)
    failed = tuple(check for check in checks if check.blocks)
    if failed:
        return refuse_for(measurements, checks, failed, beside)
    composed = compose(measurements)
    if composed is None:
        explanation = "Refused: every sentence rests on a passage beyond the distance cut."
        return refuse(measurements, checks, (Reason.ALL_CLAIMS_CUT,), explanation, ("Raise max_distance.",), beside)
    return answer(measurements, Trace(tuple(checks)), composed, beside)


def _from_llm_trace(measurements: Measurements, gates: Sequence[CheckResult]) -> Decision:
    """The outcome of a language model's recorded work, once all gates have let the question pass."""
    progress = progress_of(measurements)
    end, checks = progress.end, (*gates, *progress.checks)
    beside = AnswerContext(progress.judged, progress.judgements)
    if isinstance(end, Ask):
        explanation = "Under these settings the language model would have to be asked again."
        return refuse(
            measurements, checks, (Reason.NEEDS_GENERATION,), explanation, ("Ask the question again.",), beside
        )
    if isinstance(end, Refused):
        return refuse(measurements, checks, end.reasons, end.explanation, end.remedies, beside)
    beside = AnswerContext(progress.judged, progress.judgements, end.notes, end.most, end.note)
    return _judge(end.view, (*checks, *end.checks), beside)


def _grounding(measurements: Measurements) -> list[CheckResult]:
    return [check(measurements) for check in GROUNDING]
