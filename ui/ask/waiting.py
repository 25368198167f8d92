"""Stands in the answer's place until the first document is read, while a language model is asked, after it was stopped
or before it may be.

Only the stage is shown, never a word of a draft: it is judged first.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.domain.llm_trace import Step
from rag_core.domain.status import Reason
from ui.app import state
from ui.app.asked import Asked
from ui.app.jobs.background import watch
from ui.app.pending import Pending
from ui.app.state import Held
from ui.app.texts import say, tell


def show(pending: Pending) -> None:
    """Show the work that is being done and for how long, with a way to stop it; run the page when it is over."""
    watch(lambda: state.session().pending is not pending or pending.wait(), lambda: _show(pending))


def _show(pending: Pending) -> None:
    with st.container(border=True, key="waiting"):
        with st.container(key="waiting_question"):
            st.text(pending.question)
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="waiting_stage"
        ):
            st.text(stage(pending), width="stretch")
            st.caption(say("waiting.seconds", n=pending.seconds), width="content")
            st.button(
                say("waiting.cancel"), key="cancel", icon=":material/stop_circle:", on_click=state.session().cancel
            )
        st.caption(say("waiting.about"))


def show_held(held: Sequence[Held]) -> None:
    """The questions that wait until the first document can be searched, with a way to take each back.

    The page runs anew by then.
    """
    for number, one in enumerate(held):
        with st.container(border=True, key=f"held_{number}"):
            st.text(one.question)
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                horizontal_alignment="distribute",
                key=f"held_line_{number}",
            ):
                st.text(tell("waiting.held"), width="stretch")
                st.button(
                    say("waiting.cancel"),
                    key=f"take_back_{number}",
                    icon=":material/stop_circle:",
                    on_click=state.session().take_back,
                    args=(one,),
                )


def stage(pending: Pending) -> str:
    """The work that is being done now, in words."""
    if not pending.step:
        return say("waiting.measuring")
    if pending.step in (Step.VERIFY, "check"):
        return say(f"waiting.{pending.step}", n=pending.claims)
    if pending.step is Step.DRAFT and pending.drafts > 1:
        return say("waiting.redraft", n=pending.drafts)
    return say(f"waiting.{pending.step}")


def show_stopped(question: str) -> None:
    """That a question was stopped, with a way to ask it again."""
    with st.container(border=True, key="stopped"):
        st.badge(say("waiting.stopped"), icon=":material/stop_circle:", color="gray")
        st.text(question)
        st.caption(say("waiting.stopped_about"))
        _ask_button(question, say("waiting.ask_stopped"))


def show_outdated(asked: Asked) -> None:
    """That the model would have to be asked for what the page is set to, with a button that does; nothing where it need
    not.
    """
    undecided = asked.decision.reason is Reason.NEEDS_GENERATION
    if not (asked.outdated or undecided):
        return
    with st.container(border=True, key="outdated"):
        st.badge(say("waiting.outdated"), icon=":material/sync:", color="blue")
        st.text(tell("waiting.undecided" if undecided else "waiting.outdated_about"))
        _ask_button(asked.question, say("waiting.ask"))


def _ask_button(question: str, label: str) -> None:
    st.button(
        label, key="ask_again_button", icon=":material/refresh:", on_click=state.session().hold, args=(question, True)
    )
