"""Shows a refusal: why, in one plain sentence; the check that refused, with its value and by how much it missed; and
what can be done. And the one line that says how sure an answer, or the best that was found, is and what is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.decision.checks.gating import LIKELY
from rag_core.decision.notes import nowhere_in_words
from rag_core.decision.summary import ending_of
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import UNREAD
from rag_core.domain.replies import reply
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State
from rag_core.settings import Mode
from ui.app.asked import Asked
from ui.app.elements import badge, show_text
from ui.app.texts import figure, say, spoken, tell
from ui.ask.checks import measured, meter, required
from ui.ask.drafts import flagged, show_drafter
from ui.ask.evidence import show_place
from ui.settings.wording import PERCENT, in_percents, percent

STAGE = "correctness"
MAX_TO_DO = 2  # things to do that are shown; more are no advice
PROBABILITIES = ("correctness", "answerability")  # checks whose value says how likely an answer is
SAID_BY_NUMBERS = (*PROBABILITIES, "cosine")  # scales of checks whose finding is the two numbers and no more


def show_refusal(asked: Asked) -> None:
    """The card, amber where a place may be the answer, else grey; every number has its scale."""
    decision = asked.decision
    with st.container(border=True, key="refusal"):
        if decision.reason is Reason.SUMMARY and decision.places:
            _show_contents(asked)
            return
        if decision.may_be is None:
            badge("refusal.badge", "do_not_disturb_on", "gray", help="refusal.badge_help")
        else:
            badge("refusal.maybe", "help", "yellow", help="refusal.badge_help")
            show_place(decision.places[0])
        if decision.may_be is None or decision.reason is not Reason.CORRECTNESS:  # which the line below says
            show_text(why(asked), "refusal_why")
        # without a passage there is no best sentence
        if asked.measurements.correctness is not None and asked.measurements.hits:
            show_how_sure(asked)
        if absent := nowhere_in_words(asked.measurements, asked.decision.reason):
            show_text(absent, "refusal_nowhere")  # it repeats words of the question
        if wrong := flagged(decision, asked.measurements):
            show_text("\n".join(wrong), "refusal_flagged")
        if decision.answer and decision.may_be is None and decision.reason is not Reason.FOLLOW_UP:
            st.text(decision.answer)
        checks, said = [check for check in decision.trace.checks if check.blocks], limit_of(asked)
        for number, check in enumerate(check for check in checks if check is not said):  # the line above says that one
            _show_check(number, check)
        if not checks and decision.reason not in (Reason.MODEL_REFUSED, Reason.FOLLOW_UP):  # the headline says it
            st.text(spoken(decision.explanation))
        _show_suggestions(decision.suggestions[:MAX_TO_DO])
        show_drafter(decision)


def _show_contents(asked: Asked) -> None:
    with st.container(key="contents"):
        badge("refusal.contents_badge", "toc", "blue")
        st.text(reply("about_library", asked.decision.language, asked.measurements.library))  # it repeats titles
        st.caption(say("refusal.contents"))


def why(asked: Asked) -> str:
    """Why there is no answer, in one sentence without jargon."""
    if asked.decision.reason is Reason.NOTHING_RETRIEVED and not asked.measurements.library.passages:
        return tell("refusal.why_unread" if asked.measurements.metadata.get(UNREAD) else "refusal.why_no_documents")
    return why_refused(asked.decision)


def why_refused(decision: Decision) -> str:
    """The same from the decision alone. It never denies what its own number calls likely: then the limit was higher."""
    if likely(decision):
        return tell(f"refusal.why_{decision.reason}_likely")
    if decision.may_be is not None and decision.reason in (Reason.CORRECTNESS, Reason.ANSWERABILITY):
        return tell("refusal.may_be", probability=percent(decision.may_be))
    return tell(f"refusal.why_{decision.reason}")


def outcome_in_words(decision: Decision) -> str:
    """How a question ended, in one line: how sure its answer is, or in a sentence why there is none."""
    if decision.may_be is not None:
        return tell("turns.maybe", sure=sure_in_words(decision.may_be))
    if decision.reason is Reason.SUMMARY and decision.places:
        return tell("turns.contents")
    if not decision.answered:
        return tell("turns.refused", why=why_refused(decision))
    if not decision.citations:
        return tell("turns.own")
    probability = decision.scores["correctness"]
    if not probability:  # no calibration fits, so there is none
        return tell("turns.answered")
    return tell(f"turns.{ending_of(decision)}", sure=sure_in_words(probability))


def likely(decision: Decision) -> bool:
    """Whether it was refused for a limit alone: by its own number it has an answer."""
    first = next((check for check in decision.trace.checks if check.blocks), None)
    return first is not None and first.stage in PROBABILITIES and first.value is not None and first.value >= LIKELY


def missed_by(check: CheckResult) -> str:
    """By how much a check missed its limit, in its own unit; empty where nothing was measured or nothing missed."""
    if check.value is None or check.threshold is None or check.direction is None or check.state is not State.FAILED:
        return ""
    gap = check.threshold - check.value if check.direction is Direction.AT_LEAST else check.value - check.threshold
    shown = figure(gap, "g" if check.scale == "count" else ".2f" if round(gap, 2) else ".4f")
    if check.scale in PERCENT:
        shown = percent(round(gap, 2) or round(gap, 4), 2)
    return tell("refusal.too_low" if check.direction is Direction.AT_LEAST else "refusal.too_high", gap=shown)


def _show_suggestions(suggestions: Sequence[str]) -> None:
    if suggestions:
        st.markdown(say("refusal.what_to_do"))
    for suggestion in suggestions:
        st.text(tell("refusal.suggestion", suggestion=spoken(suggestion)))


def _show_check(number: int, check: CheckResult) -> None:
    with st.container(key=f"refused_by_{number}", gap="xsmall"):
        st.caption(say("refusal.check"))
        st.markdown(say(f"checks.title_{check.stage}"), help=say(f"checks.about_{check.stage}"))
        if check.value is not None:
            st.html(meter(check))
            numbers = {"measured": measured(check), "required": required(check), "missed": missed_by(check)}
            st.text(tell("refusal.measured", **numbers, scale=say(f"checks.scale_{check.scale}")))
        if check.value is None or check.scale not in SAID_BY_NUMBERS:
            st.text(tell("refusal.found", found=spoken(check.found or check.note)))


def show_how_sure(asked: Asked) -> None:
    """How sure it is that what is shown, or the best that was found, is right; and what is asked for."""
    value = asked.measurements.correctness
    if value is None:
        st.caption(say("how_sure.none"), help=say("how_sure.none_help"))
        return
    with st.container(horizontal=True, gap="xsmall", key="how_sure_line"):
        sure, percent, judged, limit = sure_and_judged(asked, value)
        st.markdown(say(sure, n=percent), width="content")
        st.markdown(say(judged, limit=limit), width="content", help=say("how_sure.help"))


def sure_and_judged(asked: Asked, value: float) -> tuple[str, float, str, float]:
    """The keys of both sentences of the line, each with its number in percent."""
    judged = _judged(asked)
    sure, limit = percents(value, judged.threshold if judged is not None else None)
    end = "most" if sure == 100 else "least" if sure == 0 else "sure"
    return f"how_sure.{_of(asked)}_{end}", sure, f"how_sure.{_outcome(asked, judged)}", limit or 0


def sure_in_words(value: float) -> str:
    """A probability as a few words; none is called certain or impossible."""
    percent = in_percents(value)
    return say(f"how_sure.{'most' if percent == 100 else 'least' if percent == 0 else 'about'}", n=percent)


def limit_of(asked: Asked) -> CheckResult | None:
    """The check of this number, where it may refuse and was reached; None otherwise."""
    judged = _judged(asked)
    return judged if judged is not None and judged.mode is Mode.ENFORCE else None


def _judged(asked: Asked) -> CheckResult | None:
    """The check of this number, where it was held against its limit; None otherwise."""
    found = (check for check in asked.decision.trace.checks if check.stage == STAGE)
    return next((check for check in found if check.state in (State.PASSED, State.FAILED)), None)


def percents(value: float, limit: float | None) -> tuple[float, float | None]:
    """A probability in percent, with as many decimals as tell it from its limit; and the limit."""
    if limit is None:
        return in_percents(value), None
    asked = round(100 * limit, 4)
    rounded = (in_percents(value, digits) for digits in range(5))
    return next((sure for sure in rounded if (sure < asked) == (value < limit)), 100 * value), asked


def _of(asked: Asked) -> str:
    """The thing that the number is about: an answer, a contradicted one, or the best sentence that a refusal found."""
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
