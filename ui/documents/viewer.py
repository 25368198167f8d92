"""One page of a document beside the answer: the lines around the cited words, which are marked, or the whole page, to
turn.

Where a page cannot be drawn (a text document, a file that its password locks) its text stands in its place, with the
same words marked.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rag_core.domain.documents import Box, Document, Page
from rag_core.engine import Engine
from rag_core.errors import PasswordNeeded, RagError
from rag_core.ingest.reading.pdf import render_page
from rag_core.ingest.reading.pdf_facts import form_of
from ui.app import state
from ui.app.elements import button, segments, show_text, shown_error
from ui.app.texts import say, show_error, tell
from ui.documents.place import Place, around, is_cut

DPI = {"lines": 165.0, "whole": 130.0}  # sharp in half a wide window, and where the picture fills it
MAX_PIXELS = 8_000_000  # A4 has 1.6 million
AROUND = 600  # characters of a page's text that are shown on each side of the words


def open_at(place: Place) -> None:
    """Show this place until the next question; for callbacks of buttons and tables."""
    st.session_state.viewer = (_question(), place)
    _turn(place, place.page)


def chosen() -> Place | None:
    """The place that was chosen for the question on the page; None when none was."""
    question, place = st.session_state.get("viewer", (None, None))
    return place if question == _question() else None


def page_shown(place: Place) -> int:
    """The page that is shown of a place's document: its own, or the one that was turned to."""
    turned, page = st.session_state.get("viewer_page", (None, 0))
    return int(page) if turned == (_question(), place) else place.page


@st.fragment
def show(engine: Engine, place: Place) -> None:
    """The viewer. A fragment, so that turning a page does not run the rest of the screen."""
    # deleted meanwhile, or damaged on disk, it has an error
    with st.container(key="viewer", gap="xsmall"), shown_error():
        document = engine.library.view.document(place.document)
        page = min(page_shown(place), document.page_count)
        show_text(document.title, "viewer_title")
        if document.title != document.name:
            show_text(document.name, "viewer_file")
        sheet = st.container(key="viewer_page", gap="xsmall")  # what one came for stands above its buttons
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="viewer_turn"):
            _show_turning(document, place, page)
            shown = engine.library.view.page(document.id, page)
            size = "whole"
            if shown.width and place.on(page):  # a page without marks has no lines to begin with
                size = segments("viewer.size", list(DPI), "viewer.", f"viewer_size_{_question()[1]}")
        with sheet:
            _show_page(place, shown, size)


def _question() -> tuple[str, int]:
    asked = state.session().asked
    return (asked.collection, asked.number) if asked is not None else (state.session().collection, 0)


def _turn(place: Place, page: int) -> None:
    st.session_state.viewer_page = ((_question(), place), page)


def _show_turning(document: Document, place: Place, page: int) -> None:
    first, last = page <= 1, page >= document.page_count
    button("viewer.previous", "viewer_previous", _turn, place, page - 1, icon="chevron_left", disabled=first)
    st.caption(say("viewer.page", n=page, all=document.page_count), width="content")
    if document.label_of(page):
        st.text(tell("viewer.printed", label=document.label_of(page)), width="content")
    on_right: dict[str, Any] = {"icon": "chevron_right", "icon_position": "right"}
    button("viewer.next", "viewer_next", _turn, place, page + 1, disabled=last, **on_right)
    if page != place.page:
        button("viewer.back", "viewer_back", _turn, place, place.page, n=place.page, type="tertiary", icon="undo")


def _show_page(place: Place, page: Page, size: str) -> None:
    if not page.width:
        st.info(say("viewer.text_document"), icon=":material/info:")
        _show_text(place, page)
        return
    boxes = place.on(page.number)
    part = around(place.in_view(page.number), page) if size == "lines" else None
    doubted = tuple(box for number, box in place.doubted if number == page.number)
    try:
        drawn = picture(place.document, page.number, boxes, doubted=doubted, dpi=DPI[size], part=part)
    except RagError as error:
        show_error(error)
        _show_text(place, page)
        return
    if not drawn:
        st.info(say("viewer.locked"), icon=":material/lock:")
        _show_text(place, page)
        return
    if place.holds(page.number) and not any(number == page.number for number, _ in place.marks):
        st.info(say("viewer.uncertain_here"), icon=":material/location_off:")
    cut = part is not None and is_cut(part, page)
    with st.container(key=f"viewer_{size}"), st.container(key="viewer_cut" if cut else None):
        show_picture(drawn, page, size if size == "lines" else "marked" if boxes else "unmarked")
    if place.words and not place.holds(page.number) and not boxes:
        st.caption(say("viewer.elsewhere"))


def show_picture(drawn: bytes, page: Page, alt: str) -> None:
    """A picture of a page, which travels in the page's own message: it has no address that somebody else could open."""
    written = base64.b64encode(drawn).decode()
    st.image(f"data:image/png;base64,{written}", width="stretch", alt=say(f"viewer.alt_{alt}", n=page.number))


def picture(document_id: str, page: int, boxes: Sequence[Box] = (), **how: Any) -> bytes:
    """A page of the session's library as PNG, with these boxes marked; empty when a password locks the file. Drawn
    once.

    `how` is as for `render_page`: `doubted` boxes, which are marked in orange, `dpi`, `max_pixels`, and a `part` of it.

    Raises:
        RagError: it cannot be drawn.
    """
    place = str(state.library_folder()), state.session().collection
    with st.spinner(say("viewer.drawing")):
        return _drawn(*place, document_id, page, boxes, {"dpi": DPI["whole"], "max_pixels": MAX_PIXELS} | how)


def forget() -> None:
    """Forget all pictures, of all sessions."""
    _drawn.clear()


@st.cache_data(max_entries=64, show_spinner=False)
def _drawn(
    folder: str, collection: str, document_id: str, page: int, boxes: Sequence[Box], how: Mapping[str, Any]
) -> bytes:
    """The key names the document by the SHA-256 of its bytes, so a picture never belongs to another document."""
    del folder, collection  # parts of the key
    try:
        library = state.engine().library
        form = form_of(library.view.document(document_id).name)
        return render_page(library.source(document_id), page, boxes, form=form, **how)
    except PasswordNeeded:
        return b""


def _show_text(place: Place, page: Page) -> None:
    """The page's raw text around all cited words, which are set apart; its beginning when none of them stand on it."""
    stretches, at = place.stretches(page.number), 0
    if not stretches:
        _code(_cut(page.text, 2 * AROUND, 0))
        return
    for number, (first, last) in enumerate(stretches):
        _code(_cut(page.text[at:first], AROUND if number else 0, AROUND))
        with st.container(key=f"viewer_words_{number}"):
            _code(page.text[first:last])
        at = last
    _code(_cut(page.text[at:], AROUND, 0))


def _code(text: str) -> None:
    if text.strip():
        st.code(text.strip("\n"), language=None, wrap_lines=True)


def _cut(text: str, first: int, last: int) -> str:
    """So many characters from the beginning of a text, and so many from its end."""
    whole = len(text) <= first + last
    return text if whole else " ".join(filter(None, (text[:first], "…", text[len(text) - last :])))
