"""The question on the page as a turn of a conversation: how it was typed, what was made of that, a way to edit it, and the turn before.

The address names the turns that are kept, `?turns=3.4.7`, so that they survive a reload of the page; each is judged from its record and not
asked again.
"""

from __future__ import annotations

import streamlit as st

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.engine import Engine
from rag_core.errors import RagError
from ui.app import state
from ui.app.asked import Asked
from ui.app.texts import say, tell
from ui.ask.leaving import link


def show_question(asked: Asked) -> None:
    """The question that was asked; how it was typed, where it was rewritten. That can be edited, and so can one that nobody was sure of."""
    with st.container(key="asked", horizontal=True, vertical_alignment="center"):
        st.badge(say("turns.asked") if asked.typed else say("answer.question"), icon=":material/help:", color="gray")
        st.text(asked.question, width="content")
        if asked.typed:
            with st.popover(say("turns.edit"), icon=":material/edit:", type="tertiary", key="edit_question"):
                _edit(asked, asked.question)
    if asked.typed:
        _show_typed(asked)
    if asked.suggestion:
        with st.container(border=True, key="suggestion"):
            st.caption(say("turns.unsure"))
            _edit(asked, asked.suggestion)


def resume(engine: Engine) -> None:
    """Take up the turns that the address names, once in the life of a tab; one that is gone, or was never there, is left out."""
    session, found = state.session(), []
    numbers, session.resuming = session.resuming, ()
    for number in numbers:
        try:
            found.append(link.read(engine, number))
        except RagError:  # deleted since
            continue
    for asked in found:
        session.show(asked)


def _show_typed(asked: Asked) -> None:
    """How it was typed and after which question, in one line, with the way back to that."""
    earlier = [one for one in state.session().turns()[:-1] if asked.typed not in (one.question, one.typed)]  # not what was edited
    with st.container(key="typed", horizontal=True, vertical_alignment="center"):
        if not earlier:
            st.text(tell("turns.typed", typed=asked.typed), width="content")
            return
        st.text(tell("turns.typed_after", typed=asked.typed, before=earlier[-1].question), width="content")
        st.button(
            say("turns.before"), key="show_before", icon=":material/arrow_back:", type="tertiary", on_click=bring_back, args=(earlier[-1],)
        )


def bring_back(asked: Asked) -> None:
    """Put a question of the session on the page again, as it was last decided."""
    asked.before = None
    state.session().asked = asked


def _edit(asked: Asked, text: str) -> None:
    """A field with a whole question and a button that asks it; Enter does too."""
    key = f"whole_{asked.number}"
    with st.form(f"edit_{asked.number}", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(say("turns.whole"), text, key=key, max_chars=MAX_QUESTION_CHARS, label_visibility="collapsed")
            st.form_submit_button(say("turns.ask"), icon=":material/send:", on_click=_ask, args=(key, asked.typed or asked.question))


def _ask(key: str, typed: str) -> None:
    if whole := str(st.session_state.get(key, "")).strip():
        state.session().hold(whole, typed=typed)
