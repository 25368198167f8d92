"""The documents: each with what was found while reading it and what can be done about it; and files that were
interrupted.
"""

from __future__ import annotations

import streamlit as st

from rag_core.work.jobs import File
from ui import frame
from ui.app.jobs import progress
from ui.app.texts import say
from ui.documents import catalogue, details, keeping, rebuild, watched

WIDTH = 1500  # pixels, as on the Ask page


def page() -> None:
    """The page from top to bottom."""
    st.title(say("documents.title"), anchor=False)
    engine = frame.start()
    snapshot = engine.library.snapshot
    progress.upload_field()
    keeping.show_done()
    keeping.show_unfinished(engine)
    watched.show(engine)
    if not snapshot.documents:
        said = say("documents.reading") if progress.writing() else say("documents.empty")
        st.info(said, icon=":material/upload_file:")
        keeping.offer_dropping()
        return
    catalogue.show_totals(engine, snapshot)
    catalogue.show_address()
    chosen = catalogue.choose(engine, snapshot, snapshot.documents)
    if len(chosen) == 1:
        left, right = st.columns([3, 2], gap="large")
        with left:
            details.show_findings(engine, chosen[0])
        with right:
            details.edit(engine, chosen[0])
        details.show_pages(engine, chosen[0])
    elif chosen:
        st.header(say("documents.selected", n=len(chosen)), anchor=False)
        progress.show_names([one.name for one in chosen])
    if chosen:
        keeping.offer_reread(engine, chosen)
        keeping.offer_deletion(engine, chosen)
    st.divider()
    rebuild.offer_rebuild([File(one.name, one.id) for one in snapshot.documents])
    keeping.offer_dropping()


with st.container(width=WIDTH):
    page()
