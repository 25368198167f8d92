"""The documents of a library: table, facts, deletion, and files that were interrupted."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from rag_core.domain import Document
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.ingest.pdf import page_list
from rag_core.ingest.snapshot import Snapshot
from ui.naming import unique_names
from ui.problems import show_error
from ui.progress import start_resume


def rows(snapshot: Snapshot) -> list[dict[str, object]]:
    """One row a document."""
    passages = Counter(passage.document for passage in snapshot.passages)
    return [
        {
            "name": d.name, "title": d.title, "language": d.language, "pages": d.page_count, "passages": passages[d.id],
            "OCR pages": len(d.ocr_pages), "unreadable": len(d.unreadable_pages), "hidden chars": d.hidden_chars,
            "problems": len(d.problems), "cut as": d.strategy, "date": d.metadata.date, "kB": round(d.size_bytes / 1000, 1),
        }
        for d in snapshot.documents
    ]  # fmt: skip


def choose(snapshot: Snapshot) -> Document:
    """The document that the rest of the page is about."""
    names = unique_names(snapshot.documents)
    chosen = st.selectbox("Document", list(names), format_func=lambda id: names.get(id, "deleted"), key="document")
    return snapshot.document(chosen if chosen in names else next(iter(names)))


def show_facts(document: Document) -> None:
    """What reading it found, in words."""
    st.subheader("What reading it found", anchor=False)
    facts = [
        f"Title: {document.title}",
        f"Pages: {document.page_count}. Language: {document.language}.",
        f"Cut as {document.strategy}: {document.strategy_evidence}",
    ]
    if document.ocr_pages:
        facts.append(f"Read by OCR from pictures: {page_list(document.ocr_pages)}.")
    if document.unreadable_pages:
        facts.append(f"Could not be read: {page_list(document.unreadable_pages)}. An answer that stands there cannot be found.")
    if document.hidden_chars:
        facts.append(f"Characters that cannot be seen on the page: {document.hidden_chars}.")
    facts += [f"Problem: {problem}" for problem in document.problems]
    for fact in facts:
        st.text(fact)


def offer_deletion(engine: Engine, document: Document) -> None:
    """Delete, after one more question."""
    asked = f"delete_{document.id}"
    if not st.session_state.get(asked):
        st.button("Delete this document…", key=f"ask_{asked}", icon=":material/delete:", on_click=_set, args=(asked, True))
        return
    st.warning("Its file, passages and index entries are removed.", icon=":material/warning:")
    with st.container(horizontal=True):
        st.button("Keep it", key=f"keep_{asked}", on_click=_set, args=(asked, False))
        if st.button("Delete it", key=f"sure_{asked}", type="primary"):
            _set(asked, False)
            try:
                engine.library.delete(document.id, wait=5)
            except RagError as error:
                show_error(error)
            else:
                st.rerun()


def _set(key: str, value: bool) -> None:
    st.session_state[key] = value


def show_unfinished(engine: Engine) -> None:
    """Files that were accepted and are not in the library yet, with a way to go on."""
    rows = engine.library.unfinished()
    if not rows:
        return
    with st.form("resume"):
        st.warning(f"Files that were interrupted before they were indexed: {len(rows):d}", icon=":material/pending:")
        passwords = {}
        for number, row in enumerate(rows):
            st.text(row.name)
            if row.needs_password:
                passwords[row.id] = st.text_input("Password of this file", type="password", key=f"resume_password_{number}") or ""
        if st.form_submit_button("Resume"):
            start_resume(passwords)
            st.rerun()
