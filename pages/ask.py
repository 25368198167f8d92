"""The ask page: upload, question, and a cited answer or a refusal that says why."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.errors import RagError
from ui import frame
from ui.app import state
from ui.app.jobs.progress import running, upload_field
from ui.app.scope import choose_scope
from ui.app.texts import say, show_error
from ui.ask import answer, asking, export, keys, turns, waiting
from ui.lab import flips
from ui.settings import sharing
from ui.settings.sidebar import settings_from_sidebar, show_flips

WIDTH = 1500  # pixels: the answer beside the page it stands on; longer lines are hard to read
QUESTION = "question"  # the field that it is typed into


def page() -> None:
    """The page from top to bottom."""
    st.title(say("ask.title"), anchor=False)
    settings = settings_from_sidebar()
    engine = frame.start()
    keys.begin()
    with st.container(key="about_page"):  # before the first question; it folds away with the title
        st.markdown(say("ask.about"))
    session = state.session()
    documents = engine.library.view.documents

    # in a container, or Streamlit pins it to the bottom and scrolls there, past the answer
    with st.container(key="ask"):
        st.chat_input(
            say("ask.question"),
            key=QUESTION,
            max_chars=MAX_QUESTION_CHARS,
            on_submit=asking.hold_typed,
            args=(QUESTION,),
        )
    left, right = st.columns(2)
    with left:
        scope = choose_scope(documents)
    with right:
        upload_field()
    notice = st.container(key="notice")  # filled when the question on the page is known
    turns.resume(engine)  # before examples are offered: a reload of a thread has none
    waiting.show_examples(engine, session, settings, running())

    export.open_linked(engine)
    too_early = not documents and running()  # a refusal for want of documents would not be the truth
    try:
        if not too_early:
            asking.begin_held(engine, scope, settings)
        if not asking.take() and session.asked is not None:
            session.show(asking.again(engine, session.asked, scope, settings))
    except RagError as error:
        show_error(error)
    if too_early and session.held:
        waiting.show_held(session.held)
    elif session.pending is not None:
        waiting.show(session.pending)
    else:
        if session.stopped:
            with notice:
                waiting.show_stopped(session.stopped)
        if session.asked is not None:
            with notice, suppress(RagError):  # where the records cannot be read the lab says so
                flips.show_of_set(session.asked)
            answer.show(engine, session.asked)
            show_flips(session.asked)
    sharing.write_turns()


with st.container(width=WIDTH, key="ask_page"):
    page()
