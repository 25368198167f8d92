"""The collection that the session works in: a field above the page, and a way to make a new one."""

from __future__ import annotations

import streamlit as st

from rag_core.errors import RagError
from rag_core.library.store import create_namespace, namespaces
from ui.app import asked, state
from ui.app.problems import show_error
from ui.app.texts import say


def choose() -> None:
    """The field, and what was chosen with it; each session has its own choice."""
    session, folder = state.session(), state.library_folder()
    known = sorted({*namespaces(folder), session.namespace, asked.NAMESPACE}, key=lambda name: (name != asked.NAMESPACE, name))
    st.session_state.namespace = session.namespace  # it may have been changed by the other field, or another page
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="right", gap="small", key="collection"):
        st.selectbox(
            say("namespaces.label"), known, key="namespace", help=say("namespaces.help"), on_change=_take_chosen, width=220,
        )  # fmt: skip
        # keys by the present collection: after the switch it is closed and empty again
        box = st.popover(say("namespaces.new"), icon=":material/add:", key=f"new_collection_{session.namespace}")
        with box, st.form(key=f"new_namespace_{session.namespace}", border=False):
            name = st.text_input(
                say("namespaces.name"), key=f"namespace_name_{session.namespace}", help=say("namespaces.name_help"), max_chars=64
            )
            if st.form_submit_button(say("namespaces.create")):
                try:
                    create_namespace(folder, (name or "").strip())
                except RagError as error:
                    show_error(error)
                else:
                    switch((name or "").strip())
                    st.rerun()


def switch(namespace: str) -> None:
    """Work in this collection from now on: no question, choice of documents or filter of the other one goes along."""
    session = state.session()
    if namespace == session.namespace:
        return
    session.cancel()
    session.namespace, session.stopped = namespace, ""
    session.asked = None
    for key in list(st.session_state):
        if key == "documents" or str(key).startswith("filter_"):
            st.session_state[key] = [] if key == "documents" else ""


def _take_chosen() -> None:
    switch(st.session_state.namespace)
