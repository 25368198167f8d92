"""The documents of a collection: totals, the table, and which of them the rest of the page is about."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import streamlit as st
from babel import Locale

from rag_core.domain.documents import Document
from rag_core.engine import Engine
from rag_core.library.stored import titles
from rag_core.library.stored.snapshot import Snapshot
from ui.app import tables
from ui.app.scope import shown_date
from ui.app.state import library_folder, session
from ui.app.texts import figure, language, say, tell

TABLE_ROWS = 12  # in view; a longer table scrolls
# in the session: ids of the document in the details, and of the cell that was clicked
CHOSEN, _CLICKED = "document", "table_clicked"
NAME_PIXELS = 240  # a longer name in the table is cut there, and whole in the details


def language_name(code: str) -> str:
    """A language in words, by its ISO 639-1 code; "und" where it is not known."""
    if code == "und":
        return tell("documents.language_undetermined")
    name = Locale.parse(language()).languages.get(code)
    return name or tell("documents.language_other", code=code)


def size_in_words(size: int) -> str:
    """Bytes with their unit: 1.2 MB."""
    value = float(size)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{figure(value, '.0f' if unit == 'B' else '.1f')} {unit}"
        value /= 1000
    return f"{figure(value, '.1f')} GB"


def strategy_name(name: str) -> str:
    """A way of cutting in words."""
    return tell(f"documents.{name}")


def rows(engine: Engine, snapshot: Snapshot, documents: Sequence[Document]) -> list[dict[str, object]]:
    """One row a document: names and titles as they are, numbers as numbers, so that columns can be sorted."""
    return [
        {
            "name": d.name,
            "title": d.metadata.title,
            "date": shown_date(d.date, d.date_source),
            "pages": d.page_count,
            "passages": len(snapshot.rows_of(d.id)),
            "language": f"{'' if engine.tools.knows(d.language) else '⚠ '}{language_name(d.language)}",
            "problems": len(d.problems),
            "unreadable": len(d.unreadable_pages),
            "ocr": len(d.ocr_pages),
            "hidden": d.hidden_chars,
            "cut": strategy_name(d.strategy),
            "size": snapshot.size_bytes(d.id),
        }
        for d in documents
    ]


def show_totals(engine: Engine, snapshot: Snapshot) -> None:
    """Show the size of the collection in four numbers."""
    helps = {"passages": "documents.column_passages_help", "size": "documents.total_size_help"}
    with st.container(horizontal=True, gap="large", key="totals"):
        for name, n, form in (
            ("documents", len(snapshot.documents), "localized"),
            ("pages", sum(d.page_count for d in snapshot.documents), "localized"),
            ("passages", len(snapshot.passages), "localized"),
            ("size", size_in_words(engine.library.size_bytes()), None),
        ):
            help = say(helps[name]) if name in helps else None
            st.metric(say(f"documents.total_{name}"), n, width="content", format=form, help=help)


def show_address() -> None:
    """Say what programs and addresses call the collection, where that is not what people do."""
    name = session().collection
    if titles.title_of(library_folder(), name) != name:
        st.text(tell("collections.address", name=name))


def choose(engine: Engine, snapshot: Snapshot, documents: Sequence[Document]) -> list[Document]:
    """The table, and the document of the cell that was clicked last, or with the switch all rows that are ticked."""
    several = len(documents) > 1 and st.toggle(
        say("documents.several"), key="choose_several", help=say("documents.several_help")
    )
    listed = hashlib.sha256("\n".join(document.id for document in documents).encode()).hexdigest()[:12]
    # rows are chosen by number: another list must not inherit the choice
    chosen = tables.show(
        rows(engine, snapshot, documents),
        "documents.column_",
        f"table_{listed}_{several:d}",
        wide={"name": NAME_PIXELS, "title": "medium"},
        forms={"pages": "localized", "passages": "localized", "size": "bytes"},
        in_view=TABLE_ROWS,
        alt="documents.table",
        on_select="rerun",
        selection_mode="multi-row" if several else "single-cell",
    )
    if several:
        ticked = [documents[row] for row in chosen.selection.rows if row < len(documents)]
        if not ticked:
            st.caption(say("documents.tick"))
        return ticked
    clicked = next((documents[row].id for row, _ in chosen.selection.cells if row < len(documents)), None)
    if clicked not in (None, st.session_state.get(_CLICKED)):
        st.session_state[CHOSEN] = clicked
    st.session_state[_CLICKED] = clicked
    if len(documents) > 1:
        st.caption(say("documents.click"))
    return [next((one for one in documents if one.id == st.session_state.get(CHOSEN)), documents[0])]
