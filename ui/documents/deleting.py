"""Deletes documents on the Documents page, with a way back, and the whole collection after one more question."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from rag_core.domain.acts import actor
from rag_core.domain.documents import Document
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.private import HeldFile
from rag_core.library.disk.room import is_short
from rag_core.library.stored import titles
from rag_core.library.stored.bounds import MAX_BYTES
from rag_core.library.stored.sources import Source
from rag_core.service.people import Right
from rag_core.work.runner import drop
from ui.app import first_run, state
from ui.app.jobs.finished import show_names
from ui.app.jobs.progress import writing
from ui.app.jobs.work import start_add
from ui.app.people import visitor
from ui.app.people.collections import shown_name, switch
from ui.app.texts import say, show_error, tell
from ui.documents import viewer

HELD_SECONDS = 600.0  # ten minutes: long enough to notice, and then a deleted file is gone
_DELETED = "deleted_documents"


@dataclass(frozen=True, slots=True)
class Deleted:
    """The documents that were deleted last: their names, and what brings them back; no sources where nothing does, or
    does any more.

    A timer empties the sources, so that the files go in time though nobody looks at the page.
    """

    collection: str
    names: tuple[str, ...]
    sources: list[Source]

    def hold(self) -> None:
        """Begin to count the time."""
        timer = threading.Timer(HELD_SECONDS, self.sources.clear)
        timer.daemon = True
        timer.start()


def held(engine: Engine, documents: Sequence[Document]) -> tuple[Source, ...]:
    """The documents as they were handed in, with what people wrote about them since; none where one of them could not
    come back whole.

    None either where the disk is full, or nearly: deleting is to free room.

    Raises:
        RagError: a stored file is damaged, or the disk takes no copy.
    """
    ids, folder, found, total = {document.id for document in documents}, state.library_folder(), [], 0
    if is_short(folder):
        return ()
    for entry in engine.library.snapshot.entries:
        if entry.document.id not in ids:
            continue
        if entry.source.needs_password:
            return ()
        data = engine.library.source(entry.document.id)
        total += len(data)
        if total > MAX_BYTES:
            return ()
        with storage_problems("keeping a deleted file for a while"):
            kept = HeldFile([data], folder)
        source = entry.source
        found.append(
            Source(
                source.name,
                kept,
                source.kind,
                source.caller_id,
                source.language,
                entry.document.metadata,
                strategy=source.strategy,
            )
        )
    return tuple(found)


def remember(names: Sequence[str], sources: tuple[Source, ...] = ()) -> None:
    """Note what was deleted; what an earlier deletion held goes."""
    forget()
    deleted = st.session_state[_DELETED] = Deleted(state.session().collection, tuple(names), list(sources))
    if sources:
        deleted.hold()


def show() -> None:
    """Name what was deleted last, with the way back while there is one; it stays until it is closed or undone."""
    deleted: Deleted | None = st.session_state.get(_DELETED)
    if deleted is None or deleted.collection != state.session().collection:
        return
    with st.container(key="deleted", horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(say("documents.deleted_now", n=len(deleted.names)), icon=":material/check:", color="green")
        show_names(deleted.names)
        if deleted.sources:
            st.button(
                say("documents.undo"),
                key="undo_deletion",
                icon=":material/undo:",
                on_click=_bring_back,
                disabled=writing(),
                help=say("documents.undo_help", n=HELD_SECONDS / 60),
                width="content",
            )
        st.button(
            say("documents.deleted_close"), key="close_deleted", type="tertiary", on_click=forget, width="content"
        )


def forget() -> None:
    """Let go of what was deleted, with the files."""
    deleted: Deleted | None = st.session_state.pop(_DELETED, None)
    if deleted is not None:
        deleted.sources.clear()


def _bring_back() -> None:
    deleted: Deleted | None = st.session_state.get(_DELETED)
    # the page may have stood for longer than they are held
    if deleted is not None and (sources := list(deleted.sources)):
        start_add(sources)
        forget()


_DONE = "collection_dropped"


def show_done() -> None:
    """Say once that the collection that was open is deleted."""
    if st.session_state.pop(_DONE, False):
        st.success(say("dropping.done"), icon=":material/delete:")


def offer() -> None:
    """The form, folded; a visitor of a shared demo ends the visit instead."""
    if actor().home or not visitor.may(Right.DELETE):
        return
    name = state.session().collection
    with (
        st.expander(say("dropping.title"), icon=":material/delete_forever:", key=f"drop_{name}"),
        st.form(key="drop_form", border=False),
    ):
        st.caption(say("dropping.about"))
        shown = shown_name(name)
        st.text(tell("dropping.name", name=shown))
        typed = st.text_input(
            say("dropping.label"), key=f"drop_name_{name}", label_visibility="collapsed", max_chars=titles.MAX_CHARS
        )
        if st.form_submit_button(say("dropping.sure"), key="drop_sure", icon=":material/delete_forever:"):
            _take(name, confirmed=" ".join((typed or "").split()) in (shown, name))


def _take(name: str, *, confirmed: bool) -> None:
    if not confirmed:
        st.warning(say("dropping.wrong"), icon=":material/warning:")
        return
    try:
        with st.spinner(say("dropping.working")):
            drop(state.library_folder(), name, state.runner())
    except RagError as error:
        show_error(error)
        return
    viewer.forget()
    forget()
    session = state.session()
    session.cancel()
    session.asked, session.stopped = None, ""
    session.history = [asked for asked in session.history if asked.collection != name]
    st.session_state[_DONE] = True
    switch(first_run.start_collection(state.library_folder()))
    st.rerun()
