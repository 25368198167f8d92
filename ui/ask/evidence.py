"""Shows where an answer comes from: a card for each source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from itertools import groupby

import streamlit as st

from rag_core.compression.citing import boxes_of
from rag_core.decision.notes import word_in_words
from rag_core.domain.answer import Answer, by_key, cited_sources
from rag_core.domain.claims import BREAK, Citation, Claim, Evidence
from rag_core.domain.decision import Decision
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.rows import CELL, NEXT_ROW, figures, in_words, over_figures
from rag_core.domain.scanned import engines_in_words
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.grounding.citations import labels
from rag_core.ingest.normalise import normalise
from rag_core.ingest.passages.context import SECTION_MARK
from ui.app import tables
from ui.app.elements import badge, button, show_text
from ui.app.scope import shown_date
from ui.app.texts import say, tell
from ui.documents import viewer
from ui.documents.place import Place

HEADINGS_IN_VIEW = 20  # rows; a longer outline is scrolled
MAX_GAP = 3  # characters of a page between two sentences of one paragraph


def show_sources(engine: Engine, decision: Decision, shown: Place | None) -> None:
    """One card a source of an answer, or a place to look of a refusal; `shown` is the place that the viewer shows."""
    if not (decision.citations or decision.places):
        return
    if decision.may_be is not None and len(decision.places) == 1 and not decision.places[0].ocr:  # the card has it
        return
    if decision.reason is Reason.SUMMARY:
        _show_outline(decision)
        return
    st.header(say("evidence.title") if decision.citations else say("evidence.places"), anchor=False)
    if decision.places:
        st.caption(say("evidence.places_about") if decision.may_be is None else say("evidence.places_may_be"))
    hits = {hit.passage.id: hit for _, hit in decision.retrieved}
    values = engine.library.view.values
    for citation in decision.citations or decision.places:
        hit, about = hits.get(citation.chunk_id), values.get(citation.document_id, {})
        current = shown is not None and shown.shows(citation)
        _show_card(citation, hit, about, current, certain=has_place(engine, citation))


def show_answer(decision: Decision) -> None:
    """The sentences of an answer, each part of it under the place where it stands: a document and its headings."""
    if decision.value and not _row(decision):
        mark = f" [{decision.value['citation']}]" if len(decision.claims) > 1 else ""
        show_text(f"{decision.value['text']}{mark}", "answer_value")
    cited = by_key(decision.citations)
    parts: list[list[tuple[Claim, tuple[Citation, ...]]]] = []
    for claim in decision.claims:
        told = (claim, cited_sources([claim], cited))
        if parts and _goes_on(parts[-1][-1], told):
            parts[-1].append(told)
        else:
            parts.append([told])
    sources = [[source for _, of in part for source in of] for part in parts]
    for number, part in enumerate(parts):
        before = sources[number - 1][-1] if number else None
        after = sources[number + 1][0] if number + 1 < len(parts) else None
        _show_in_place(
            sources[number], partial(_show_part, decision, part), f"_{number}" if number else "", before, after
        )


def _goes_on(earlier: tuple[Claim, Sequence[Citation]], later: tuple[Claim, Sequence[Citation]]) -> bool:
    """Whether a sentence stands right behind another one, or a row in the table of another one."""
    last, first = earlier[1][-1], later[1][0]
    if last.document_id != first.document_id or last.heading != first.heading:
        return False
    if CELL in earlier[0].text and CELL in later[0].text:
        return True
    end, start = last.spans[-1], first.spans[0]
    return end.page == start.page and 0 <= start.start - end.end <= MAX_GAP


def _show_part(decision: Decision, claims: Sequence[tuple[Claim, Sequence[Citation]]], key: str) -> None:
    answer = decision.outcome
    if row := _row(decision):
        _show_cells(row, asked_column(row, decision.claims[0].value_text))
    for number, (_, told) in enumerate(groupby(claims, lambda one: one[0] if CELL in one[0].text else None)):
        with st.container(key=f"told{key}_{number}", gap=None):  # the style sheet makes one paragraph of it
            for claim, sources in told:
                if not row:
                    st.text(_read(claim.text))
                if isinstance(answer, Answer) and answer.style != "none":
                    st.html(_links(sources, answer.format))


def _read(text: str) -> str:
    """A claim as it is read; of a row without a head over it, its name and its cells."""
    name, *cells = in_words(text).split(CELL)
    return f"{name}: {' · '.join(cells)}" if cells else name


def _links(sources: Sequence[Citation], format: str) -> str:
    """The marks of sources as HTML: each leads to its card, and has its place and words where it is pointed at."""
    made = ""
    for one in sources:
        about = escape(f"{where(one)}: {normalise(one.excerpt).text}")
        mark = escape(format.format(id=one.id, chunk_id=one.chunk_id))
        made += f'&nbsp;<a href="#source-{one.id:d}" title="{about}">{mark}</a> '
    return made


def _show_in_place(
    citations: Sequence[Citation],
    show: Callable[[str], object],
    key: str = "",
    earlier: Citation | None = None,
    later: Citation | None = None,
) -> None:
    """Show a part of an answer under its place and, in grey, what stands before and behind it up to the next part.

    That is not said again where it is one of the quotes itself; nor is a heading of the place, nor the next row.
    """
    first, last = citations[0], citations[-1]
    shown = [*citations, *filter(None, (earlier, later))]
    quoted = {_quote(one) for one in shown} | {*first.heading.split(SECTION_MARK)}
    place = tell("evidence.place", title=first.title or first.document, page=first.page_in_words)

    def grey(side: str, text: str, beside: Citation | None) -> None:
        lines = [line for line in text.split(BREAK) if line not in quoted and CELL not in line]
        if any(lines):
            show_text(BREAK.join(lines), f"around_{side}{'_between' if beside else ''}{key}")

    if earlier is None or (earlier.document_id, earlier.heading) != (first.document_id, first.heading):
        show_text(" · ".join(filter(None, (_dated(place, first), first.heading))), f"around_heading{key}")
    near = earlier is not None and _quote(first) in earlier.after.text  # then all between them is said already
    before, after = first.before.text, last.after.text
    grey("before", "" if near else before.rpartition(_quote(earlier))[2] if earlier else before, earlier)
    show(key)
    grey("after", after.partition(_quote(later))[0] if later else after, later)


def _quote(one: Citation) -> str:
    return normalise(one.excerpt).text


def show_place(citation: Citation) -> None:
    """The place that may be the answer, with what stands around it and where it is."""
    _show_in_place([citation], lambda _: show_text(citation.excerpt, "quote_place"))


def _dated(place: str, one: Citation) -> str:
    """A source's place in a line, with the date of its document where one is known."""
    return ", ".join(filter(None, (place, shown_date(one.date, one.date_source))))


def with_sources(decision: Decision) -> str:
    """The answer and its value with its numbered list of sources, as plain text to paste elsewhere."""
    lines = [*([decision.value["text"], ""] if decision.value else []), decision.answer, "", tell("evidence.list")]
    for one in decision.citations:
        key = "evidence.source_line" if one.title == one.document else "evidence.source_line_named"
        line = tell(key, id=one.id, title=one.title, name=one.document, page=one.page_in_words)
        lines.append(" ".join(filter(None, (_dated(line, one), as_read(one)))))
    return "\n".join(lines)


def _show_outline(decision: Decision) -> None:
    st.header(say("evidence.outline"), anchor=False)
    st.caption(say("evidence.outline_about"))
    several = len({one.document_id for one in decision.places}) > 1
    rows = [
        {"text": normalise(one.excerpt).text, "number": one.page}
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
    """Number, title, page and date of a source, in a line."""
    return _dated(tell("evidence.where", id=one.id, title=one.title or one.document, page=one.page_in_words), one)


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


MAX_CELLS = 14  # that stand beside and below one another; a longer row is read as text


def row_of(text: str) -> tuple[tuple[str, str], ...]:
    """Head and cell of each column of a claim "head | head: cell | cell"; empty for another, or too long a one."""
    heads, parted, row = text.partition(": ")
    columns, cells = heads.split(CELL), row.split(CELL)
    if parted and len(columns) != len(cells) and over_figures(columns):
        columns, cells = ["", *columns], figures(cells)
    if not parted or not 2 <= len(cells) <= MAX_CELLS or len(columns) != len(cells) or NEXT_ROW in heads:
        return ()
    return tuple(zip(columns, cells, strict=True))


def asked_column(row: Sequence[tuple[str, str]], value: str) -> int | None:
    """The one column behind the first that holds the value of the answer."""
    found = [number for number, (_, cell) in enumerate(row) if number and value and value in cell]
    return found[0] if len(found) == 1 else None


def _row(decision: Decision) -> tuple[tuple[str, str], ...]:
    """The cells of an answer that is one row, with their heads."""
    return row_of(decision.claims[0].text) if len(decision.claims) == 1 else ()


def _show_cells(row: Sequence[tuple[str, str]], asked: int | None) -> None:
    with st.container(key="answer_row", horizontal=True, gap="small"):
        for number, (head, cell) in enumerate(row):
            key = "asked_cell" if number == asked else f"cell_{number}"
            with st.container(key=key, gap="xxsmall", width="content"):
                st.text(head)
                st.text(cell)
