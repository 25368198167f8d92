"""The beginning of every page: the engine, or a word on what is still missing; the sample documents at the first start;
running jobs.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from rag_core.domain.acts import acting
from rag_core.domain.ports import Cancel, Progress
from rag_core.engine import Engine
from rag_core.errors import ModelMismatch, RagError, StoreMismatch
from rag_core.library.library import AddReport
from rag_core.work import loading
from ui.app import first_run, state
from ui.app.elements import button
from ui.app.jobs.background import watch
from ui.app.jobs.progress import show_jobs
from ui.app.people import collections, sign_in, visitor
from ui.app.texts import say, show_error
from ui.documents import rebuild

STYLE = Path(__file__).with_name("style.css")


def start() -> Engine:
    """The engine for this page; the page ends here while it is being opened, or with the reason when there is none."""
    st.html(STYLE)
    if not sign_in.let_in():  # a page that Streamlit runs without app.py, as its tests do
        st.stop()
    collections.choose()
    opened = state.opening()
    if not opened.wait(loading.PATIENCE_SECONDS):
        watch(opened.wait, _show_opening)
        st.stop()
    try:
        engine = state.engine()
        engine.library.refresh()
    except (ModelMismatch, StoreMismatch):  # built anew meanwhile, by another process
        _forget()
        st.rerun()
    except RagError as error:
        _cannot_start(error)
        st.stop()
    offer_samples()
    show_jobs()
    return engine


def offer_samples() -> None:
    """Start indexing the sample documents when this library never had them."""
    folder, base = state.library_folder(), state.base_settings()
    if first_run.is_due(folder):

        def work(progress: Progress, stop: Cancel) -> AddReport:
            return first_run.index_samples(
                loading.engine(folder, first_run.SAMPLES_COLLECTION, base), folder, base, progress, stop
            )

        with acting(visitor.PAGE):  # whoever comes first: it is the program that does it
            state.runner().start_once(str(folder), "samples", work, len(first_run.samples()))


def _show_opening() -> None:
    st.info(say("frame.opening"), icon=":material/hourglass_top:")
    st.skeleton(height=120)


def _cannot_start(error: RagError) -> None:
    st.header(say("frame.cannot_start"), anchor=False)
    show_error(error)
    button("frame.try_again", "try_again", _forget, icon="refresh")
    show_jobs()
    rebuild.offer_on_error(error)


def _forget() -> None:
    loading.forget(state.library_folder(), state.session().collection)
