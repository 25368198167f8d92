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
from ui.app import tables
from ui.app.elements import badge, button, show_text
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
        hit, about = hits.get(citation.chunk_id), values.get(citation.document_id, {})
        current = shown is not None and shown.shows(citation)
        _show_card(citation, hit, about, current, certain=has_place(engine, citation))


def show_in_place(citations: Sequence[Citation], show: Callable[[], object]) -> None:
    """Show something with what stands around it in its document, in grey: the headings, what is before and behind it.

    What is one of the quotes itself, or stands in another document than the first quote, is not said again.
    """
    first, last = citations[0], citations[-1]
    quoted = {" ".join(one.excerpt.split()) for one in citations}

    def grey(side: str, text: str) -> None:
        if text and text not in quoted:
            show_text(text, f"around_{side}")

    grey("heading", first.heading)
    grey("before", first.before.text)
    show()
    if first.document_id == last.document_id:
        grey("after", last.after.text)


def show_place(citation: Citation) -> None:
    """The place that may be the answer, with what stands around it and where it is."""
    show_in_place([citation], lambda: show_text(citation.excerpt, "quote_place"))
    title = citation.title or citation.document
    show_text(tell("evidence.place", title=title, page=citation.page_in_words), "source_place")


def with_sources(decision: Decision) -> str:
    """The answer with its numbered list of sources, as plain text to paste elsewhere."""
    lines = [decision.answer, "", tell("evidence.list")]
    for one in decision.citations:
        key = "evidence.source_line" if one.title == one.document else "evidence.source_line_named"
        line = tell(key, id=one.id, title=one.title, name=one.document, page=one.page_in_words)
        lines.append(" ".join(filter(None, (line, as_read(one)))))
    return "\n".join(lines)


def _show_outline(decision: Decision) -> None:
    st.subheader(say("evidence.outline"), anchor=False)
    st.caption(say("evidence.outline_about"))
    several = len({one.document_id for one in decision.places}) > 1
    rows = [
        {"text": " ".join(one.excerpt.split()), "number": one.page}
        | ({"document": one.title or one.document} if several else {})
        for one in decision.places
    ]

    tables.show_rows(
        rows,
        "evidence.outline_",
        "outline_rows",
        lambda row: viewer.open_at(Place.of(decision.places[row])),
        in_view=HEADINGS_IN_VIEW,
        alt="evidence.outline_about",
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
        marks = boxes_of(words, engine.library.view.words)
    except RagError:  # deleted meanwhile: the viewer says so
        marks = ()
    return Place(passage.document, passage.page, marks, passage.spans)


def _show_card(citation: Citation, hit: Hit | None, values: Mapping[str, str], current: bool, *, certain: bool) -> None:
    with st.container(border=True, key=f"citation_{citation.id}", gap="xsmall"):
        show_text(where(citation), f"where_{citation.id}")
        if hit is not None and hit.passage.kind in (PassageKind.TABLE, PassageKind.CODE):
            st.code(citation.excerpt, language=None, wrap_lines=True)
        else:
            show_text(citation.excerpt, f"quote_{citation.id}")
        if read := as_read(citation):
            show_text(read, f"as_read_{citation.id}")
        with st.container(key=f"source_{citation.id}", gap=None):
            name = citation.document if citation.title != citation.document else ""
            if about := [part for part in (name, *labels(values), citation.heading) if part]:
                st.text(" · ".join(about))
        with st.container(horizontal=True, vertical_alignment="center"):
            button(
                "evidence.shown" if current else "evidence.show",
                f"show_{citation.id}",
                viewer.open_at,
                Place.of(citation),
                icon="visibility",
                disabled=current,
                help="evidence.show_help" if certain else "evidence.show_unmarked_help",
            )
            if not certain:
                badge("viewer.uncertain", "location_off", "orange", help="viewer.uncertain_help")
            if citation.ocr:
                badge("evidence.ocr", "document_scanner", "orange", help="evidence.ocr_help")


def where(one: Citation) -> str:
    """Number, title and page of a source, in a line."""
    return tell("evidence.where", id=one.id, title=one.title or one.document, page=one.page_in_words)


def as_read(citation: Citation) -> str:
    """That a source was read from a picture, by what, and which words may be wrong; empty for none of it."""
    if not citation.ocr:
        return tell("evidence.two_readings", words=_doubted(citation)) if citation.unsure else ""
    by = engines_in_words([citation.read_by])
    if citation.unsure is None:
        return tell("evidence.as_read_unknown", by=by)
    words = _doubted(citation)
    return tell("evidence.as_read_unsure", words=words, by=by) if words else tell("evidence.as_read", by=by)


def _doubted(citation: Citation) -> str:
    return ", ".join(dict.fromkeys(map(word_in_words, citation.unsure or ())))


YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
DIGIT = re.compile(r"\d")
MAX_CELLS = 6  # beside one another in half a window; a longer row is read as text


def row_of(text: str) -> tuple[tuple[str, str], ...]:
    """Head and cell of each column of a claim "head | head: cell | cell"; empty for another, or too long a one."""
    heads, parted, row = text.partition(": ")
    columns, cells = heads.split(CELL), row.split(CELL)
    if parted and len(columns) != len(cells) and over_figures(columns):
        columns, cells = ["", *columns], figures(cells)
    if not parted or not 2 <= len(cells) <= MAX_CELLS or len(columns) != len(cells) or NEXT_ROW in heads:
        return ()
    return tuple(zip(columns, cells, strict=True))


def asked_column(question: str, row: Sequence[tuple[str, str]]) -> int | None:
    """The one column whose head names a year of the question, or the only one with a figure where it names none."""
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
