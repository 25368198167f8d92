"""Lists the single changes of a setting that turn this refusal into an answer, or this answer into a refusal. Each can be tried at once."""

from __future__ import annotations

import streamlit as st

from rag_core.decision.what_if import Flip
from rag_core.domain.status import Reason
from ui.app.asked import Asked
from ui.app.texts import say, tell
from ui.settings.fields import set_knob
from ui.settings.wording import setting_name, value_in_words

MAX_COUNT = 6  # the nearest ones; more would not be read
PROBABLE = 0.5  # below it an answer is rather wrong than right


def show_what_if(asked: Asked) -> None:
    """For a refusal the changes that would answer, for an answer how close it was. Nothing for what no setting decides."""
    found = asked.flips_under(asked.settings)
    if asked.decision.answered:
        if asked.decision.citations:
            _show(found, "refuse")
    elif asked.decision.trace.checks:
        _show(found, "answer")
        if found:
            _warn(asked.measurements.correctness)


def _show(found: tuple[Flip, ...], to: str) -> None:
    if not found:
        st.text(tell(f"what_if.no_{to}"))
        return
    open_ones = any(_is_open(flip) for flip in found[:MAX_COUNT])
    st.caption(say(f"what_if.each_{to}_or_ask" if open_ones else f"what_if.each_{to}"))
    for flip in found[:MAX_COUNT]:
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", key=f"flip_{flip.name}"):
            st.text(_in_words(flip), width="stretch")
            st.button(
                say("what_if.try"),
                key=f"try_{flip.name}",
                width="content",
                on_click=set_knob,
                args=(flip.name, flip.after),
                help=say("what_if.try_help"),
            )
    if len(found) > MAX_COUNT:
        st.caption(say("what_if.more", n=len(found) - MAX_COUNT))


def _warn(correctness: float | None) -> None:
    """Say how right an answer is that only another limit shows."""
    if correctness is None or correctness >= PROBABLE:
        st.caption(say("what_if.careful"))
    else:
        st.caption(say("what_if.wrong", n=round(100 * correctness)))


def _in_words(flip: Flip) -> str:
    """The change: of a limit from what to what; of a mode, which check would no longer refuse; and that it would ask a model again."""
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
