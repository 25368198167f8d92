"""Actions on documents of the collection: read again, delete; and on files that were interrupted: resume, discard."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from rag_core.domain.documents import Document
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.library.stored.entry import Accepted
from rag_core.service.people import Right
from ui.app import state
from ui.app.jobs.background import watch
from ui.app.jobs.finished import show_names
from ui.app.jobs.progress import LISTEN_SECONDS, writing
from ui.app.jobs.work import start_reread, start_resume
from ui.app.people import visitor
from ui.app.texts import say, show_error, tell
from ui.documents import deleting, viewer
from ui.documents.rebuild import ingest_fields


def offer_reread(engine: Engine, documents: Sequence[Document]) -> None:
    """The form that has these documents read again."""
    if not visitor.may(Right.UPLOAD):
        return
    with st.expander(say("documents.reread"), icon=":material/restart_alt:", key="reread"):
        st.caption(say("documents.reread_about"))
        locked = {entry.document.id for entry in engine.library.snapshot.entries if entry.source.needs_password}
        with st.form(key="reread_form", border=False):
            changed = ingest_fields("reread", state.session().settings())
            passwords = {}
            for document in documents:
                if document.id in locked:
                    st.text(document.name)
                    key = f"reread_password_{document.id}"
                    passwords[document.id] = (
                        st.text_input(say("documents.reread_password"), type="password", key=key) or ""
                    )
            if st.form_submit_button(say("documents.reread_start"), type="primary"):
                try:
                    settings = state.session().settings().changed(**changed)
                except RagError as error:
                    show_error(error)
                else:
                    start_reread(documents, settings, {id: password for id, password in passwords.items() if password})
                    st.rerun()


def offer_deletion(engine: Engine, documents: Sequence[Document]) -> None:
    """Delete, after one more question."""
    if not visitor.may(Right.DELETE):
        return
    many, busy = len(documents) > 1, writing()
    key = f"delete_{'selection' if many else documents[0].id}"
    if not st.session_state.get(key):
        st.button(
            say("documents.delete_many") if many else say("documents.delete"),
            key=f"ask_{key}",
            icon=":material/delete:",
            on_click=_set,
            args=(key, True),
            disabled=busy,
            help=say("documents.busy") if busy else None,
        )
        return
    st.warning(
        say("documents.delete_many_warning", n=len(documents)) if many else say("documents.delete_warning"),
        icon=":material/warning:",
    )
    names = [document.name for document in documents]
    show_names(names)
    with st.container(horizontal=True):
        st.button(
            say("documents.keep_many") if many else say("documents.keep"),
            key=f"keep_{key}",
            on_click=_set,
            args=(key, False),
        )
        sure = st.button(
            say("documents.delete_many_sure") if many else say("documents.delete_sure"),
            key=f"sure_{key}",
            type="primary",
            disabled=busy,
        )
        everywhere = st.button(
            say("documents.delete_everywhere"),
            key=f"everywhere_{key}",
            disabled=busy,
            help=say("documents.delete_everywhere_help"),
        )
    if sure:
        _set(key, False)
        write(lambda: _delete(engine, documents))
    if everywhere:
        _set(key, False)
        write(lambda: _erase(engine, documents))


def show_unfinished(engine: Engine) -> None:
    """Files that were accepted and are not in the library yet, with a way to go on, and one to give up; the same for
    half a rebuild.
    """
    if writing() or not visitor.may(Right.UPLOAD):
        return  # they are being indexed, or by others
    writer, known = engine.library.writer(), {document.id for document in engine.library.snapshot.documents}
    try:
        waiting = engine.library.unfinished()
    except RagError as error:
        show_error(error)  # the form for building anew stands on the same page
        return
    if waiting and writer:
        with st.container(border=True, key="in_work"):
            watch(lambda: not engine.library.writer(), lambda: _show_in_work(waiting, writer), LISTEN_SECONDS)
        return
    new = [row for row in waiting if row.id not in known]
    half_rebuilt = [row for row in waiting if row.id in known]
    if new:
        with st.container(border=True, key="unfinished"):
            _show_new(new)
            _offer_discard(engine, new)
    if half_rebuilt:
        with st.container(border=True, key="half_rebuilt"):
            st.warning(say("documents.half_rebuilt", n=len(half_rebuilt)), icon=":material/pending:")
            st.caption(say("documents.half_rebuilt_about"))
            if visitor.may(Right.DELETE) and st.button(
                say("documents.discard_half"), key="discard_half", icon=":material/delete:"
            ):
                write(lambda: engine.library.discard([row.id for row in half_rebuilt]))


def _show_in_work(rows: Sequence[Accepted], writer: str) -> None:
    """Files that another process may be indexing: to resume or discard them would wait for it."""
    st.info(say("documents.in_work", n=len(rows)), icon=":material/pending:")
    st.text(tell("documents.in_work_about", writer=writer))
    show_names([row.name for row in rows])


def _show_new(rows: Sequence[Accepted]) -> None:
    with st.form(key="resume", border=False):
        st.warning(say("documents.unfinished", n=len(rows)), icon=":material/pending:")
        st.caption(say("documents.unfinished_about"))
        show_names([row.name for row in rows if not row.needs_password])
        passwords = {}
        for number, row in enumerate(row for row in rows if row.needs_password):
            st.text(row.name)
            passwords[row.id] = (
                st.text_input(say("documents.resume_password"), type="password", key=f"resume_password_{number}") or ""
            )
        if st.form_submit_button(say("documents.resume"), icon=":material/play_arrow:"):
            start_resume(rows, {id: password for id, password in passwords.items() if password})
            st.rerun()


def _offer_discard(engine: Engine, rows: Sequence[Accepted]) -> None:
    if not visitor.may(Right.DELETE):
        return
    if not st.session_state.get("discarding"):
        st.button(
            say("documents.discard"),
            key="discard",
            type="tertiary",
            icon=":material/delete:",
            on_click=_set,
            args=("discarding", True),
        )
        return
    st.warning(say("documents.discard_warning"), icon=":material/warning:")
    with st.container(horizontal=True):
        st.button(say("documents.discard_keep"), key="discard_keep", on_click=_set, args=("discarding", False))
        sure = st.button(say("documents.discard_sure"), key="discard_sure", type="primary")
    if sure:
        _set("discarding", False)
        write(lambda: engine.library.discard([row.id for row in rows]))


def write(change: Callable[[], None]) -> None:
    """Make a change to the library, which may wait for another process, and show the page anew; or say why it could not
    be made.
    """
    try:
        with st.spinner(say("documents.saving")):
            change()
    except RagError as error:
        show_error(error)
    else:
        st.rerun()


def _delete(engine: Engine, documents: Sequence[Document]) -> None:
    """Delete documents, and hold their files for a while, so that it can be undone."""
    try:
        sources = deleting.held(engine, documents)
    except RagError:  # a damaged file can be deleted all the same
        sources = ()
    engine.library.delete(*(document.id for document in documents))
    deleting.remember([document.name for document in documents], sources)


def _erase(engine: Engine, documents: Sequence[Document]) -> None:
    """Delete documents everywhere, also from what this session remembers of its questions."""
    engine.library.erase(*(document.id for document in documents))
    deleting.remember([document.name for document in documents])  # no file is held, nor one of an earlier deletion
    viewer.forget()
    session = state.session()
    session.cancel()
    session.asked, session.history, session.stopped = None, [], ""


def _set(key: str, value: bool) -> None:
    st.session_state[key] = value
