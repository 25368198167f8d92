"""Watched answers: the switch under an answer, and on the Documents page those that are not what they were."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urljoin

import streamlit as st

from rag_core.domain.acts import Action
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.records.changes import Change, Pin
from rag_core.work import pins
from ui.app import state, tables
from ui.app.asked import Asked
from ui.app.elements import kept_error, show_kept_error
from ui.app.people import recording, visitor
from ui.app.texts import say, tell
from ui.settings.sharing import address

_PROBLEM = "watch_problem"


def show_switch(engine: Engine, asked: Asked) -> None:
    """A switch that has the answer asked again when documents change; nothing where nothing is kept for the visitor."""
    if asked.measurements.answer or not visitor.may_do(Action.WATCH):
        return
    key = f"watch_{asked.number}_{asked.record}"  # asked again it is another decision: no browser switches that on
    try:
        # another session may have changed it
        st.session_state[key] = asked.record in {one.decision for one in recording.store().pins()}
    except RagError:  # the side bar says why
        return
    st.toggle(
        say("watched.switch"), key=key, on_change=_choose, args=(engine, asked, key), help=say("watched.switch_help")
    )
    show_kept_error(_PROBLEM)


def _choose(engine: Engine, asked: Asked, key: str) -> None:
    with kept_error(_PROBLEM):
        if asked.record is None:
            asked.record = recording.keep(asked, origin="link")
        if st.session_state[key]:
            pins.pin(engine.library, recording.store(), asked.record)
        else:
            recording.store().unpin(asked.record)


def show(engine: Engine) -> None:
    """How many answers are watched and what became of them, and a table of those that are not the same."""
    try:
        found = recording.store().pins()
    except RagError:  # the side bar says why
        return
    if not found:
        return
    counts = Counter(one.change for one in found)
    other = [change for change in Change if change is not Change.SAME and counts[change]]
    parts = [tell(f"watched.{change}", n=counts[change]) for change in other] or [tell("watched.same")]
    with st.container(key="watched"):
        st.text(tell("watched.summary", n=len(found), parts=", ".join(parts)))
        if other:
            _table(engine, [one for one in found if one.change in other])


def _table(engine: Engine, changed: list[Pin]) -> None:
    page, collection = st.context.url or "", state.session().collection
    rows = [
        {
            "question": one.question or tell("watched.erased"),
            "what": tell(
                "watched.lost_deleted" if one.state is Change.LOST and not one.before else f"watched.{one.state}_one"
            ),
            "before": one.before or tell("watched.no_words"),
            "now": one.now or tell("watched.no_words"),
            "where": tell("watched.place", name=one.document, page=one.page) if one.page else "",
            "open": address(urljoin(page, "./"), collection, int(one.latest)) if one.question else None,
        }
        for one in pins.listed(recording.store(), changed, engine.library.view.page_text)
    ]
    opens = st.column_config.LinkColumn(
        say("watched.column_open"), display_text=say("watched.open_link"), width="small"
    )
    tables.show(rows, "watched.column_", "watched_table", columns={"open": opens}, alt="watched.table")
