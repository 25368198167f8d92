"""Shows where the right page ranked.

The reader points at the page that holds the answer; the step that lost it is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from rag_core.decision.why_missed import LostAt, Missed, RankedPassage
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.settings import Settings
from ui.app import tables
from ui.app.asked import Asked
from ui.app.elements import button
from ui.app.scope import select_document
from ui.app.texts import say, show_error, tell
from ui.ask.evidence import place_of
from ui.documents import viewer
from ui.documents.place import Place
from ui.settings.fields import set_knob

MAX_SOURCES = int(Settings.knob("top_k").high or 0)


def show_missed(engine: Engine, asked: Asked) -> None:
    """Document and page to choose, then what became of that page for this question."""
    documents = engine.library.view.documents
    if not documents or asked.measurements.answer:
        return
    title = say("missed.title_answer") if asked.decision.answered else say("missed.title_refusal")
    with st.expander(title, icon=":material/pin_drop:", key="missed"):
        st.caption(say("missed.about"))
        document = select_document("missed.document", documents, f"missed_document_{asked.number}")
        count = {one.id: one.page_count for one in documents}.get(document, 1)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            page = st.number_input(
                say("missed.page", n=count), 1, count, step=1, key=f"missed_page_{asked.number}_{document}", width=160
            )
            button("missed.look", "missed_look", _look, asked, document, page, icon="search")
        _show_result(engine, asked)


def _look(asked: Asked, document: str, page: int) -> None:
    st.session_state.missed = (asked.collection, asked.number, document, page)
    viewer.open_at(Place(document, page))


def _show_result(engine: Engine, asked: Asked) -> None:
    wanted = st.session_state.get("missed")
    if wanted is None or wanted[:2] != (asked.collection, asked.number):
        return
    try:
        missed = _became_of(engine, asked, *wanted[2:])
    except RagError as error:  # deleted meanwhile
        show_error(error)
        return
    with st.container(border=True, key="missed_result"):
        st.text(tell("missed.page_of", name=engine.library.view.document(missed.document).name, page=missed.page))
        show_finding(missed)
        if missed.lost_at is LostAt.CUT and missed.top_k < MAX_SOURCES:  # more sources would bring the page in
            button("missed.take", "missed_take", _take_enough, engine, asked, missed, help="missed.take_help")
        if missed.passages:
            place = place_of(engine, missed.passages[0].passage)
            button("missed.mark", "missed_mark", viewer.open_at, place, icon="visibility")


def _became_of(engine: Engine, asked: Asked, document: str, page: int) -> Missed:
    """Measured once for each question, settings and version of the library."""
    key = (asked.collection, asked.number, document, page, asked.settings, asked.scope, engine.library.view.version)
    known = st.session_state.get("missed_result_of")
    if known is None or known[0] != key:
        with st.spinner(say("missed.looking")):
            found = _measure(engine, asked, asked.settings, document, page)
        st.session_state.missed_result_of = known = (key, found)
    missed: Missed = known[1]
    return missed


def show_finding(missed: Missed) -> None:
    """Show the fate of the page, where its passages ranked, and what to do about it."""
    st.text(in_words(missed))
    if missed.passages:
        kept = st.column_config.Column(
            say("missed.column_kept"), width=90, help=say("missed.kept_help", k=missed.top_k)
        )
        wide = {"text": 230, "meaning": 90, "words": 80, "together": 80}
        rows = _rows(missed.passages)
        tables.show(rows, "missed.column_", "missed_rows", wide=wide, columns={"kept": kept}, alt="missed.alt")
    st.text(tell("missed.advice", advice=tell(f"missed.do_{missed.lost_at}")))


def in_words(missed: Missed) -> str:
    """The fate of the page, in one or two sentences with its ranks."""
    best, searched = missed.passages[0] if missed.passages else None, f"{missed.searched:,}"
    numbers: dict[str, object] = {"k": missed.top_k, "candidates": missed.candidates, "searched": searched}
    if best is not None:
        key = "missed.ranks" if best.lexical_rank else "missed.ranks_no_word"
        numbers["ranks"] = tell(key, meaning=best.dense_rank, words=best.lexical_rank, searched=searched)
        numbers["rank"] = best.fused_rank
    if missed.quoted is not None:
        here = missed.quoted[0] == missed.document
        numbers["where"] = tell("missed.same_document" if here else "missed.other_document", page=missed.quoted[1])
    key = missed.lost_at.value
    if missed.lost_at is LostAt.NOT_CHOSEN and missed.quoted is None:
        key = "nothing_drafted"
    return tell(f"missed.is_{key}", **numbers)


def _rows(passages: Sequence[RankedPassage]) -> list[dict[str, object]]:
    return [
        {
            "text": one.passage.text,
            "meaning": one.dense_rank or None,
            "words": one.lexical_rank or None,
            "together": one.fused_rank or None,
            "kept": tell("missed.yes" if one.within_top_k else "missed.no"),
        }
        for one in passages
    ]


def _take_enough(engine: Engine, asked: Asked, missed: Missed) -> None:
    """More sources bring more candidates, which may rank before the page: it is looked at again each time."""
    sources = missed.top_k
    with suppress(RagError):  # deleted meanwhile: the result says so
        while missed.lost_at is LostAt.CUT and sources < MAX_SOURCES:
            sources = min(MAX_SOURCES, max(sources + 1, missed.passages[0].fused_rank))
            missed = _measure(engine, asked, asked.settings.changed(top_k=sources), missed.document, missed.page)
    set_knob("top_k", sources)


def _measure(engine: Engine, asked: Asked, settings: Settings, document: str, page: int) -> Missed:
    return engine.why_missed(
        asked.question, settings, document, page, asked.scope.documents or None, asked.scope.filters
    )
