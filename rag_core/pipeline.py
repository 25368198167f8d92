"""From a measured `Case` to a `Decision`. Pure: no model, index, file or clock, so that replay costs nothing.

The line: gates in order (the first enforced failure refuses), then all audits (all reasons are kept), then the answer is composed from its
claims. Three things no setting turns off: every claim has a citation, its quote stands on that page, and a failure is never an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from rag_core.audit.audits import AUDITS, contradiction, contradictions
from rag_core.case import Case
from rag_core.compose import Composed, compose
from rag_core.confidence import confidence
from rag_core.decision import Decision
from rag_core.domain import Hit
from rag_core.errors import InvalidSetting
from rag_core.gates import GATES, level, mean_cosine, not_reached, shows_conflicts, unread, within_cut
from rag_core.language import refusal
from rag_core.settings import Cost, Mode, Settings
from rag_core.status import ConfidenceLevel, Reason
from rag_core.trace import Check, State, Trace

RESOLVE_CONFLICTS = "resolve_conflicts"  # S3-11


def decide(case: Case) -> Decision:
    """Judge what was measured under the case's own settings."""
    if case.failure:
        return _refuse(case, Trace(), (Reason.FAILURE,), case.failure, "Try again; if it stays, the log says more.")
    if case.answer:
        return _reply(case)
    gates = [gate(case) for gate in GATES]
    audits = [audit(case) for audit in AUDITS]
    stop = next((i for i, check in enumerate(gates) if check.blocks), None)
    if stop is not None:
        judged = [*gates[: stop + 1], *map(not_reached, (*gates[stop + 1 :], *audits))]
        return _refuse_for(case, Trace(tuple(judged)), (gates[stop],))
    trace = Trace((*gates, *audits))
    if not case.draft.claims:
        return _refuse(case, trace, (Reason.EMPTY_DRAFT,), "No sentence could be drafted.", "Ask for a fact that the documents state.")
    failed = tuple(check for check in audits if check.blocks)
    if failed:
        return _refuse_for(case, trace, failed)
    composed = compose(case)
    if not composed.claims:
        found = "every sentence rests on a passage beyond the distance cut"
        return _refuse(case, trace, (Reason.ALL_CLAIMS_CUT,), f"Refused: {found}.", "Raise max_distance.")
    return _answer(case, trace, composed)


def replay(case: Case, settings: Settings) -> Decision:
    """Decide the same case under other settings, with no model call. Equal to asking again under them.

    Raises:
        InvalidSetting: a setting differs whose change needs a new retrieval, draft or ingest.
    """
    require_replayable(case.settings, settings)
    return decide(replace(case, settings=settings))


def require_replayable(before: Settings, after: Settings) -> None:
    """Raise InvalidSetting unless what was measured under `before` can be judged under `after`: only judging settings differ."""
    was, is_now = before.model_dump(), after.model_dump()
    for knob in Settings.knobs():
        if knob.cost is not Cost.REPLAY and was[knob.name] != is_now[knob.name]:
            raise InvalidSetting(f"Changing {knob.name!r} needs more than a judgement.", remedy="Ask the question again.")


def _answer(case: Case, trace: Trace, composed: Composed) -> Decision:
    value, basis, row = confidence(case, composed.claims)
    used = {evidence.passage for claim in composed.claims for evidence in claim.evidence}
    return Decision(
        question=case.question,
        language=case.understanding.language,
        reason=Reason.NONE,
        answer=composed.text,
        trace=trace.plus(row),
        confidence=value,
        confidence_basis=basis,
        confidence_level=level(case),
        claims=composed.claims,
        audits=composed.audits,
        citations=composed.citations,
        conflicts=composed.conflicts,
        retrieved=_retrieved(case),
        scores=scores(case),
        notes=(
            *_contradictions(case),
            *_unread(case),
            *_notes(case, trace, {h.passage.language for h in case.hits if h.passage.id in used}),
        ),
        metadata=_metadata(case, len(used), RESOLVE_CONFLICTS if composed.conflicts else ""),
    )


def _reply(case: Case) -> Decision:
    """An answer that needs no retrieval: a greeting, or what the library holds. It claims nothing about any document's content."""
    reason = Reason.GREETING if case.understanding.intent == "greeting" else Reason.ABOUT_LIBRARY
    return Decision(
        question=case.question,
        language=case.understanding.language,
        reason=reason,
        answer=case.answer,
        trace=Trace(),
        confidence_level=ConfidenceLevel.HIGH,
        scores={"answerability": 0.0, "top_cosine": 0.0},
        metadata=_metadata(case, 0),
    )


def _refuse_for(case: Case, trace: Trace, failed: Sequence[Check]) -> Decision:
    """A refusal by these checks, in order; the first gives status and headline, all are reported."""
    first = failed[0]
    reasons = tuple(Reason.NOT_RUN if check.state is State.NOT_RUN else check.reason for check in failed)
    found = "; ".join(check.found or check.note for check in failed)
    verb = "could not be checked" if first.state is State.NOT_RUN else "did not pass"
    names = ", ".join(check.stage.replace("_", " ") for check in failed)
    return _refuse(case, trace, reasons, f"Refused: {names} {verb} ({found}).", *dict.fromkeys(c.remedy for c in failed if c.remedy))


def _refuse(case: Case, trace: Trace, reasons: tuple[Reason, ...], explanation: str, *suggestions: str) -> Decision:
    value, basis = _refusal_confidence(case, reasons[0])
    unread = unreadable(case)
    if unread:
        explanation = f"{explanation} {unread}"
    return Decision(
        question=case.question,
        language=case.understanding.language,
        reason=reasons[0],
        answer=case.settings.refusal_text or refusal(case.understanding.language),
        trace=trace,
        confidence=value,
        confidence_basis=basis,
        explanation=explanation,
        reasons=reasons,
        retrieved=_retrieved(case),
        scores=scores(case),
        suggestions=tuple(suggestions) + (("Install Tesseract and index the unreadable pages again.",) if unread else ()),
        notes=_notes(case, trace, case.library.languages),
        metadata=_metadata(case, 0, RESOLVE_CONFLICTS if Reason.CONTRADICTED in reasons else ""),
    )


def _refusal_confidence(case: Case, reason: Reason) -> tuple[float, str]:
    """The top score on the main gate's scale (S0-7, S0-31), clipped to [0, 1]."""
    if not case.hits or reason is Reason.FAILURE:
        return 0.0, "none"
    if case.settings.main_gate == "answerability" and case.answerability is not None:
        return case.answerability, "answerability"
    return max(0.0, min(1.0, max(hit.cosine for hit in case.hits))), "top"


def scores(case: Case) -> dict[str, float]:
    """The named measurements of a decision; `answerability` is 0 when nothing was retrieved or no calibration fits."""
    top = max((hit.cosine for hit in case.hits), default=-1.0)
    named = {
        "answerability": case.answerability or 0.0,
        "top_cosine": top,
        "mean_cosine": mean_cosine(case.hits) or 0.0,
        "top_lexical": max((hit.lexical for hit in case.hits), default=0.0),
        "relevance": case.relevance or 0.0,
    }
    return named | {name: value for name, value in case.signals.items() if name not in named}


def unreadable(case: Case) -> str:
    """One sentence about pages of the searched documents that could not be read; empty when all could."""
    pages = sum(len(numbers) for numbers in case.library.unreadable.values())
    if not pages:
        return ""
    return f"{pages} of {case.library.pages} pages could not be read; the answer may be there."


def _contradictions(case: Case) -> tuple[str, ...]:
    """What an answer says of contradictions in its sources, one note each."""
    return tuple(f"{contradiction(one, case.library)}." for one in case.conflicts) if shows_conflicts(case) else ()


def _unread(case: Case) -> tuple[str, ...]:
    """What an answer says of claims that nothing has read: never safe by silence."""
    count, of = unread(case), len(case.draft.claims)
    said = f"Checked by facts and overlap only: {count} of {of} sentences. The confidence level is medium at most."
    return (said,) if count else ()


def _notes(case: Case, trace: Trace, languages: Collection[str]) -> tuple[str, ...]:
    """What the reader must know beside the text; `languages` are those that matter to it: the cited ones, or all that were searched."""
    silent = {check.__name__ for check in (*GATES, contradictions)}  # a contradiction says so itself
    observed = [c.stage.replace("_", " ") for c in trace.checks if c.stage not in silent and c.mode is not Mode.ENFORCE]
    notes = [f"Audits that do not block under these settings: {', '.join(observed)}."] if observed else []
    unknown = [code for code in case.library.unknown_languages if code in languages]
    if unknown:
        notes.append(
            f"The embedding model does not know these languages: {', '.join(unknown)}. Documents in them are found by their words."
        )
    if unreadable(case):
        notes.append(unreadable(case))
    return tuple(notes)


def _retrieved(case: Case) -> tuple[tuple[str, Hit], ...]:
    return tuple((case.library.names.get(hit.passage.document, hit.passage.document), hit) for hit in case.hits)


def _metadata(case: Case, used: int, action: str = "") -> dict[str, object]:
    """`action` is what the reader must do, for another program; left out where nothing is."""
    drafting = ("extract", "conflicts", "audit")
    return {
        "drafter": case.draft.drafter,
        "preset": case.settings.preset,
        "settings_hash": case.settings.hash(),
        "library_generation": case.library.generation,
        "embedding_model": case.library.model,
        "chunks_retrieved": len(case.hits),
        "chunks_used": used,
        "is_answerable": bool(used),
        "raw_count": len(case.hits),
        "filtered_count": len(within_cut(case.hits, case.settings)),
        "retrieval_time_ms": round(sum(ms for name, ms in case.timings.items() if name not in drafting), 2),
        "generation_time_ms": round(sum(ms for name, ms in case.timings.items() if name in drafting), 2),
        "total_tokens": 0,
        **({"action": action} if action else {}),
        **case.metadata,
    }
