"""Shows where an answer comes from: a card for each source, and the table of all passages that were found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag_core.compression.citing import boxes_of
from rag_core.decision.notes import word_in_words
from rag_core.domain.claims import Citation, Evidence
from rag_core.domain.decision import Decision
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.scanned import engines_in_words
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.grounding.citations import labels
from ui.app.texts import say, tell
from ui.documents import viewer
from ui.documents.place import Place

ROWS_IN_VIEW = 10  # as many as `top_k` is by default


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
            citation, hits.get(citation.chunk_id), about, shown is not None and shown.shows(citation), certain=has_place(engine, citation)
        )


def show_in_place(citations: Sequence[Citation], show: Callable[[], object]) -> None:
    """Show something with what stands around it in its document, in grey: the headings, and what is before the first and behind the last.

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


def show_found(engine: Engine, decision: Decision) -> None:
    """Every passage that was found, best first; a chosen row is shown in the viewer."""
    if not decision.retrieved:
        return
    with st.expander(say("evidence.found", n=len(decision.retrieved)), icon=":material/search:", key="found"):
        st.caption(say("evidence.found_about"))
        st.dataframe(
            [_row(rank, name, hit) for rank, (name, hit) in enumerate(decision.retrieved, 1)], hide_index=True, column_config=_columns(),
            height=38 + 35 * min(len(decision.retrieved), ROWS_IN_VIEW), key="found_rows", placeholder="–", alt=say("evidence.found_alt"),
            on_select=lambda: _open_row(engine, decision), selection_mode="single-row",
        )  # fmt: skip


def _show_outline(decision: Decision) -> None:
    """The headings of what was to be summarized; a chosen one is shown on its page."""
    st.subheader(say("evidence.outline"), anchor=False)
    st.caption(say("evidence.outline_about"))
    several = len({one.document_id for one in decision.places}) > 1
    rows = [
        {"text": " ".join(one.excerpt.split()), "page": one.page, **({"document": one.title or one.document} if several else {})}
        for one in decision.places
    ]

    st.dataframe(
        rows, hide_index=True, column_config=_columns() | {"text": st.column_config.TextColumn(say("evidence.outline_heading"))},
        height=38 + 35 * min(len(rows), 2 * ROWS_IN_VIEW), key="outline_rows", alt=say("evidence.outline_about"),
        on_select=lambda: _open_heading(decision), selection_mode="single-row",
    )  # fmt: skip


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


def _show_card(citation: Citation, hit: Hit | None, values: Mapping[str, str], current: bool, *, certain: bool) -> None:
    with st.container(border=True, key=f"citation_{citation.id}", gap="xsmall"):
        with st.container(key=f"where_{citation.id}"):
            st.text(tell("evidence.where", id=citation.id, title=citation.title or citation.document, page=citation.page_in_words))
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
                st.badge(say("viewer.uncertain"), icon=":material/location_off:", color="orange", help=say("viewer.uncertain_help"))
            if citation.ocr:
                st.badge(say("evidence.ocr"), icon=":material/document_scanner:", color="orange", help=say("evidence.ocr_help"))


def as_read(citation: Citation) -> str:
    """That a source was read from a picture, by what, and which of its words may be wrong; empty for one of which nothing is to be said."""
    if not citation.ocr:
        return tell("evidence.two_readings", words=_doubted(citation)) if citation.unsure else ""
    by = engines_in_words([citation.read_by])
    if citation.unsure is None:
        return tell("evidence.as_read_unknown", by=by)
    words = _doubted(citation)
    return tell("evidence.as_read_unsure", words=words, by=by) if words else tell("evidence.as_read", by=by)


def _doubted(citation: Citation) -> str:
    return ", ".join(dict.fromkeys(map(word_in_words, citation.unsure or ())))


def show_ranks(decision: Decision) -> None:
    """How the passage of each source was found, in words; a ranking that it is no candidate of is not numbered."""
    hits = {hit.passage.id: hit for _, hit in decision.retrieved}
    lines = [tell("evidence.ranks", id=one.id, how=_ranks(hits[one.chunk_id])) for one in decision.citations if one.chunk_id in hits]
    if lines:
        st.caption(say("evidence.ranks_title"), help=say("evidence.ranks_help"))
        st.text("\n".join(lines))


def _ranks(hit: Hit) -> str:
    if hit.dense_rank and hit.lexical_rank:
        return tell("evidence.ranks_both", meaning=hit.dense_rank, words=hit.lexical_rank)
    if hit.dense_rank:
        return tell("evidence.ranks_meaning", meaning=hit.dense_rank)
    return tell("evidence.ranks_words", words=hit.lexical_rank)


def _row(rank: int, name: str, hit: Hit) -> dict[str, object]:
    return {
        "rank": rank, "document": name, "page": hit.passage.page, "text": hit.passage.text, "cosine": hit.cosine, "bm25": hit.lexical,
        "by_meaning": hit.dense_rank or None, "by_words": hit.lexical_rank or None, "section": hit.passage.section,
    }  # fmt: skip


def _columns() -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    return {
        "rank": number(say("evidence.rank"), width=58, help=say("evidence.rank_help")),
        "document": text(say("evidence.document"), width=150),
        "page": number(say("evidence.page"), width=58),
        "text": text(say("evidence.text"), width=300),
        "cosine": number(say("evidence.cosine"), format="%.3f", width=76, help=say("evidence.cosine_help")),
        "bm25": number(say("evidence.bm25"), format="%.1f", width=70, help=say("evidence.bm25_help")),
        "by_meaning": number(say("evidence.by_meaning"), width=96, help=say("evidence.by_meaning_help")),
        "by_words": number(say("evidence.by_words"), width=84, help=say("evidence.by_words_help")),
        "section": text(say("evidence.section_column"), width=150),
    }


def _open_row(engine: Engine, decision: Decision) -> None:
    """Show the row that was clicked; unchoosing it leaves the page as it is."""
    if (row := _chosen("found_rows", len(decision.retrieved))) is not None:
        viewer.open_at(place_of(engine, decision.retrieved[row][1].passage))


def _open_heading(decision: Decision) -> None:
    """Show the heading that was clicked."""
    if (row := _chosen("outline_rows", len(decision.places))) is not None:
        viewer.open_at(Place.of(decision.places[row]))


def _chosen(key: str, count: int) -> int | None:
    """The row of a table that is chosen, if it is one of so many; None otherwise."""
    rows: Sequence[int] = getattr(st.session_state, key).selection.rows
    return rows[0] if rows and rows[0] < count else None
