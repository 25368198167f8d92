"""Deleting the whole collection that is open, for whoever types its name. Nothing of it comes back."""

from __future__ import annotations

import streamlit as st

from rag_core.domain.acts import actor
from rag_core.errors import RagError
from rag_core.library.stored import titles
from rag_core.service.callers.people import Right
from rag_core.work.dropping import drop
from ui.app import first_run, state
from ui.app.people import visitor
from ui.app.people.collections import shown_name, switch
from ui.app.problems import show_error
from ui.app.texts import say, tell
from ui.documents import undo, viewer

_DONE = "collection_dropped"


def show_done() -> None:
    """Say once that the collection that was open is deleted."""
    if st.session_state.pop(_DONE, False):
        st.success(say("dropping.done"), icon=":material/delete:")


def offer() -> None:
    """The form, folded; a visitor of a shared demo ends the visit instead."""
    if actor().home or not visitor.may(Right.DELETE):
        return
    name = state.session().collection
    with st.expander(say("dropping.title"), icon=":material/delete_forever:", key=f"drop_{name}"), st.form(key="drop_form", border=False):
        st.caption(say("dropping.about"))
        shown = shown_name(name)
        st.text(tell("dropping.name", name=shown))
        typed = st.text_input(say("dropping.label"), key=f"drop_name_{name}", label_visibility="collapsed", max_chars=titles.MAX_CHARS)
        if st.form_submit_button(say("dropping.sure"), key="drop_sure", icon=":material/delete_forever:"):
            _take(name, confirmed=" ".join((typed or "").split()) in (shown, name))


def _take(name: str, *, confirmed: bool) -> None:
    if not confirmed:
        st.warning(say("dropping.wrong"), icon=":material/warning:")
        return
    try:
        with st.spinner(say("dropping.working")):
            drop(state.library_folder(), name, state.runner())
    except RagError as error:
        show_error(error)
        return
    viewer.forget()
    undo.forget()
    session = state.session()
    session.cancel()
    session.asked, session.stopped = None, ""
    session.history = [asked for asked in session.history if asked.collection != name]
    st.session_state[_DONE] = True
    switch(first_run.start_collection(state.library_folder()))
    st.rerun()
