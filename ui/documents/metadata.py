"""The form for what is known about a document beside its text."""

from __future__ import annotations

import streamlit as st

from rag_core.domain.documents import Document, Metadata
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.library.stored.sources import described
from rag_core.service.callers.people import Right
from ui.app.dates import shown_date
from ui.app.jobs.progress import writing
from ui.app.people import visitor
from ui.app.problems import show_error
from ui.app.texts import say, tell
from ui.documents.keeping import WAIT_SECONDS, write

OWN = ("title", "date", "authority", "verified")


def edit(engine: Engine, document: Document) -> None:
    """Title, date, authority, verified, and free keys; saved as a whole."""
    if not visitor.may(Right.UPLOAD):
        return
    known, busy = document.metadata, writing()
    st.subheader(say("metadata.heading"), anchor=False)
    with st.form(key=f"metadata_{document.id}"):
        title = st.text_input(say("metadata.title"), known.title, key=f"title_{document.id}", help=say("metadata.title_help"))
        left, right = st.columns(2)
        with left:
            date = st.text_input(
                say("metadata.date"), known.date, key=f"date_{document.id}", help=say("metadata.date_help"),
                placeholder=shown_date(document.date, document.date_source) or tell("metadata.date_example"),
            )  # fmt: skip
        with right:
            authority = st.text_input(
                say("metadata.authority"), "" if known.authority is None else f"{known.authority:g}", key=f"authority_{document.id}",
                help=say("metadata.authority_help"),
            )  # fmt: skip
        verified = st.checkbox(say("metadata.verified"), known.verified, key=f"verified_{document.id}", help=say("metadata.verified_help"))
        free = st.text_area(
            say("metadata.free"), "\n".join(f"{key}={value}" for key, value in known.values.items()), key=f"free_{document.id}",
            help=say("metadata.free_help"),
        )  # fmt: skip
        saved = st.form_submit_button(say("metadata.save"), disabled=busy, help=say("documents.busy") if busy else None)
    if not saved:
        return
    try:
        values = {"title": title or "", "date": date or "", "authority": authority or "", "verified": str(verified)}
        wanted = described(Metadata(), values | free_values(free or ""))
    except RagError as error:
        show_error(error)
    else:
        write(lambda: engine.library.set_metadata(document.id, wanted, wait=WAIT_SECONDS))


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
