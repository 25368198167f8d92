"""A viewer over a whole document: its pages, a search with every hit marked, and the marks of all citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag_core.compression.citing import boxes_of
from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Box, Document, Page, Span
from rag_core.engine import Engine
from rag_core.ingest.reading.pdf_facts import PDF, form_of
from ui.app import state
from ui.app.elements import button, remember, shown_error
from ui.app.texts import say
from ui.documents import original
from ui.documents.viewer import picture, show_picture

MAX_HITS = 1_000  # that are looked for; nobody reads more
MAX_PAGES = 12  # that have a button
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
        hits = _search(engine, document, key)
        found = sorted({hit.page for hit in hits} or {page for page, _ in marks})
        st.session_state.setdefault(key, first)
        last = document.page_count
        number = int(st.number_input(say("whole.page", all=last), 1, last, step=1, key=key))
        _show_turning(key, number, last, found)
        shown = engine.library.view.page(document.id, number)
        if here := [hit for hit in hits if hit.page == number]:
            boxes = marked(engine, document, here)
            st.caption(say("whole.marked_hits", n=len(here)))
        else:
            boxes = tuple(box for page, box in marks if page == number)
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
    """Buttons to the page before and after, each with a key, and to pages that hold what was looked for or is cited."""
    with st.container(horizontal=True, gap="small", key="whole_turn"):
        for name, pressed, to in (("previous", "PageUp", page - 1), ("next", "PageDown", page + 1)):
            about: dict[str, Any] = {"shortcut": pressed, "disabled": not 1 <= to <= pages, "type": "tertiary"}
            button(f"whole.{name}", f"{key}_{name}", remember, key, to, help=f"whole.{name}_help", **about)
        for one in found[:MAX_PAGES] if len(found) > 1 else ():
            button("whole.page_found", f"{key}_page_{one}", remember, key, one, n=one)


def _search(engine: Engine, document: Document, key: str) -> tuple[Span, ...]:
    """The places of the words that are looked for; how many there are is said."""
    label, example = say("whole.search"), say("whole.search_example")
    words = (st.text_input(label, key=f"{key}_words", type="search", placeholder=example) or "").strip()
    if not words:
        return ()
    with st.spinner(say("whole.searching")):
        hits = find(engine, document, words)
    if not hits:
        st.caption(say("whole.no_hit"))
    elif len(hits) >= MAX_HITS:
        st.caption(say("whole.hits_cut", n=len(hits)))
    else:
        st.caption(say("whole.hits", n=len(hits), pages=len({hit.page for hit in hits})))
    return hits


def find(engine: Engine, document: Document, words: str) -> tuple[Span, ...]:
    """Every place of the document's own text where these words stand in order, whatever their case and line breaks."""
    if not words.strip():
        return ()
    wanted, found = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE), list[Span]()
    for page in range(1, document.page_count + 1):
        text = engine.library.view.page_text(document.id, page)
        found += [Span(page, *hit.span()) for hit in wanted.finditer(text)]
        if len(found) >= MAX_HITS:
            break
    return tuple(found[:MAX_HITS])


def marked(engine: Engine, document: Document, hits: Sequence[Span]) -> tuple[Box, ...]:
    """The rectangles of the words that hold these hits; a hit whose place is not certain has none."""
    evidence = (Evidence("", document.id, "-", (hit,)) for hit in hits)
    return tuple(box for one in evidence for _, box in boxes_of(one, engine.library.view.words))


def _show_page(document: Document, page: Page, boxes: Sequence[Box]) -> None:
    drawn = picture(document.id, page.number, boxes) if page.width else b""
    if drawn:
        with st.container(key="whole_sheet"):
            show_picture(drawn, page, "marked" if boxes else "unmarked")
        return
    st.info(say("viewer.locked") if page.width else say("whole.text_document"), icon=":material/info:")
    st.code(page.text, language=None, wrap_lines=True, height=480)
