"""What is indexed: every document with what was found while reading it; metadata, deletion, and files that were interrupted."""

from __future__ import annotations

import streamlit as st

from ui import catalogue, frame, metadata, progress

st.title("Documents", anchor=False)
engine = frame.start()
snapshot = engine.library.snapshot

if not progress.running():
    catalogue.show_unfinished(engine)
if not snapshot.documents:
    st.info("There are no documents yet. Add some on the Ask page.", icon=":material/upload_file:")
    st.stop()

st.dataframe(catalogue.rows(snapshot), hide_index=True)
document = catalogue.choose(snapshot)
left, right = st.columns([3, 2], gap="large")
with left:
    catalogue.show_facts(document)
    catalogue.offer_deletion(engine, document)
with right:
    metadata.edit(engine, document)
