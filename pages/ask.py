"""Ask the documents: upload, question, and a cited answer or a refusal that says why."""

from __future__ import annotations

import streamlit as st

from rag_core.errors import RagError
from rag_core.measure import MAX_QUESTION_CHARS
from ui import answer, asking, frame, state
from ui.examples import show_examples
from ui.naming import unique_names
from ui.problems import show_error
from ui.progress import running, upload
from ui.sidebar import settings_from_sidebar

WIDTH = 1100  # pixels: longer lines are hard to read


def page() -> None:
    """The page from top to bottom."""
    st.title("Ask your documents", anchor=False)
    engine = frame.start()
    settings = settings_from_sidebar()
    session = state.session()
    documents = engine.library.snapshot.documents

    # in a container, or Streamlit pins it to the bottom and scrolls there, past the answer
    with st.container(key="ask"):
        waiting = not documents and running()  # a refusal for want of documents would not be the truth
        question = st.chat_input("Ask a question in any language", key="question", max_chars=MAX_QUESTION_CHARS, disabled=waiting)
    left, right = st.columns(2)
    with left:
        names = unique_names(documents)
        chosen = st.multiselect(
            "Search in", list(names), format_func=lambda id: names.get(id, "deleted"), key="documents", placeholder="All documents",
            persist_state="session",
        )  # fmt: skip
    with right:
        files = st.file_uploader(
            "Add documents", ["pdf", "txt", "md"], accept_multiple_files=True, key=f"upload_{session.uploads}",
            help="PDFs and plain text. They stay on this machine.",
        )  # fmt: skip
    if files:
        upload([(file.name, file.getvalue()) for file in files])
        session.uploads += 1
        st.rerun()
    question = question or show_examples(names.values(), session, running())

    try:
        if question:
            session.asked = asking.ask(engine, question, tuple(chosen), settings)
        elif session.asked is not None:
            session.asked = asking.again(engine, session.asked, tuple(chosen), settings)
    except RagError as error:
        show_error(error)
    if session.asked is not None:
        answer.show(engine, session.asked)


with st.container(width=WIDTH):
    page()
