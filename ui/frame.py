"""What every page begins with: the engine, or why there is none; the sample documents at the first start; running jobs."""

from __future__ import annotations

from functools import partial

import streamlit as st

from rag_core.engine import Engine
from rag_core.errors import RagError
from ui import first_run, state
from ui.problems import show_error
from ui.progress import show_jobs


def start() -> Engine:
    """The engine for this page; the page ends here with the reason when there is none."""
    try:
        engine = state.engine()
        engine.library.refresh()
    except RagError as error:
        st.header("Plumbline cannot start", anchor=False)
        show_error(error)
        st.stop()
    folder = state.library_folder()
    if first_run.is_due(engine, folder):
        work = partial(first_run.index_samples, engine, folder, state.base_settings())
        state.runner().start_once(str(folder), "Indexing the sample documents", work, len(first_run.samples()))
    show_jobs()
    return engine
