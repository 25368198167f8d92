"""Says what a moved setting changed, and lists the single changes that would turn the outcome; each can be tried at
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from rag_core.decision.summary import ending_of
from rag_core.decision.what_if import Flip
from rag_core.domain.decision import Decision
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, State
from ui.app.asked import Asked
from ui.app.elements import button, show_text
from ui.app.texts import say, screen, tell
from ui.ask.asking import changed_knobs
from ui.ask.checks import measured, required
from ui.settings.fields import set_knob
from ui.settings.wording import in_percents, moved_in_words, setting_name, value_in_words

SURE = "correctness"  # the check that most people meet: it is told without its name
MAX_COUNT = 6  # settings that are named one by one; another preset changes many


def show_change(asked: Asked) -> None:
    """Nothing unless the decision on the page replaced another one of the same question."""
    if asked.before is None:
        return
    before, settings = asked.before
    what, result = _moved(changed_knobs(settings, asked.settings)), outcome(before, asked.decision)
    show_text(tell("changes.changed", what=what, result=result), "change")


def outcome(before: Decision, after: Decision) -> str:
    """How the question ended and ends now, with the check that made the difference, or what else is different."""
    old, new = _ending(before), _ending(after)
    if before.answered is after.answered:
        why = _otherwise(before, after)
    else:
        why = _why_answered(before, after) if after.answered else _why_refused(after)
    ends = {"old": tell(f"changes.ended_{old}"), "new": tell(f"changes.ended_{new}")}
    result = tell(f"changes.still_{new}") if old == new else tell("changes.turned", **ends)
    return tell("changes.because", result=result, why=why) if why else tell("changes.end", result=result)


def _moved(knobs: Mapping[str, tuple[object, object]]) -> str:
    if not knobs:
        return tell("changes.documents")
    if len(knobs) > MAX_COUNT:
        return tell("changes.many", n=len(knobs))
    return ", ".join(moved_in_words(name, old, new) for name, (old, new) in knobs.items())


def _ending(decision: Decision) -> str:
    """How a question ended; one for which a language model would have to be asked did not end."""
    return "undecided" if decision.reason is Reason.NEEDS_GENERATION else ending_of(decision)


def _why_answered(before: Decision, after: Decision) -> str:
    blocked = next((check for check in before.trace.checks if check.blocks), None)
    if blocked is None:
        return ""
    check = next((one for one in after.trace.checks if one.stage == blocked.stage), blocked)
    if check.stage == SURE and check.state is State.PASSED:
        return tell("changes.sure", **_said(check))
    return tell("changes.passes" if check.state is State.PASSED else "changes.lets", **_said(check))


def _why_refused(decision: Decision) -> str:
    check = next((check for check in decision.trace.checks if check.blocks), None)
    if check is None:
        if f"refusal.short_{decision.reason}" in screen():
            return tell(f"refusal.short_{decision.reason}")
        return tell(f"refusal.why_{decision.reason}")  # a rejected draft: a whole sentence
    if check.stage == SURE and check.state is State.FAILED:
        return tell("changes.sure", **_said(check))
    return tell("changes.not_run" if check.state is State.NOT_RUN else "changes.fails", **_said(check))


def _otherwise(before: Decision, after: Decision) -> str:
    """The difference where the outcome is the same: the reason of a refusal, or the words of an answer."""
    if not after.answered:
        return tell("changes.now", why=_why_refused(after)) if after.reason is not before.reason else ""
    return tell("changes.text") if before.answer != after.answer else ""


def _said(check: CheckResult) -> dict[str, str]:
    limit = measured(replace(check, value=check.threshold))
    said = {"measured": measured(check), "required": required(check), "limit": limit}
    return {"check": tell(f"checks.title_{check.stage}")} | said


MAX_FLIPS = 6  # the nearest ones; more would not be read
PROBABLE = 0.5  # below it an answer is rather wrong than right


def show_what_if(asked: Asked) -> None:
    """For a refusal the changes that would answer, for an answer how close it was."""
    found = asked.flips_under(asked.settings)
    if asked.decision.answered:
        if asked.decision.citations:
            _show(found, "refuse")
    elif asked.decision.trace.checks:
        _show(found, "answer")
        if found:  # how right an answer is that only another limit shows
            value = asked.measurements.correctness
            if value is None or value >= PROBABLE:
                st.caption(say("what_if.careful"))
            elif right := int(in_percents(value)):
                st.caption(say("what_if.wrong", n=right))
            else:
                st.caption(say("what_if.wrong_all"))


def _show(found: tuple[Flip, ...], to: str) -> None:
    if not found:
        st.text(tell(f"what_if.no_{to}"))
        return
    open_ones = any(_is_open(flip) for flip in found[:MAX_FLIPS])
    st.caption(say(f"what_if.each_{to}_or_ask" if open_ones else f"what_if.each_{to}"))
    for flip in found[:MAX_FLIPS]:
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", key=f"flip_{flip.name}"):
            st.text(_in_words(flip), width="stretch")
            button("what_if.try", f"try_{flip.name}", set_knob, flip.name, flip.after, help="what_if.try_help")
    if len(found) > MAX_FLIPS:
        st.caption(say("what_if.more", n=len(found) - MAX_FLIPS))


def _in_words(flip: Flip) -> str:
    stage = flip.name.removesuffix("_mode")
    if stage != flip.name:
        change = tell("what_if.mode", check=say(f"checks.title_{stage}"))
    else:
        before, after = value_in_words(flip.name, flip.before), value_in_words(flip.name, flip.after)
        change = tell("what_if.flip", name=setting_name(flip.name), before=before, after=after)
    return tell("what_if.ask", change=change) if _is_open(flip) else change


def _is_open(flip: Flip) -> bool:
    """Whether a language model would have to be asked again, so that the outcome is not known."""
    return flip.reason is Reason.NEEDS_GENERATION
