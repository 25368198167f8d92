"""The collection that the session works in: a field above the page, and a way to make a new one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from rag_core.domain.acts import actor
from rag_core.library.stored import titles
from rag_core.library.stored.named import collections
from rag_core.service.people import Right
from rag_core.wiring import make_titled
from ui.app import first_run, state
from ui.app.asked import COLLECTION
from ui.app.elements import shown_error, submit
from ui.app.people import sign_in, visitor
from ui.app.texts import say

FIELD = "open_collection"


def keep_inside() -> list[str]:
    """The collections that the visitor may enter, the usual one first; a session in another one moves."""
    session, folder = state.session(), state.library_folder()
    known = sorted({*collections(folder), session.collection, COLLECTION}, key=lambda name: (name != COLLECTION, name))
    known = list(filter(actor().may_enter, dict.fromkeys([*known, *actor().within])))
    if session.collection not in known:  # where the person's roles begin, or they have lost one meanwhile
        _open(known[0])
    return known


def choose() -> None:
    """The field, and what was chosen with it; each session has its own choice."""
    session, folder, known = state.session(), state.library_folder(), keep_inside()
    key = state.key_of(FIELD)
    with st.container(
        horizontal=True, vertical_alignment="bottom", horizontal_alignment="right", gap="small", key="collection"
    ):
        sign_in.show_person()
        st.selectbox(
            say("collections.label"),
            known,
            known.index(session.collection),
            key=key,
            help=say("collections.help"),
            on_change=_take_chosen,
            args=(key,),
            width=220,
            format_func=shown_names(known).__getitem__,
        )
        if not visitor.may(Right.UPLOAD):
            return
        # keys by the present collection: after the switch it is closed and empty again
        box = st.popover(say("collections.new"), icon=":material/add:", key=f"new_collection_{session.collection}")
        with box, st.form(key=f"new_named_{session.collection}", border=False):
            name = st.text_input(
                say("collections.name"),
                key=f"collection_name_{session.collection}",
                help=say("collections.name_help"),
                max_chars=titles.MAX_CHARS,
            )
            if submit("collections.create"):
                with shown_error():
                    switch(make_titled(folder, name or ""))
                    st.rerun()


def shown_name(collection: str) -> str:
    """A collection as people call it (untrusted text), in our words for the two that come with the program."""
    title = titles.title_of(state.library_folder(), collection)
    if title != collection:
        return title
    if collection == first_run.SAMPLES_COLLECTION:
        return say("collections.samples")
    if collection == COLLECTION:
        return say("collections.own" if actor().may is None else "collections.shared")
    return collection


def shown_names(names: Sequence[str]) -> dict[str, str]:
    """The same for several, by name. No two are equal: Streamlit tells options apart by what is shown."""
    shown = {name: shown_name(name) for name in names}
    count = Counter(shown.values())
    return {name: title if count[title] == 1 else f"{title} ({name})" for name, title in shown.items()}


def switch(collection: str) -> None:
    """Work in this collection from now on, where the field above the page did not choose it itself.

    The field gets another key: a browser that was not told yet says with its next touch what was chosen before.
    """
    if collection != state.session().collection:
        state.session().editions[FIELD] += 1
        _open(collection)


def _open(collection: str) -> None:
    """No question, choice of documents or filter of the other one goes along."""
    session = state.session()
    session.cancel()
    session.linked = ""
    session.collection, session.stopped = collection, ""
    session.asked = None
    for key in list(st.session_state):
        if key == "documents" or str(key).startswith("filter_"):
            st.session_state[key] = [] if key == "documents" else ""


def _take_chosen(key: str) -> None:
    if key == state.key_of(FIELD) and st.session_state[key] != state.session().collection:
        _open(st.session_state[key])
