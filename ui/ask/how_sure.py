"""The one line that says how sure an answer is and what is asked for."""

from __future__ import annotations

import streamlit as st

from rag_core.decision.checks.gating import LIKELY
from rag_core.domain.decision import Decision
from rag_core.domain.status import ConfidenceLevel
from rag_core.domain.trace import CheckResult, State
from rag_core.settings import Mode
from ui.app.asked import Asked
from ui.app.texts import say

STAGE = "correctness"


def show_how_sure(asked: Asked) -> None:
    """How sure it is that what is shown, or the best that was found, is right; and what is asked for."""
    value = asked.measurements.correctness
    if value is None:
        st.caption(say("how_sure.none"), help=say("how_sure.none_help"))
        return
    with st.container(horizontal=True, gap="xsmall", key="how_sure_line"):
        sure, percent, judged, limit = _parts(asked, value)
        st.markdown(say(sure, n=percent), width="content")
        st.markdown(say(judged, limit=limit), width="content", help=say("how_sure.help"))


def line(asked: Asked, value: float) -> tuple[str, str]:
    """Both sentences of the line for this probability: how sure it is, and what is asked for."""
    sure, percent, judged, limit = _parts(asked, value)
    return say(sure, n=percent), say(judged, limit=limit)


def _parts(asked: Asked, value: float) -> tuple[str, float, str, float]:
    """The keys of both sentences, each with its number in percent."""
    judged = _judged(asked)
    sure, limit = percents(value, judged.threshold if judged is not None else None)
    end = "most" if sure == 100 else "least" if sure == 0 else "sure"
    return f"how_sure.{_of(asked)}_{end}", sure, f"how_sure.{_outcome(asked, judged)}", limit or 0


def sure_in_words(value: float) -> str:
    """A probability as a few words; none is called certain or impossible."""
    percent = round(100 * value)
    return say(f"how_sure.{'most' if percent == 100 else 'least' if percent == 0 else 'about'}", n=percent)


def unsure(decision: Decision, value: float | None) -> bool:
    """Whether an answer must not look safe: rather wrong than right, below a limit, contradicted, or an answer to a
    part only.

    Where there is no probability it is the level that says so.
    """
    missed = any(check.stage == STAGE and check.state is State.FAILED for check in decision.trace.checks)
    part = decision.metadata.get("unanswered") or any(one.can_answer == "partial" for one in decision.judgements)
    if missed or part or decision.conflicts:
        return True
    low = decision.confidence_level in (ConfidenceLevel.LOW, ConfidenceLevel.INSUFFICIENT) and decision.metadata.get(
        "levels", True
    )
    return bool(low) if value is None else value < LIKELY


def limit_of(asked: Asked) -> CheckResult | None:
    """The check of this number, where it may refuse and was reached; None otherwise."""
    judged = _judged(asked)
    return judged if judged is not None and judged.mode is Mode.ENFORCE else None


def _judged(asked: Asked) -> CheckResult | None:
    """The check of this number, where it was held against its limit; None otherwise."""
    found = (check for check in asked.decision.trace.checks if check.stage == STAGE)
    return next((check for check in found if check.state in (State.PASSED, State.FAILED)), None)


def percents(value: float, limit: float | None) -> tuple[float, float | None]:
    """A probability in percent, with as few decimals as show on which side of its limit it is; and the limit, where
    there is one.
    """
    if limit is None:
        return round(100 * value), None
    asked = round(100 * limit, 4)
    rounded = (round(100 * value, digits) for digits in range(5))
    return next((sure for sure in rounded if (sure < asked) == (value < limit)), 100 * value), asked


def _of(asked: Asked) -> str:
    """The thing that the number is about: an answer, one that the documents disagree on, or the best sentence that a
    refusal found.
    """
    if not asked.decision.answered:
        return "found"
    return "conflict" if asked.decision.conflicts else "answer"


def _outcome(asked: Asked, judged: CheckResult | None) -> str:
    """Shown or not under its limit, refused by another check, or only held against a limit that keeps nothing back."""
    if judged is None or judged.threshold is None:
        return "unlimited"
    if judged.mode is not Mode.ENFORCE:
        return "observed_missed" if judged.state is State.FAILED else "observed_met"
    if judged.state is State.FAILED:
        return "not_shown" if asked.decision.may_be is None else "maybe"
    return "shown" if asked.decision.answered else "other"
