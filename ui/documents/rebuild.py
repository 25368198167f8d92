"""Building a whole collection anew: with other settings, another embedding model, or because it cannot be opened as it
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag_core.domain.scanned import ENGINES
from rag_core.errors import LibraryBusy, LibraryError, ModelUnavailable, RagError
from rag_core.service.people import Right
from rag_core.settings import Knob, Settings
from rag_core.wiring import VECTOR_STORES, as_built
from rag_core.work.jobs import File
from ui.app import state
from ui.app.jobs.progress import writing
from ui.app.jobs.work import here, start_rebuild
from ui.app.people import visitor
from ui.app.texts import say, show_error, tell
from ui.documents.catalogue import strategy_name


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
        st.text(
            tell(
                "rebuild.now",
                model=f"{settings.embedding_model}, {settings.embedding_precision}, {settings.vector_store}",
            )
        )
    with st.form(key="rebuild_form", border=False):
        model, precision, store = st.columns([2, 1, 1])
        precisions, stores = ["auto", "float32", "bfloat16"], list(VECTOR_STORES)
        with model:
            name = st.text_input(
                say("rebuild.model"), settings.embedding_model, key="rebuild_model", help=say("rebuild.model_help")
            )
        with precision:
            arithmetic = st.selectbox(
                say("rebuild.precision"),
                precisions,
                precisions.index(settings.embedding_precision),
                key="rebuild_precision",
                help=say("rebuild.precision_help"),
            )
        with store:
            # it may be of another version
            at = stores.index(settings.vector_store) if settings.vector_store in stores else 0
            vectors = st.selectbox(
                say("rebuild.store"), stores, at, key="rebuild_store", help=say("rebuild.store_help")
            )
        changed = ingest_fields("rebuild", settings)
        if st.form_submit_button(say("rebuild.start"), type="primary"):
            try:
                wanted = settings.changed(
                    **changed,
                    embedding_model=(name or "").strip(),
                    embedding_precision=arithmetic,
                    vector_store=vectors,
                )
            except RagError as error:
                show_error(error)
            else:
                start_rebuild(wanted, listed)
                st.rerun()


def ingest_fields(prefix: str, settings: Settings) -> dict[str, Any]:
    """The fields, and what they say, by the name of the setting. `prefix` tells two forms apart."""
    knobs = {knob.name: knob for knob in Settings.knobs()}
    values: dict[str, Any] = {}
    left, right = st.columns(2)
    with left:
        options = list(knobs["strategy"].options)
        values["strategy"] = st.selectbox(
            say("ingest.strategy"),
            options,
            options.index(settings.strategy),
            format_func=strategy_name,
            key=f"{prefix}_strategy",
            help=say("ingest.strategy_help"),
        )
        values["ocr"] = st.toggle(say("ingest.ocr"), settings.ocr, key=f"{prefix}_ocr", help=say("ingest.ocr_help"))
        engines = list(knobs["ocr_engine"].options)
        values["ocr_engine"] = st.selectbox(
            say("ingest.ocr_engine"),
            engines,
            engines.index(settings.ocr_engine),
            format_func=ENGINES.__getitem__,
            key=f"{prefix}_ocr_engine",
            help=say("ingest.ocr_engine_help"),
            disabled=not values["ocr"],
        )
    with right:
        low, high, step = _whole(knobs["passage_tokens"])
        values["passage_tokens"] = st.slider(
            say("ingest.passage_tokens"),
            low,
            high,
            settings.passage_tokens,
            step,
            key=f"{prefix}_passage_tokens",
            help=say("ingest.passage_tokens_help"),
        )
        low, high, step = _whole(knobs["overlap_tokens"])
        values["overlap_tokens"] = st.slider(
            say("ingest.overlap_tokens"),
            low,
            high,
            settings.overlap_tokens,
            step,
            key=f"{prefix}_overlap_tokens",
            help=say("ingest.overlap_tokens_help"),
        )
    return values


def _whole(knob: Knob) -> tuple[int, int, int]:
    assert knob.low is not None
    assert knob.high is not None
    return int(knob.low), int(knob.high), int(knob.step or 1)
