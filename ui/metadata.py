"""The form for what is known about a document beside its text."""

from __future__ import annotations

import streamlit as st

from rag_core.domain import Document, Metadata
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.ingest.sources import described
from ui.problems import show_error

OWN = ("title", "date", "authority", "verified")


def edit(engine: Engine, document: Document) -> None:
    """Title, date, authority, verified, and free keys; saved as a whole."""
    known = document.metadata
    st.subheader("What you know about it", anchor=False)
    with st.form(f"metadata_{document.id}"):
        title = st.text_input("Title", known.title, key=f"title_{document.id}")
        date = st.text_input("Date", known.date, key=f"date_{document.id}", help="YYYY, YYYY-MM or YYYY-MM-DD.", placeholder="2026-03-01")
        authority = st.text_input(
            "Authority", "" if known.authority is None else f"{known.authority:g}", key=f"authority_{document.id}",
            help="From 0 to 1, or empty. It can raise the document's passages (authority weight).",
        )  # fmt: skip
        verified = st.checkbox("Verified", known.verified, key=f"verified_{document.id}")
        free = st.text_area(
            "Your own values", "\n".join(f"{key}={value}" for key, value in known.values.items()), key=f"free_{document.id}",
            help="One key=value in each line, such as class=10. Questions can be limited to them.",
        )  # fmt: skip
        if st.form_submit_button("Save"):
            try:
                values = {"title": title or "", "date": date or "", "authority": authority or "", "verified": str(verified)}
                engine.library.set_metadata(document.id, described(Metadata(), values | free_values(free or "")), wait=5)
            except RagError as error:
                show_error(error)
            else:
                st.rerun()


def free_values(text: str) -> dict[str, str]:
    """The free values from lines of key=value.

    Raises:
        InvalidInput: a line without a key, or with a key that has its own field.
    """
    values = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not key:
            raise InvalidInput(f"{line!r} is not key=value.", remedy="Write one key=value in each line, such as class=10.")
        if key in OWN:
            raise InvalidInput(f"{key!r} has its own field.", remedy="Fill that field, or use another key.")
        values[key] = value
    return values
