"""One page of a document beside the answer: the lines around the cited words, which are marked, or the whole page, to
turn and to enlarge.

Where a page cannot be drawn (a text document, a file that its password locks) its text stands in its place, with the
same words marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from rag_core.domain.documents import Box, Document, Page
from rag_core.engine import Engine
from rag_core.errors import PasswordNeeded, RagError
from rag_core.ingest.reading.pdf import render_page
from rag_core.ingest.reading.pdf_facts import form_of
from ui.app import state
from ui.app.texts import say, show_error, tell
from ui.documents.place import LINES, Place, around, figures_end, folded, strip

DPI = 110.0  # a whole page: sharp in half a wide window; enlarged pictures have more in proportion
MAX_PIXELS = 8_000_000  # twice the size of A4 has 4.7 million
ZOOMED_HEIGHT = 720  # pixels of the frame that an enlarged page scrolls in
AROUND = 600  # characters of a page's text that are shown on each side of the words
ROOM = 10.0  # percent of an enlarged page that are in view above the words and left of them
WHOLE = "whole"
LINES_ZOOM = 1.5  # times the dots of a whole page: its words fill the column
# times the width of the column
ZOOMS: Mapping[str, float] = MappingProxyType({WHOLE: 1.0, "larger": 1.5, "double": 2.0})


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
    with st.container(key="viewer", gap="xsmall"):
        try:
            document = engine.library.view.document(place.document)
            page = _page(place, document)
            _show_title(document)
            sheet = st.container(key="viewer_page", gap="xsmall")  # what one came for stands above its buttons
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key="viewer_turn"):
                _show_turning(document, place, page)
                shown = engine.library.view.page(document.id, page)
                size = _choose_size(marked=bool(place.on(page))) if shown.width else WHOLE
            with sheet:
                _show_page(place, shown, size)
        except RagError as error:  # deleted meanwhile, or damaged on disk
            show_error(error)


def _question() -> tuple[str, int]:
    """The key that names the question on the page."""
    asked = state.session().asked
    return (asked.collection, asked.number) if asked is not None else (state.session().collection, 0)


def _page(place: Place, document: Document) -> int:
    """The page that was turned to, the place's own at first."""
    return min(page_shown(place), document.page_count)


def _turn(place: Place, page: int) -> None:
    st.session_state.viewer_page = ((_question(), place), page)


def _show_title(document: Document) -> None:
    with st.container(key="viewer_title"):
        st.text(document.title)
    if document.title != document.name:
        with st.container(key="viewer_file"):
            st.text(document.name)


def _show_turning(document: Document, place: Place, page: int) -> None:
    """Show which page it is, and the buttons that turn pages."""
    st.button(
        say("viewer.previous"),
        key="viewer_previous",
        icon=":material/chevron_left:",
        disabled=page <= 1,
        on_click=_turn,
        args=(place, page - 1),
    )
    st.caption(say("viewer.page", n=page, all=document.page_count), width="content")
    if document.label_of(page):
        st.text(tell("viewer.printed", label=document.label_of(page)), width="content")
    st.button(
        say("viewer.next"),
        key="viewer_next",
        icon=":material/chevron_right:",
        icon_position="right",
        disabled=page >= document.page_count,
        on_click=_turn,
        args=(place, page + 1),
    )
    if page != place.page:
        st.button(
            say("viewer.back", n=place.page),
            key="viewer_back",
            type="tertiary",
            icon=":material/undo:",
            on_click=_turn,
            args=(place, place.page),
        )


def _show_page(place: Place, page: Page, size: str) -> None:
    if not page.width:
        st.info(say("viewer.text_document"), icon=":material/info:")
        _show_text(place, page)
        return
    boxes = place.on(page.number)
    part = around(place.in_view(page.number), page) if size == LINES else None
    ends = folded(place.in_view(page.number), page, part)
    doubted, dpi = (
        tuple(box for number, box in place.doubted if number == page.number),
        DPI * ZOOMS.get(size, LINES_ZOOM),
    )
    try:
        pictures = [
            picture(place.document, page.number, boxes, doubted=doubted, dpi=dpi, part=one) for one in ends or (part,)
        ]
    except RagError as error:
        show_error(error)
        _show_text(place, page)
        return
    if not all(pictures):
        st.info(say("viewer.locked"), icon=":material/lock:")
        _show_text(place, page)
        return
    if place.holds(page.number) and not any(number == page.number for number, _ in place.marks):
        st.info(say("viewer.uncertain_here"), icon=":material/location_off:")
    if ends is not None:
        _show_folded(pictures, ends, page.number)
    else:
        begin = figures_end(boxes, page, part)
        show_picture(pictures[0], page, boxes, size, frame=strip(part, page) if part is not None else size, begin=begin)
    if place.words and not place.holds(page.number) and not boxes:
        st.caption(say("viewer.elsewhere"))


def _choose_size(*, marked: bool) -> str:
    """How much of the page is shown; a page without marks has no lines to begin with."""
    names = [LINES, *ZOOMS] if marked else list(ZOOMS)
    chosen: str | None = st.segmented_control(
        say("viewer.zoom"),
        names,
        default=names[0],
        required=True,
        format_func=lambda name: say(f"viewer.{name}"),
        key=f"viewer_zoom_{_question()[1]}{'' if marked else '_unmarked'}",
        label_visibility="collapsed",
    )
    return chosen or names[0]


def show_picture(
    drawn: bytes,
    page: Page,
    boxes: Sequence[Box],
    size: str,
    where: str = "viewer",
    frame: str = "",
    begin: float | None = None,
) -> None:
    """A picture of a page in its size; an enlarged one in a frame that begins at its marks.

    `where` begins the keys of its containers; `frame` names another one than its size; `begin` is a place that a wide
    strip scrolls to, in percent of its width.
    """
    alt = say(f"viewer.alt_{size if size == LINES else 'marked' if boxes else 'unmarked'}", n=page.number)
    if size in (LINES, WHOLE):
        with (
            st.container(key=f"{where}_{size}"),
            st.container(key=f"{where}_{frame}" if frame not in ("", size) else None),
        ):
            if frame == f"{LINES}_wide" and begin is not None:
                with st.container(key=f"{where}_strip", gap=None):
                    st.image(drawn, width="stretch", output_format="PNG", alt=alt)
                    st.html(f'<div class="viewer-start" style="left:{min(99.0, begin):.2f}%;top:0"></div>')
            else:
                st.image(drawn, width="stretch", output_format="PNG", alt=alt)
        return
    zoomed = st.container(height=ZOOMED_HEIGHT, key=f"{where}_zoomed_{ZOOMS[size] * 100:.0f}")
    with zoomed, st.container(key=f"{where}_sheet", gap=None):
        st.image(drawn, width="stretch", output_format="PNG", alt=alt)
        if boxes:
            left, top = (
                100 * min(box.x0 for box in boxes) / page.width - ROOM,
                100 * min(box.y0 for box in boxes) / page.height - ROOM,
            )
            # the frame begins at the words, in browsers that know this property; in others at the page's upper left
            # corner
            st.html(f'<div class="viewer-start" style="left:{max(0, left):.2f}%;top:{max(0, top):.2f}%"></div>')


def _show_folded(pictures: Sequence[bytes], ends: Sequence[Box], page: int) -> None:
    """Both ends of a wide row side by side in one scale; words say that its middle is left out."""
    with st.container(key=f"viewer_{LINES}", gap=None), st.container(key=f"viewer_{LINES}_folded"):
        columns = st.columns([box.x1 - box.x0 for box in ends], gap=None, wrap=False)
        for column, drawn, end in zip(columns, pictures, ("name", "figures"), strict=True):
            column.image(drawn, width="stretch", output_format="PNG", alt=say(f"viewer.alt_{end}", n=page))
    st.caption(say("viewer.folded"))


def picture(
    document_id: str,
    page: int,
    boxes: Sequence[Box] = (),
    *,
    doubted: Sequence[Box] = (),
    dpi: float = DPI,
    max_pixels: int = MAX_PIXELS,
    part: Box | None = None,
) -> bytes:
    """A page of the session's library, or a part of it, as PNG, with these boxes marked; empty when a password locks
    the file. Drawn once.

    `doubted` are boxes of words that may be wrong: they are marked in orange.

    Raises:
        RagError: it cannot be drawn.
    """
    place = str(state.library_folder()), state.session().collection
    with st.spinner(say("viewer.drawing")):
        return _drawn(*place, document_id, page, boxes, doubted, dpi, max_pixels, part)


def forget() -> None:
    """Forget all pictures, of all sessions."""
    _drawn.clear()


@st.cache_data(max_entries=64, show_spinner=False)
def _drawn(
    folder: str,
    collection: str,
    document_id: str,
    page: int,
    boxes: Sequence[Box],
    doubted: Sequence[Box],
    dpi: float,
    max_pixels: int,
    part: Box | None,
) -> bytes:
    """The key names the document by the SHA-256 of its bytes, so a picture never belongs to another document."""
    del folder, collection  # parts of the key
    try:
        library = state.engine().library
        form = form_of(library.view.document(document_id).name)
        return render_page(
            library.source(document_id),
            page,
            boxes,
            doubted=doubted,
            dpi=dpi,
            max_pixels=max_pixels,
            part=part,
            form=form,
        )
    except PasswordNeeded:
        return b""


def _show_text(place: Place, page: Page) -> None:
    """The page's raw text around all cited words, which are set apart; its beginning when none of them stand on it."""
    stretches, at = place.stretches(page.number), 0
    if not stretches:
        _code(_beginning(page.text, 2 * AROUND))
        return
    for number, (first, last) in enumerate(stretches):
        _code(_end(page.text[at:first], AROUND) if number == 0 else _middle(page.text[at:first]))
        with st.container(key=f"viewer_words_{number}"):
            _code(page.text[first:last])
        at = last
    _code(_beginning(page.text[at:], AROUND))


def _code(text: str) -> None:
    if text.strip():
        st.code(text.strip("\n"), language=None, wrap_lines=True)


def _beginning(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars]} …"


def _end(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"… {text[-chars:]}"


def _middle(text: str) -> str:
    return text if len(text) <= 2 * AROUND else f"{text[:AROUND]} … {text[-AROUND:]}"
