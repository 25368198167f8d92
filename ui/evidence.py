"""A citation: where it stands, its exact words, and the page with those words marked."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.domain import Box, Citation
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.ingest.pdf import render_page
from ui import state
from ui.problems import show_error

PICTURE_WIDTH = 760  # pixels: a page of A4 is readable, and its marks are in view


def show_citation(engine: Engine, citation: Citation) -> None:
    """One numbered source."""
    with st.container(border=True, key=f"citation_{citation.id}"):
        where = f"[{citation.id}]  {citation.title or citation.document}, page {citation.page}"
        st.text(where if citation.title == citation.document else f"{where}\n{citation.document}")
        if citation.section:
            st.text(citation.section)
        if citation.ocr:
            st.badge("Read by OCR", icon=":material/document_scanner:", color="orange", help="The words were recognised from a picture.")
        st.code(citation.excerpt, language=None, wrap_lines=True)
        if st.toggle("Show the page", key=f"page_{citation.id}_{citation.chunk_id}_{citation.spans[0].start}"):
            _show_pages(engine, citation)


def _show_pages(engine: Engine, citation: Citation) -> None:
    pages = sorted({page for page, _ in citation.boxes}) or [citation.page]
    try:
        if not engine.library.snapshot.page(citation.document_id, citation.page).width:
            st.info("A text document has no page to show. The words above are exactly those of the document.", icon=":material/info:")
            return
        if not citation.boxes:
            st.info("The place on the page is not certain, so nothing is marked.", icon=":material/info:")
        for page in pages:
            boxes = tuple(box for number, box in citation.boxes if number == page)
            marked = "with the cited words marked" if boxes else "with nothing marked"
            picture = _picture(str(state.library_folder()), citation.document_id, page, boxes)
            st.image(picture, width=PICTURE_WIDTH, alt=f"Page {page:d} of the document, {marked}.")
    except RagError as error:
        show_error(error)


@st.cache_data(max_entries=64, show_spinner="Drawing the page…")
def _picture(folder: str, document_id: str, page: int, boxes: Sequence[Box]) -> bytes:
    """The page as PNG. The key names the document by the SHA-256 of its bytes, so a picture never belongs to another document."""
    del folder  # part of the key
    return render_page(state.engine().library.source(document_id), page, boxes)
