"""Shows where an answer comes from: a card for each source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from rag_core.compression.citing import boxes_of
from rag_core.decision.notes import word_in_words
from rag_core.domain.claims import Citation, Evidence
from rag_core.domain.decision import Decision
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.rows import CELL, NEXT_ROW, figures, in_words, over_figures
from rag_core.domain.scanned import engines_in_words
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.grounding.citations import labels
from rag_core.language import any_language, fold
from ui.app.texts import say, tell
from ui.documents import viewer
from ui.documents.place import Place

HEADINGS_IN_VIEW = 20  # rows; a longer outline is scrolled


def show_sources(engine: Engine, decision: Decision, shown: Place | None) -> None:
    """One card a source of an answer, or a place to look of a refusal; `shown` is the place that the viewer shows."""
    if not (decision.citations or decision.places):
        return
    if decision.reason is Reason.SUMMARY:
        _show_outline(decision)
        return
    st.subheader(say("evidence.title") if decision.citations else say("evidence.places"), anchor=False)
    if decision.places:
        st.caption(say("evidence.places_about") if decision.may_be is None else say("evidence.places_may_be"))
    hits = {hit.passage.id: hit for _, hit in decision.retrieved}
    values = engine.library.view.values
    for citation in decision.citations or decision.places:
        about = values.get(citation.document_id, {})
        _show_card(
            citation,
            hits.get(citation.chunk_id),
            about,
            shown is not None and shown.shows(citation),
            certain=has_place(engine, citation),
        )


def show_in_place(citations: Sequence[Citation], show: Callable[[], object]) -> None:
    """Show something with what stands around it in its document, in grey: the headings, and what is before the first
    and behind the last.

    What is one of the quotes itself, or stands in another document than the first quote, is not said again.
    """
    first, last = citations[0], citations[-1]
    quoted = {" ".join(one.excerpt.split()) for one in citations}

    def grey(side: str, text: str) -> None:
        if text and text not in quoted:
            with st.container(key=f"around_{side}"):
                st.text(text)

    grey("heading", first.heading)
    grey("before", first.before.text)
    show()
    if first.document_id == last.document_id:
        grey("after", last.after.text)


def show_place(citation: Citation) -> None:
    """The place that may be the answer, with what stands around it and where it is."""

    def quote() -> None:
        with st.container(key="quote_place"):
            st.text(citation.excerpt)

    show_in_place([citation], quote)
    with st.container(key="source_place"):
        st.text(tell("evidence.place", title=citation.title or citation.document, page=citation.page_in_words))


def with_sources(decision: Decision) -> str:
    """The answer with its numbered list of sources, as plain text to paste elsewhere."""
    lines = [
        tell("evidence.source_line", id=one.id, title=one.title, page=one.page_in_words)
        if one.title == one.document
        else tell("evidence.source_line_named", id=one.id, title=one.title, name=one.document, page=one.page_in_words)
        for one in decision.citations
    ]
    lines = [" ".join(filter(None, (line, as_read(one)))) for line, one in zip(lines, decision.citations, strict=True)]
    return "\n".join([decision.answer, "", tell("evidence.list"), *lines])


def _show_outline(decision: Decision) -> None:
    """The headings of what was to be summarized; a chosen one is shown on its page."""
    st.subheader(say("evidence.outline"), anchor=False)
    st.caption(say("evidence.outline_about"))
    several = len({one.document_id for one in decision.places}) > 1
    rows = [
        {
            "text": " ".join(one.excerpt.split()),
            "number": one.page,
            **({"document": one.title or one.document} if several else {}),
        }
        for one in decision.places
    ]
    columns = {name: st.column_config.Column(say(f"evidence.outline_{name}")) for name in rows[0]}
    st.dataframe(
        rows,
        hide_index=True,
        column_config=columns,
        height=38 + 35 * min(len(rows), HEADINGS_IN_VIEW),
        key="outline_rows",
        alt=say("evidence.outline_about"),
        on_select=lambda: _open_heading(decision),
        selection_mode="single-row",
    )


def has_place(engine: Engine, citation: Citation) -> bool:
    """Whether the words can be marked on the picture of their page, or the page has no picture to mark."""
    if citation.boxes:
        return True
    try:
        return not engine.library.view.page(citation.document_id, citation.page).width
    except RagError:  # deleted meanwhile: the viewer says so
        return True


def place_of(engine: Engine, passage: Passage) -> Place:
    """Where a passage stands, all of its words marked."""
    words = Evidence(passage.id, passage.document, passage.text, passage.spans)
    try:
        marks = boxes_of(words, engine.library.view)
    except RagError:  # deleted meanwhile: the viewer says so
        marks = ()
    return Place(passage.document, passage.page, marks, passage.spans)


def open_passage(engine: Engine, passage: Passage) -> None:
    """Show a passage on its page, all of its words marked; for a callback."""
    viewer.open_at(place_of(engine, passage))


def _show_card(citation: Citation, hit: Hit | None, values: Mapping[str, str], current: bool, *, certain: bool) -> None:
    with st.container(border=True, key=f"citation_{citation.id}", gap="xsmall"):
        with st.container(key=f"where_{citation.id}"):
            st.text(
                tell(
                    "evidence.where",
                    id=citation.id,
                    title=citation.title or citation.document,
                    page=citation.page_in_words,
                )
            )
        if hit is not None and hit.passage.kind in (PassageKind.TABLE, PassageKind.CODE):
            st.code(citation.excerpt, language=None, wrap_lines=True)
        else:
            with st.container(key=f"quote_{citation.id}"):
                st.text(citation.excerpt)
        if read := as_read(citation):
            with st.container(key=f"as_read_{citation.id}"):
                st.text(read)
        with st.container(key=f"source_{citation.id}", gap=None):
            name = citation.document if citation.title != citation.document else ""
            if about := [part for part in (name, *labels(values), citation.heading) if part]:
                st.text(" · ".join(about))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                say("evidence.shown") if current else say("evidence.show"),
                key=f"show_{citation.id}",
                disabled=current,
                icon=":material/visibility:",
                on_click=viewer.open_at,
                args=(Place.of(citation),),
                help=say("evidence.show_help") if certain else say("evidence.show_unmarked_help"),
            )
            if not certain:
                st.badge(
                    say("viewer.uncertain"),
                    icon=":material/location_off:",
                    color="orange",
                    help=say("viewer.uncertain_help"),
                )
            if citation.ocr:
                st.badge(
                    say("evidence.ocr"),
                    icon=":material/document_scanner:",
                    color="orange",
                    help=say("evidence.ocr_help"),
                )


def as_read(citation: Citation) -> str:
    """That a source was read from a picture, by what, and which of its words may be wrong; empty for one of which
    nothing is to be said.
    """
    if not citation.ocr:
        return tell("evidence.two_readings", words=_doubted(citation)) if citation.unsure else ""
    by = engines_in_words([citation.read_by])
    if citation.unsure is None:
        return tell("evidence.as_read_unknown", by=by)
    words = _doubted(citation)
    return tell("evidence.as_read_unsure", words=words, by=by) if words else tell("evidence.as_read", by=by)


def _doubted(citation: Citation) -> str:
    return ", ".join(dict.fromkeys(map(word_in_words, citation.unsure or ())))


def _open_heading(decision: Decision) -> None:
    """Show the heading that was clicked; unchoosing it leaves the page as it is."""
    rows: Sequence[int] = st.session_state.outline_rows.selection.rows
    if rows and rows[0] < len(decision.places):
        viewer.open_at(Place.of(decision.places[rows[0]]))


YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
DIGIT = re.compile(r"\d")
MAX_CELLS = 6  # beside one another in half a window; a longer row is read as text


def row_of(text: str) -> tuple[tuple[str, str], ...]:
    """Head and cell of each column of a claim "head | head: cell | cell"; empty where it is no such row, or too long a
    one.
    """
    heads, parted, row = text.partition(": ")
    columns, cells = heads.split(CELL), row.split(CELL)
    if parted and len(columns) != len(cells) and over_figures(columns):
        columns, cells = ["", *columns], figures(cells)
    if not parted or not 2 <= len(cells) <= MAX_CELLS or len(columns) != len(cells) or NEXT_ROW in heads:
        return ()
    return tuple(zip(columns, cells, strict=True))


def asked_column(question: str, row: Sequence[tuple[str, str]]) -> int | None:
    """The one column whose head names a year that the question names; where it names none, the only one with a figure.

    Else None.
    """
    asked = set(YEAR.findall(question))
    if asked:
        found = [number for number, (head, _) in enumerate(row) if asked & set(YEAR.findall(head))]
    else:
        units = any_language().unit_heads  # "m3/h" has a figure and is none
        found = [
            number
            for number, (head, cell) in enumerate(row)
            if number and DIGIT.search(cell) and fold(head) not in units
        ]
    return found[0] if len(found) == 1 else None


def show_row(decision: Decision) -> bool:
    """Show an answer that is one row; whether it was."""
    row = row_of(decision.claims[0].text) if len(decision.claims) == 1 else ()
    if not row:
        return False
    asked = asked_column(decision.question, row)
    with st.container(key="answer_row"):
        for number, (column, (head, cell)) in enumerate(zip(st.columns(len(row), gap="small"), row, strict=True)):
            with column, st.container(key="asked_cell" if number == asked else None, gap="small"):
                st.text(head)
                st.text(cell)
    if mark := decision.answer.removeprefix(in_words(decision.claims[0].text)).strip():
        st.text(mark)
    return True
