"""Building a whole collection anew: with other settings, another embedding model, or because it cannot be opened as it is."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.errors import LibraryBusy, LibraryError, ModelUnavailable, RagError
from rag_core.service.callers.people import Right
from rag_core.settings import Settings
from rag_core.wiring import VECTOR_STORES, as_built
from rag_core.work.files import File
from ui.app import state
from ui.app.jobs.progress import writing
from ui.app.jobs.work import here, start_rebuild
from ui.app.people import visitor
from ui.app.problems import show_error
from ui.app.texts import say, tell
from ui.documents.ingest_fields import ingest_fields


def offer_rebuild(listed: Sequence[File]) -> None:
    """The form on the Documents page, folded; `listed` are the collection's documents."""
    if not visitor.may(Right.DELETE):
        return
    with st.expander(say("rebuild.title"), icon=":material/construction:", key="rebuild"):
        _form(state.session().settings(), listed)


def offer_on_error(error: RagError) -> None:
    """The form in place of a page that cannot start, where building anew can help; nothing otherwise."""
    if isinstance(error, LibraryBusy) or not isinstance(error, (LibraryError, ModelUnavailable)):
        return
    if writing() or not visitor.may(Right.DELETE):
        return  # its progress is on the page, or another person has to
    with st.container(border=True, key="rebuild"):
        st.subheader(say("rebuild.title"), anchor=False)
        model_is_away = isinstance(error, ModelUnavailable)
        st.info(say("rebuild.offer_model") if model_is_away else say("rebuild.offer"), icon=":material/construction:")
        session, at = state.session().settings(), here()
        _form(session if model_is_away else as_built(at.folder, at.collection, session), ())


def _form(settings: Settings, listed: Sequence[File]) -> None:
    st.caption(say("rebuild.about"))
    st.caption(say("rebuild.loses"))
    if writing():
        st.info(say("documents.busy"), icon=":material/hourglass_top:")
        return
    if listed:
        st.caption(say("rebuild.meanwhile"))
        st.text(tell("rebuild.now", model=f"{settings.embedding_model}, {settings.embedding_precision}, {settings.vector_store}"))
    with st.form(key="rebuild_form", border=False):
        model, precision, store = st.columns([2, 1, 1])
        precisions, stores = ["auto", "float32", "bfloat16"], list(VECTOR_STORES)
        with model:
            name = st.text_input(say("rebuild.model"), settings.embedding_model, key="rebuild_model", help=say("rebuild.model_help"))
        with precision:
            arithmetic = st.selectbox(
                say("rebuild.precision"), precisions, precisions.index(settings.embedding_precision), key="rebuild_precision",
                help=say("rebuild.precision_help"),
            )  # fmt: skip
        with store:
            at = stores.index(settings.vector_store) if settings.vector_store in stores else 0  # it may be of another version
            vectors = st.selectbox(say("rebuild.store"), stores, at, key="rebuild_store", help=say("rebuild.store_help"))
        changed = ingest_fields("rebuild", settings)
        if st.form_submit_button(say("rebuild.start"), type="primary"):
            try:
                wanted = settings.changed(
                    **changed, embedding_model=(name or "").strip(), embedding_precision=arithmetic, vector_store=vectors
                )
            except RagError as error:
                show_error(error)
            else:
                start_rebuild(wanted, listed)
                st.rerun()
