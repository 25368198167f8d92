"""A viewer over a whole document: its pages, a search in its text with every hit marked, and the marks of all that is cited from it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from rag_core.compression.citing import boxes_of
from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Box, Document, Page, Span
from rag_core.engine import Engine
from rag_core.errors import RagError
from ui.app import state
from ui.app.problems import show_error
from ui.app.texts import say
from ui.documents import original
from ui.documents.viewer import DPI, WHOLE, ZOOMS, picture, show_picture

MAX_HITS = 500  # that a search gives; more are no help
AROUND = 40  # characters of context on each side of a hit in the list
ROWS = 5  # that the list shows at once
WIDTHS = (2, 3)  # the search and the page beside it
Marks = Sequence[tuple[int, Box]]
_CHOSEN = "whole_chosen"


def offer(engine: Engine, document_id: str, page: int, marks: Marks = ()) -> None:
    """A button that opens the document over the page, at a page of it; `marks` are those of all that is cited from it."""
    st.button(say("whole.open"), key="whole_open", icon=":material/menu_book:", type="tertiary", on_click=_choose, args=(document_id, page))
    if st.session_state.pop(_CHOSEN, None) == (document_id, page):  # at the click only: whoever closed it is not shown it again
        _open(engine, document_id, page, marks)


def _choose(document_id: str, page: int) -> None:
    st.session_state[_CHOSEN] = (document_id, page)


@st.dialog(say("whole.title"), width="large")
def _open(engine: Engine, document_id: str, page: int, marks: Marks) -> None:
    try:
        document = engine.library.snapshot.document(document_id)
        st.text(document.title)
        _show(engine, document, page, marks)
    except RagError as error:  # deleted meanwhile, or damaged on disk
        show_error(error)


def _show(engine: Engine, document: Document, first: int, marks: Marks) -> None:
    """Search, pages and size on one side, the page on the other."""
    key = f"whole_page_{document.id}_{first}"
    side, sheet = st.columns(WIDTHS, gap="large")
    with side:
        words = st.text_input(say("whole.search"), key=f"{key}_words", type="search", placeholder=say("whole.search_example")) or ""
        hits = find(engine, document, words)
        if words:
            _show_hits(engine, document, hits, key)
        st.session_state.setdefault(key, first)
        number = int(st.number_input(say("whole.page", all=document.page_count), 1, document.page_count, step=1, key=key))
        shown = engine.library.snapshot.page(document.id, number)
        if words:
            here = [hit for hit in hits if hit.page == number]
            boxes = marked(engine, document, here)
            st.caption(say("whole.marked_hits", n=len(here)))
        else:
            boxes = tuple(box for page, box in marks if page == number)
            _show_cited(sorted({page for page, _ in marks}), key)
            st.caption(say("whole.marked_cited") if boxes else say("whole.marked_none"))
        size = st.segmented_control(
            say("viewer.zoom"), list(ZOOMS), default=WHOLE, required=True, format_func=lambda name: say(f"viewer.{name}"),
            key=f"{key}_zoom", label_visibility="collapsed",
        )  # fmt: skip
        if shown.width:
            st.link_button(
                say("whole.pdf"), original.address(state.session().collection, document.id, number), icon=":material/open_in_new:",
                type="tertiary", help=say("whole.pdf_help"),
            )  # fmt: skip
    with sheet:
        _show_page(document, shown, boxes, size or WHOLE)


def find(engine: Engine, document: Document, words: str) -> tuple[Span, ...]:
    """Every place of the document's own text where these words stand one after the other, whatever their case and line breaks."""
    if not words.strip():
        return ()
    return _found(str(state.library_folder()), state.session().collection, document.id, document.page_count, words, engine)


@st.cache_data(max_entries=64, show_spinner=say("whole.searching"))
def _found(folder: str, collection: str, document_id: str, pages: int, words: str, _engine: Engine) -> tuple[Span, ...]:
    """The document is named by the SHA-256 of its bytes; `folder` and `collection` are parts of the key."""
    del folder, collection
    wanted, found = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE), []
    for page in range(1, pages + 1):
        text = _engine.library.snapshot.page_text(document_id, page)
        found += [Span(page, hit.start(), hit.end()) for hit in wanted.finditer(text)]
        if len(found) >= MAX_HITS:
            break
    return tuple(found[:MAX_HITS])


def marked(engine: Engine, document: Document, hits: Sequence[Span]) -> tuple[Box, ...]:
    """The rectangles of the words that hold these hits; a hit whose place is not certain has none."""
    found: list[Box] = []
    for hit in hits:
        found += [box for _, box in boxes_of(Evidence("", document.id, "-", (hit,)), engine.library.snapshot)]
    return tuple(found)


def _show_hits(engine: Engine, document: Document, hits: Sequence[Span], key: str) -> None:
    """How many, and a list of them with their context; a chosen row turns to its page."""
    pages = len({hit.page for hit in hits})
    if not hits:
        st.caption(say("whole.no_hit"))
        return
    st.caption(say("whole.hits_cut", n=len(hits)) if len(hits) >= MAX_HITS else say("whole.hits", n=len(hits), pages=pages))
    snapshot = engine.library.snapshot
    texts = {page: snapshot.page_text(document.id, page) for page in {hit.page for hit in hits}}
    rows = [{"page": hit.page, "text": _context(texts[hit.page], hit)} for hit in hits]
    columns = {"page": st.column_config.NumberColumn(say("evidence.page"), width=70), "text": st.column_config.TextColumn(say("whole.hit"))}
    st.dataframe(
        rows, hide_index=True, column_config=columns, key=f"{key}_hits", alt=say("whole.hits_alt"), height=38 + 35 * min(len(rows), ROWS),
        on_select=lambda: _turn_to_row(key, rows), selection_mode="single-row",
    )  # fmt: skip


def _context(text: str, hit: Span) -> str:
    return " ".join(f"…{text[max(0, hit.start - AROUND) : hit.end + AROUND]}…".split())


def _turn_to_row(key: str, rows: Sequence[dict[str, object]]) -> None:
    chosen: Sequence[int] = st.session_state[f"{key}_hits"].selection.rows
    if chosen and chosen[0] < len(rows):
        st.session_state[key] = rows[chosen[0]]["page"]


def _show_cited(pages: Sequence[int], key: str) -> None:
    """Buttons to the pages that the answer cites."""
    if len(pages) > 1:
        with st.container(horizontal=True, gap="small"):
            for page in pages:
                st.button(say("whole.cited_page", n=page), key=f"{key}_cited_{page}", on_click=_turn, args=(key, page))


def _turn(key: str, page: int) -> None:
    st.session_state[key] = page


def _show_page(document: Document, page: Page, boxes: Sequence[Box], size: str) -> None:
    drawn = picture(document.id, page.number, boxes, dpi=DPI * ZOOMS[size]) if page.width else b""
    if drawn:
        show_picture(drawn, page, boxes, size, "whole")
        return
    st.info(say("viewer.locked") if page.width else say("whole.text_document"), icon=":material/info:")
    st.code(page.text, language=None, wrap_lines=True, height=480)
