"""Errors as they are shown: the problem and the remedy, as inert text, since both may quote a file name."""

from __future__ import annotations

import streamlit as st

from rag_core.errors import RagError
from ui.app.texts import say, tell


def show_error(error: RagError, name: str = "") -> None:
    """One problem with its remedy; `name` is the file it is about."""
    with st.container(border=True):
        st.badge(say("problems.badge"), icon=":material/error:", color="red")
        if name:
            st.text(name)
        st.text(error.problem)
        st.text(tell("problems.remedy", remedy=error.remedy))
