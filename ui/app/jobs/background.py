"""Work beside the page: a question counts among those of the program, and a fragment looks whether work is done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag_core.domain.acts import actor
from rag_core.service.limits import Places

LOOK_SECONDS = 0.25  # between two looks of a page at what it waits for


def watch(over: Callable[[], bool], show: Callable[[], object], seconds: float = LOOK_SECONDS) -> None:
    """Show what is being waited for, again and again; run the whole page once it is over."""

    @st.fragment(run_every=seconds)
    def look() -> None:
        if over():
            st.rerun()
        show()

    # Alone in its container: where it runs again before all that the page drew was sent, Streamlit takes back what
    # stood at its place, the browser closes the gap, and would draw it over what stood behind it.
    with st.container():
        look()


MAX_QUESTIONS, EACH, RETRY_SECONDS = 40, 4, 5  # twenty people who ask at once wait; a person has a few tabs
_QUESTIONS = Places("questions under way", MAX_QUESTIONS, EACH, RETRY_SECONDS)


def question() -> AbstractContextManager[None]:
    """Hold a place for a question within the block; a RagError where there is none."""
    context, who = get_script_run_ctx(), actor()
    session = context.session_id if context is not None else ""  # a thread beside the page belongs to none
    return _QUESTIONS.held(who.name if who.may is not None else session)
