"""A viewer over a whole document: its pages, its headings, a search with every hit marked, and the marks of all
citations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rag_core.compression.citing import boxes_of
from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Box, Document, Page, Span
from rag_core.engine import Engine
from rag_core.ingest.passages.context import SECTION_MARK
from rag_core.ingest.reading.pdf_facts import PDF, form_of
from rag_core.library.stored.snapshot import Snapshot
from ui.app import state, tables
from ui.app.elements import button, remember, shown_error
from ui.app.texts import say
from ui.documents import original
from ui.documents.viewer import picture, show_picture

MAX_ROWS = 1_000  # that a list has; nobody reads more
STEP = "\u2003"  # an em space for each level of a heading


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list: its page, its text, and its place in the page's text; None for a heading."""

    page: int
    text: str
    span: Span | None = None


def outline(snapshot: Snapshot, document: Document) -> tuple[Row, ...]:
    """Headings as reading found them, each once, set in by its level, with the page where what it heads begins."""
    seen: dict[str, Row] = {}
    for passage in snapshot.passages_of(document.id):
        parts = passage.section.split(SECTION_MARK) if passage.section else []
        for level, part in enumerate(parts):
            seen.setdefault(SECTION_MARK.join(parts[: level + 1]), Row(passage.page, STEP * level + part))
    return tuple(seen.values())[:MAX_ROWS]


AROUND = 40  # characters of context on each side of a hit in the list
ROWS = 5  # that the list shows at once
WIDTHS = (2, 3)  # the search and the page beside it
Marks = Sequence[tuple[int, Box]]
CHOSEN = "whole_chosen"  # in the session: the document to open, and its page


def offer(engine: Engine, document_id: str, page: int, marks: Marks = ()) -> None:
    """A button that opens the document at a page; `marks` are those of all that is cited from it."""
    this = (document_id, page)
    button("whole.open", "whole_open", remember, CHOSEN, this, icon="menu_book", type="tertiary")
    # at the click only: whoever closed it is not shown it again
    if st.session_state.pop(CHOSEN, None) == this:
        st.dialog(say("whole.title"), width="large")(_open)(engine, document_id, page, marks)


def _open(engine: Engine, document_id: str, page: int, marks: Marks) -> None:
    with shown_error():  # deleted meanwhile, or damaged on disk
        document = engine.library.view.document(document_id)
        st.text(document.title)
        _show(engine, document, page, marks)


def _show(engine: Engine, document: Document, first: int, marks: Marks) -> None:
    key = f"whole_page_{document.id}_{first}"
    side, sheet = st.columns(WIDTHS, gap="large")
    with side:
        rows = _list(engine, document, key)
        st.session_state.setdefault(key, first)
        last = document.page_count
        number = int(st.number_input(say("whole.page", all=last), 1, last, step=1, key=key))
        _show_turning(key, number, last, sorted({row.page for row in rows if row.span}))
        shown = engine.library.view.page(document.id, number)
        here = [row.span for row in rows if row.page == number and row.span is not None]
        if here:
            boxes = marked(engine, document, here)
            st.caption(say("whole.marked_hits", n=len(here)))
        else:
            boxes = tuple(box for page, box in marks if page == number)
            _show_cited(sorted({page for page, _ in marks}), key)
            st.caption(say("whole.marked_cited") if boxes else say("whole.marked_none"))
        if shown.width and form_of(document.name) == PDF:  # a browser's viewer opens nothing else
            st.link_button(
                say("whole.pdf"),
                original.address(state.session().collection, document.id, number),
                icon=":material/open_in_new:",
                type="tertiary",
                help=say("whole.pdf_help"),
            )
    with sheet:
        _show_page(document, shown, boxes)


def _show_turning(key: str, page: int, pages: int, found: Sequence[int]) -> None:
    """Buttons to the page before and after, and to the pages of the list around it, each with a key."""
    before = next((one for one in found[::-1] if one < page), None)
    after = next((one for one in found if one > page), None)
    turns: list[tuple[str, str, int | None]] = [
        ("previous", "PageUp", page - 1 if page > 1 else None),
        ("next", "PageDown", page + 1 if page < pages else None),
    ]
    if found:
        turns += [("previous_hit", "Shift+PageUp", before), ("next_hit", "Shift+PageDown", after)]
    with st.container(horizontal=True, gap="small", key="whole_turn"):
        for name, pressed, to in turns:
            about: dict[str, Any] = {"help": f"whole.{name}_help", "shortcut": pressed, "disabled": to is None}
            button(f"whole.{name}", f"{key}_{name}", remember, key, to or page, type="tertiary", **about)


def _list(engine: Engine, document: Document, key: str) -> tuple[Row, ...]:
    """The places that were looked for, else the headings of the document; a chosen row turns to its page."""
    label, example = say("whole.search"), say("whole.search_example")
    words = (st.text_input(label, key=f"{key}_words", type="search", placeholder=example) or "").strip()
    with st.spinner(say("whole.searching")):
        place = str(state.library_folder()), state.session().collection, document.id
        rows = _rows(*place, words, document, engine)
    if not rows:
        if words:
            st.caption(say("whole.no_hit"))
        return ()
    if words:
        cut, pages = len(rows) >= MAX_ROWS, len({row.page for row in rows})
        st.caption(say("whole.hits_cut", n=len(rows)) if cut else say("whole.hits", n=len(rows), pages=pages))
    tables.show_rows(
        [{"page": row.page, "text": row.text} for row in rows],
        "whole.column_",
        f"{key}_rows_{bool(words):d}",
        lambda row: remember(key, rows[row].page),
        wide={"page": 70},
        in_view=ROWS,
        alt="whole.hits_alt",
    )
    return rows


@st.cache_data(max_entries=64, show_spinner=False)
def _rows(folder: str, collection: str, id: str, words: str, _document: Document, _engine: Engine) -> tuple[Row, ...]:
    """Remembered by the document's id, which is the SHA-256 of its bytes, within its library."""
    del folder, collection, id  # parts of the key
    return find(_engine, _document, words) if words else outline(_engine.library.view, _document)


def find(engine: Engine, document: Document, words: str) -> tuple[Row, ...]:
    """Every place of the document's own text where these words stand in order, whatever their case and line breaks."""
    if not words.strip():
        return ()
    wanted, found = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE), list[Row]()
    for page in range(1, document.page_count + 1):
        text = engine.library.view.page_text(document.id, page)
        found += [Row(page, _context(text, *hit.span()), Span(page, *hit.span())) for hit in wanted.finditer(text)]
        if len(found) >= MAX_ROWS:
            break
    return tuple(found[:MAX_ROWS])


def marked(engine: Engine, document: Document, hits: Sequence[Span]) -> tuple[Box, ...]:
    """The rectangles of the words that hold these hits; a hit whose place is not certain has none."""
    evidence = (Evidence("", document.id, "-", (hit,)) for hit in hits)
    return tuple(box for one in evidence for _, box in boxes_of(one, engine.library.view.words))


def _context(text: str, start: int, end: int) -> str:
    return " ".join(f"…{text[max(0, start - AROUND) : end + AROUND]}…".split())


def _show_cited(pages: Sequence[int], key: str) -> None:
    if len(pages) > 1:
        with st.container(horizontal=True, gap="small"):
            for page in pages:
                button("whole.cited_page", f"{key}_cited_{page}", remember, key, page, n=page)


def _show_page(document: Document, page: Page, boxes: Sequence[Box]) -> None:
    drawn = picture(document.id, page.number, boxes) if page.width else b""
    if drawn:
        with st.container(key="whole_sheet"):
            show_picture(drawn, page, "marked" if boxes else "unmarked")
        return
    st.info(say("viewer.locked") if page.width else say("whole.text_document"), icon=":material/info:")
    st.code(page.text, language=None, wrap_lines=True, height=480)
