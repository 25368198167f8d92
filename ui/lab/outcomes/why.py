"""For one labelled question: where the page that holds its answer ranked, and which step lost it, in the library as it is now."""

from __future__ import annotations

import streamlit as st

from rag_core.errors import RagError
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.settings import Settings
from ui.app import state
from ui.app.texts import say, show_error, tell
from ui.ask.decision.missed import show_finding

_WANTED = "lab_why"  # in the session: (id of the question, number of the place)


def show(question: LabelledQuestion, settings: Settings) -> None:
    """A button for each place of the label whose page is known, and what became of the page that was asked for.

    Args:
        question: with its places; without any nothing is shown.
        settings: under which the question is measured again.
    """
    places = [place for place in question.places if place.page]
    if not places:
        return
    st.caption(say("lab_compare.why_about"))
    wanted = st.session_state.get(_WANTED)
    for number, place in enumerate(places):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(tell("missed.page_of", name=place.document, page=place.page), width="content")
            key = f"lab_why_{question.id}_{number}"
            st.button(say("missed.look"), key=key, icon=":material/search:", on_click=_want, args=(question.id, number))
        if wanted == (question.id, number):
            _show_place(question, place, settings)


def _want(id: str, number: int) -> None:
    st.session_state[_WANTED] = (id, number)


def _show_place(question: LabelledQuestion, place: Place, settings: Settings) -> None:
    engine = state.engine()
    try:
        found = engine.library.snapshot.find(place.document)
        if not found:
            st.text(tell("lab_compare.why_no_document", name=place.document))
            return
        with st.spinner(say("missed.looking")):
            missed = engine.why_missed(question.question, settings, found[0].id, place.page, question.documents or None)
    except RagError as error:
        show_error(error)
        return
    with st.container(border=True, key="lab_why"):
        show_finding(missed)
