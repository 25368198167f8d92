"""Shows a refusal: why, in one plain sentence; the check that refused, with its value and by how much it missed; and
what can be done.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.decision.checks.gating import LIKELY
from rag_core.decision.notes import nowhere_in_words
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import UNREAD
from rag_core.domain.replies import reply
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State
from ui.app.asked import Asked
from ui.app.texts import say, spoken, tell
from ui.ask.checks import measured, meter, required
from ui.ask.drafted import show_drafter
from ui.ask.evidence import show_place
from ui.ask.how_sure import limit_of, show_how_sure, sure_in_words, unsure
from ui.ask.sentences import flagged
from ui.settings.wording import PERCENT, percent

METER_WIDTH = 380  # pixels
MAX_TO_DO = 2  # things to do that are shown; more are no advice
PROBABILITIES = ("correctness", "answerability")  # checks whose value says how likely an answer is
# scales of checks whose finding is the two numbers and no more
SAID_BY_NUMBERS = (
    "correctness",
    "answerability",
    "cosine",
)


def show_refusal(asked: Asked) -> None:
    """The card, amber where a place may be the answer, else grey: never blames the reader, and every number has its
    scale.
    """
    decision = asked.decision
    with st.container(border=True, key="refusal"):
        if decision.reason is Reason.SUMMARY and decision.places:
            _show_contents(asked)
            return
        if decision.may_be is None:
            st.badge(
                say("refusal.badge"), icon=":material/do_not_disturb_on:", color="gray", help=say("refusal.badge_help")
            )
        else:
            st.badge(say("refusal.maybe"), icon=":material/help:", color="yellow", help=say("refusal.badge_help"))
            show_place(decision.places[0])
        if decision.may_be is None or decision.reason is not Reason.CORRECTNESS:  # which the line below says
            with st.container(key="refusal_why"):
                st.text(why(asked))
        # without a passage there is no best sentence
        if asked.measurements.correctness is not None and asked.measurements.hits:
            show_how_sure(asked)
        if absent := nowhere_in_words(asked.measurements, asked.decision.reason):
            with st.container(key="refusal_nowhere"):
                st.text(absent)  # it repeats words of the question
        if wrong := flagged(decision, asked.measurements):
            with st.container(key="refusal_flagged"):
                st.text("\n".join(wrong))
        if decision.answer and decision.may_be is None:
            st.text(decision.answer)
        checks, said = [check for check in decision.trace.checks if check.blocks], limit_of(asked)
        for number, check in enumerate(check for check in checks if check is not said):  # the line above says that one
            _show_check(number, check)
        if not checks and decision.reason is not Reason.MODEL_REFUSED:  # the headline says it
            st.text(spoken(decision.explanation))
        _show_suggestions(decision.suggestions)
        show_drafter(decision)


def _show_contents(asked: Asked) -> None:
    """In place of a summary: what the record knows of the documents. Their headings are listed below the card."""
    with st.container(key="contents"):
        st.badge(say("refusal.contents_badge"), icon=":material/toc:", color="blue")
        st.text(reply("about_library", asked.decision.language, asked.measurements.library))  # it repeats titles
        st.caption(say("refusal.contents"))


def why(asked: Asked) -> str:
    """Why there is no answer, in one sentence without jargon."""
    if asked.decision.reason is Reason.NOTHING_RETRIEVED and not asked.measurements.library.passages:
        return tell("refusal.why_unread" if asked.measurements.metadata.get(UNREAD) else "refusal.why_no_documents")
    return why_refused(asked.decision)


def why_refused(decision: Decision) -> str:
    """The same from the decision alone. It never denies what its own number calls likely: then the limit was higher."""
    if (
        decision.may_be is not None
        and not likely(decision)
        and decision.reason in (Reason.CORRECTNESS, Reason.ANSWERABILITY)
    ):
        return tell("refusal.may_be", probability=percent(decision.may_be))
    return tell(f"refusal.why_{decision.reason}_likely" if likely(decision) else f"refusal.why_{decision.reason}")


def outcome_in_words(decision: Decision) -> str:
    """How a question ended, in one line: how sure its answer is, or in a sentence why there is none."""
    if decision.may_be is not None:
        return tell("turns.maybe", sure=sure_in_words(decision.may_be))
    if not decision.answered:
        return tell("turns.refused", why=why_refused(decision))
    if not decision.citations:
        return tell("turns.own")
    probability = decision.scores["correctness"]
    if not probability:  # no calibration fits, so there is none
        return tell("turns.answered")
    return tell("turns.maybe" if unsure(decision, probability) else "turns.sure", sure=sure_in_words(probability))


def likely(decision: Decision) -> bool:
    """Whether it was refused for a limit alone: by its own number it has an answer, so a sentence that denies one is
    not true of it.
    """
    first = next((check for check in decision.trace.checks if check.blocks), None)
    return first is not None and first.stage in PROBABILITIES and first.value is not None and first.value >= LIKELY


def missed_by(check: CheckResult) -> str:
    """By how much a check missed its limit, in its own unit; empty where nothing was measured or nothing missed."""
    if check.value is None or check.threshold is None or check.direction is None or check.state is not State.FAILED:
        return ""
    gap = check.threshold - check.value if check.direction is Direction.AT_LEAST else check.value - check.threshold
    shown = f"{gap:g}" if check.scale == "count" else f"{gap:.2f}" if round(gap, 2) else f"{gap:.4f}"
    if check.scale in PERCENT:
        shown = percent(float(shown), 2)
    return tell("refusal.too_low" if check.direction is Direction.AT_LEAST else "refusal.too_high", gap=shown)


def _show_check(number: int, check: CheckResult) -> None:
    """Show the check: its name, its picture, and the same in words."""
    with st.container(key=f"refused_by_{number}", gap="xsmall"):
        st.caption(say("refusal.check"))
        st.markdown(say(f"checks.title_{check.stage}"), help=say(f"checks.about_{check.stage}"))
        if check.value is not None:
            st.image(meter(check), width=METER_WIDTH, alt=say("refusal.meter_alt"))
            st.text(
                tell(
                    "refusal.measured",
                    measured=measured(check),
                    required=required(check),
                    scale=say(f"checks.scale_{check.scale}"),
                    missed=missed_by(check),
                )
            )
        if check.value is None or check.scale not in SAID_BY_NUMBERS:
            st.text(tell("refusal.found", found=spoken(check.found or check.note)))


def _show_suggestions(suggestions: Sequence[str]) -> None:
    if suggestions:
        st.markdown(say("refusal.what_to_do"))
        for suggestion in suggestions[:MAX_TO_DO]:
            st.text(tell("refusal.suggestion", suggestion=spoken(suggestion)))
