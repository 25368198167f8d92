"""Shows where the right page ranked.

The reader points at the page that holds the answer; the step that lost it is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from rag_core.decision.why_missed import LostAt, Missed, RankedPassage
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.settings import Settings
from ui.app.asked import Asked
from ui.app.naming import unique_names
from ui.app.texts import say, show_error, tell
from ui.ask.evidence import place_of
from ui.documents import viewer
from ui.documents.place import Place
from ui.settings.fields import set_knob

MAX_SOURCES = int(Settings.knob("top_k").high or 0)


def show_missed(engine: Engine, asked: Asked) -> None:
    """Document and page to choose, then what became of that page for this question; nothing where nothing was
    searched.
    """
    documents = engine.library.view.documents
    if not documents or asked.measurements.answer:
        return
    answered = asked.decision.answered
    with st.expander(
        say("missed.title_answer") if answered else say("missed.title_refusal"),
        icon=":material/pin_drop:",
        key="missed",
    ):
        st.caption(say("missed.about"))
        names = unique_names(documents)
        document = st.selectbox(
            say("missed.document"),
            list(names),
            format_func=lambda id: names.get(id, say("missed.deleted")),
            key=f"missed_document_{asked.number}",
        )
        pages = {one.id: one.page_count for one in documents}
        count = pages.get(document or "", 1)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            page = st.number_input(
                say("missed.page", n=count), 1, count, step=1, key=f"missed_page_{asked.number}_{document}", width=160
            )
            st.button(
                say("missed.look"),
                key="missed_look",
                icon=":material/search:",
                on_click=_look,
                args=(asked, document, page),
                width="content",
            )
        _show_result(engine, asked)


def _look(asked: Asked, document: str, page: int) -> None:
    """Remember what was asked for, and show that page."""
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
        _offer_more(engine, asked, missed)
        if missed.passages:
            st.button(
                say("missed.mark"),
                key="missed_mark",
                icon=":material/visibility:",
                on_click=viewer.open_at,
                args=(place_of(engine, missed.passages[0].passage),),
            )


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
        _show_ranks(missed)
    st.text(tell("missed.advice", advice=tell(f"missed.do_{missed.lost_at}")))


def in_words(missed: Missed) -> str:
    """The fate of the page, in one or two sentences with its ranks."""
    best = missed.passages[0] if missed.passages else None
    numbers: dict[str, object] = {
        "k": missed.top_k,
        "candidates": missed.candidates,
        "searched": f"{missed.searched:,}",
    }
    if best is not None:
        key = "ranks" if best.lexical_rank else "ranks_no_word"
        numbers["ranks"] = tell(
            f"missed.{key}", meaning=best.dense_rank, words=best.lexical_rank, searched=f"{missed.searched:,}"
        )
        numbers["rank"] = best.fused_rank
    if missed.quoted is not None:
        here = missed.quoted[0] == missed.document
        numbers["where"] = tell("missed.same_document" if here else "missed.other_document", page=missed.quoted[1])
    key = missed.lost_at.value
    if missed.lost_at is LostAt.NOT_CHOSEN and missed.quoted is None:
        key = "nothing_drafted"
    return tell(f"missed.is_{key}", **numbers)


def _show_ranks(missed: Missed) -> None:
    """The passages of the page with their dense, lexical and fused ranks."""
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    columns: dict[str, Any] = {
        "text": text(say("missed.text"), width=230),
        "meaning": number(say("missed.meaning"), width=90, help=say("missed.meaning_help")),
        "words": number(say("missed.words"), width=80, help=say("missed.words_help")),
        "together": number(say("missed.together"), width=80, help=say("missed.together_help")),
        "kept": text(say("missed.kept"), width=90, help=say("missed.kept_help", k=missed.top_k)),
    }
    st.dataframe(
        _rows(missed.passages),
        hide_index=True,
        column_config=columns,
        key="missed_rows",
        placeholder="–",
        alt=say("missed.alt"),
    )


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


def _offer_more(engine: Engine, asked: Asked, missed: Missed) -> None:
    """Where more sources would bring the page in, a button that takes so many."""
    if missed.lost_at is LostAt.CUT and missed.top_k < MAX_SOURCES:
        st.button(
            say("missed.take"),
            key="missed_take",
            on_click=_take_enough,
            args=(engine, asked, missed),
            help=say("missed.take_help"),
        )


def _take_enough(engine: Engine, asked: Asked, missed: Missed) -> None:
    """As many sources as bring the page in.

    More sources bring more candidates, which may rank before it: looked at again each time.
    """
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
