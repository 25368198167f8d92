"""Acts on documents of the collection: read again, delete; on files that were interrupted: resume, discard; and on the
whole collection: delete it. What deletes asks first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from rag_core.domain.documents import Document
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.library.stored import titles
from rag_core.library.stored.entry import Accepted
from rag_core.service.people import Right
from rag_core.work.runner import drop
from ui.app import first_run, state
from ui.app.elements import asks_first, button, remember, shown_error, submit
from ui.app.jobs.background import watch
from ui.app.jobs.progress import LISTEN_SECONDS, show_names, writing
from ui.app.jobs.work import start_reread, start_resume
from ui.app.people import visitor
from ui.app.people.collections import shown_name, switch
from ui.app.texts import say, show_error, tell
from ui.documents import viewer
from ui.documents.rebuild import ingest_fields

_DONE = "deletion_done"  # in the session: what was deleted, as the key of its words and a number


def offer_reread(engine: Engine, documents: Sequence[Document]) -> None:
    """The form that has these documents read again."""
    if not visitor.may(Right.UPLOAD):
        return
    with st.expander(say("documents.reread"), icon=":material/restart_alt:", key="reread"):
        st.caption(say("documents.reread_about"))
        locked = {entry.document.id for entry in engine.library.snapshot.entries if entry.source.needs_password}
        with st.form(key="reread_form", border=False):
            changed = ingest_fields("reread", state.session().settings())
            named = [(document.id, document.name) for document in documents if document.id in locked]
            passwords = _ask_passwords("documents.reread_password", "reread_password", named)
            if submit("documents.reread_start", type="primary"):
                with shown_error():
                    start_reread(documents, state.session().settings().changed(**changed), passwords)
                    st.rerun()


def _ask_passwords(label: str, key: str, locked: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The passwords that are given for these documents, by id; each is an id and a name."""
    given = {}
    for id, name in locked:
        st.text(name)
        if password := st.text_input(say(label), type="password", key=f"{key}_{id}"):
            given[id] = password
    return given


def offer_deletion(engine: Engine, documents: Sequence[Document]) -> None:
    """Delete, after one more question."""
    if not visitor.may(Right.DELETE):
        return
    many, busy = len(documents) > 1, writing()
    key, of = ("delete_selection", "_many") if many else (f"delete_{documents[0].id}", "")
    if not asks_first(f"documents.delete{of}", key, disabled=busy, help="documents.busy" if busy else ""):
        return
    st.warning(say(f"documents.delete{of}_warning", n=len(documents)), icon=":material/warning:")
    show_names([document.name for document in documents])
    with st.container(horizontal=True):
        button(f"documents.keep{of}", f"keep_{key}", remember, key, False)
        sure = button(f"documents.delete{of}_sure", f"sure_{key}", type="primary", disabled=busy)
        about = "documents.delete_everywhere_help"
        everywhere = button("documents.delete_everywhere", f"everywhere_{key}", disabled=busy, help=about)
    if sure or everywhere:
        remember(key, False)
        write(lambda: (_erase if everywhere else _delete)(engine, documents))


def show_unfinished(engine: Engine) -> None:
    """Files that were accepted and are not in the library yet, with a way to go on, and one to give up."""
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
            # another process may be indexing them: to resume or discard them would wait for it
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
            if visitor.may(Right.DELETE) and button("documents.discard_half", "discard_half", icon="delete"):
                write(lambda: engine.library.discard([row.id for row in half_rebuilt]))


def _show_in_work(rows: Sequence[Accepted], writer: str) -> None:
    st.info(say("documents.in_work", n=len(rows)), icon=":material/pending:")
    st.text(tell("documents.in_work_about", writer=writer))
    show_names([row.name for row in rows])


def _show_new(rows: Sequence[Accepted]) -> None:
    with st.form(key="resume", border=False):
        st.warning(say("documents.unfinished", n=len(rows)), icon=":material/pending:")
        st.caption(say("documents.unfinished_about"))
        show_names([row.name for row in rows if not row.needs_password])
        locked = [(row.id, row.name) for row in rows if row.needs_password]
        passwords = _ask_passwords("documents.resume_password", "resume_password", locked)
        if submit("documents.resume", "play_arrow"):
            start_resume(rows, passwords)
            st.rerun()


def _offer_discard(engine: Engine, rows: Sequence[Accepted]) -> None:
    if not visitor.may(Right.DELETE):
        return
    if not asks_first("documents.discard", "discarding", type="tertiary"):
        return
    st.warning(say("documents.discard_warning"), icon=":material/warning:")
    with st.container(horizontal=True):
        button("documents.discard_keep", "discard_keep", remember, "discarding", False)
        sure = button("documents.discard_sure", "discard_sure", type="primary")
    if sure:
        remember("discarding", False)
        write(lambda: engine.library.discard([row.id for row in rows]))


def write(change: Callable[[], None]) -> None:
    """Change the library, which may wait for another process, and show the page anew; or say why not."""
    with shown_error():
        with st.spinner(say("documents.saving")):
            change()
        st.rerun()


def _delete(engine: Engine, documents: Sequence[Document]) -> None:
    engine.library.delete(*(document.id for document in documents))
    remember(_DONE, ("documents.deleted_now", len(documents)))


def _erase(engine: Engine, documents: Sequence[Document]) -> None:
    """Delete documents everywhere, also from what this session remembers of its questions."""
    engine.library.erase(*(document.id for document in documents))
    remember(_DONE, ("documents.deleted_now", len(documents)))
    viewer.forget()
    session = state.session()
    session.cancel()
    session.asked, session.history, session.stopped = None, [], ""


def show_done() -> None:
    """Say once what was deleted."""
    if done := st.session_state.pop(_DONE, None):
        st.toast(say(done[0], n=done[1]), icon=":material/delete:")


def offer_dropping() -> None:
    """The form that deletes the collection, folded."""
    if not visitor.may(Right.DELETE):
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
        if submit("dropping.sure", "delete_forever", key="drop_sure"):
            _drop(name, confirmed=" ".join((typed or "").split()) in (shown, name))


def _drop(name: str, *, confirmed: bool) -> None:
    if not confirmed:
        st.warning(say("dropping.wrong"), icon=":material/warning:")
        return
    with shown_error():
        with st.spinner(say("dropping.working")):
            drop(state.library_folder(), name, state.runner())
        viewer.forget()
        session = state.session()
        session.cancel()
        session.asked, session.stopped = None, ""
        session.history = [asked for asked in session.history if asked.collection != name]
        remember(_DONE, ("dropping.done", 1))
        switch(first_run.start_collection(state.library_folder()))
        st.rerun()
