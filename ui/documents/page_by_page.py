"""A document page by page: its picture beside the passages that begin there, which is how it was cut."""

from __future__ import annotations

import streamlit as st

from rag_core.domain.documents import Document
from rag_core.domain.passages import PassageKind
from rag_core.engine import Engine
from rag_core.errors import RagError
from ui.app.texts import say, show_error, tell
from ui.documents import whole
from ui.documents.viewer import picture

MAX_PIXELS = 4_000_000  # a page is never enlarged here

KINDS = {
    PassageKind.PARAGRAPH: "paragraph",
    PassageKind.TABLE: "table_kind",
    PassageKind.CODE: "code_kind",
    PassageKind.LIST: "list",
}


def go_to(document_id: str, page: int) -> None:
    """Show this page."""
    st.session_state[f"page_of_{document_id}"] = page
    st.session_state[f"picture_of_{document_id}"] = True


def show(engine: Engine, document: Document) -> None:
    """A page to choose, its picture on demand, and its passages."""
    st.subheader(say("documents.by_page"), anchor=False, help=say("documents.by_page_help"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page = st.number_input(
            say("documents.page_number", n=document.page_count),
            1,
            document.page_count,
            step=1,
            key=f"page_of_{document.id}",
            width=180,
        )
        wanted = st.toggle(say("documents.show_page"), key=f"picture_of_{document.id}")
        whole.offer(engine, document.id, page)
    left, right = st.columns([2, 3], gap="large") if wanted else (None, st.container())
    if left is not None:
        with left, st.container(key="page_picture"):
            _show_picture(engine, document, page)
    with right:
        _show_passages(engine, document, page)


def _show_picture(engine: Engine, document: Document, page: int) -> None:
    try:
        shown = engine.library.snapshot.page(document.id, page)
    except RagError as error:
        show_error(error)
        return
    if shown.width:
        try:
            drawn = picture(document.id, page, max_pixels=MAX_PIXELS)
        except RagError as error:
            show_error(error)
        else:
            if drawn:
                st.image(drawn, alt=tell("documents.page_alt", page=page))
                return
            # the password was given when the file was added, and is stored nowhere
            st.info(say("documents.locked"), icon=":material/lock:")
    else:
        st.info(say("documents.no_picture"), icon=":material/info:")
    st.code(shown.text, language=None, wrap_lines=True, height=420)


def _show_passages(engine: Engine, document: Document, page: int) -> None:
    passages = [passage for passage in engine.library.snapshot.passages_of(document.id) if passage.page == page]
    if not passages:
        st.info(say("documents.no_passages"), icon=":material/info:")
        return
    st.caption(say("documents.passages_here", n=len(passages)))
    rows = [
        {
            "text": passage.text,
            "section": passage.section,
            "kind": tell(f"documents.{KINDS[passage.kind]}"),
            "tokens": passage.tokens,
            "ends": passage.spans[-1].page,
        }
        for passage in passages
    ]
    columns = {
        "text": st.column_config.TextColumn(say("documents.passage_text"), width="large"),
        "section": st.column_config.TextColumn(say("documents.passage_section"), width="medium"),
        "kind": st.column_config.TextColumn(say("documents.passage_kind")),
        "tokens": st.column_config.NumberColumn(
            say("documents.passage_tokens"), help=say("documents.passage_tokens_help")
        ),
        "ends": st.column_config.NumberColumn(say("documents.passage_ends")),
    }
    st.dataframe(rows, hide_index=True, column_config=columns, key=f"passages_{document.id}", row_height=92)
