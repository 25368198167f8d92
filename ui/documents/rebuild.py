"""Building a whole collection anew: with other settings, another embedding model, or because it cannot be opened as it
is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from rag_core.domain.scanned import ENGINES
from rag_core.errors import LibraryBusy, LibraryError, ModelUnavailable, RagError
from rag_core.service.people import Right
from rag_core.settings import Settings
from rag_core.wiring import VECTOR_STORES, as_built
from rag_core.work.jobs import File
from ui.app import state
from ui.app.elements import shown_error, submit
from ui.app.jobs.progress import writing
from ui.app.jobs.work import here, start_rebuild
from ui.app.people import visitor
from ui.app.texts import say, tell
from ui.documents.catalogue import strategy_name
from ui.settings.fields import draw


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
        used = f"{settings.embedding_model}, {settings.embedding_precision}, {settings.vector_store}"
        st.text(tell("rebuild.now", model=used))
    with st.form(key="rebuild_form", border=False):
        model, precision, store = st.columns([2, 1, 1])
        precisions, stores = ["auto", "float32", "bfloat16"], list(VECTOR_STORES)
        at = precisions.index(settings.embedding_precision)
        # it may be of another version
        stored = stores.index(settings.vector_store) if settings.vector_store in stores else 0
        about: dict[str, dict[str, Any]] = {
            name: {"key": f"rebuild_{name}", "help": say(f"rebuild.{name}_help")}
            for name in ("model", "precision", "store")
        }
        name = model.text_input(say("rebuild.model"), settings.embedding_model, **about["model"])
        arithmetic = precision.selectbox(say("rebuild.precision"), precisions, at, **about["precision"])
        vectors = store.selectbox(say("rebuild.store"), stores, stored, **about["store"])
        changed = ingest_fields("rebuild", settings)
        if submit("rebuild.start", type="primary"):
            built = {"embedding_model": (name or "").strip(), "embedding_precision": arithmetic}
            with shown_error():
                start_rebuild(settings.changed(**changed, **built, vector_store=vectors), listed)
                st.rerun()


def ingest_fields(prefix: str, settings: Settings) -> dict[str, Any]:
    """The fields, and what they say, by the name of the setting. `prefix` tells two forms apart."""
    values: dict[str, Any] = {}
    left, right = st.columns(2)

    def field(name: str, in_words: Callable[[str], str] = str, *, disabled: bool = False) -> None:
        about: dict[str, Any] = {"key": f"{prefix}_{name}", "help": say(f"ingest.{name}_help"), "disabled": disabled}
        knob, label = Settings.knob(name), say(f"ingest.{name}")
        values[name] = draw(knob, label, getattr(settings, name), in_words, **about)

    with left:
        field("strategy", strategy_name)
        field("ocr")
        field("ocr_engine", ENGINES.__getitem__, disabled=not values["ocr"])
    with right:
        field("passage_tokens")
        field("overlap_tokens")
    return values
