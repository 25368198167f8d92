"""The health of a collection: how its questions went in a period, and what they were refused for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from rag_core.work.recording import MAX_QUESTIONS
from ui import frame
from ui.app import first_run, state
from ui.app.elements import segments, shown_error
from ui.app.texts import say
from ui.health import figures

WIDTH = 1500  # pixels, as on the Ask page


def page() -> None:
    """The page from top to bottom."""
    st.title(say("health.title"), anchor=False)
    frame.start()
    if state.session().collection == first_run.SAMPLES_COLLECTION:
        st.info(say("health.samples"), icon=":material/science:")
    about: dict[str, Any] = {"label_visibility": "visible"}
    days = segments("health.period", figures.PERIODS, "health.period_", "health_period", figures.FIRST, **about)
    with shown_error():
        show(days)


def show(days: int) -> None:
    """The kept questions of so many days."""
    kept = figures.read(days)
    if not kept:
        st.info(say("health.empty"), icon=":material/monitor_heart:")
        return
    st.caption(say("health.looked", n=len(kept), most=MAX_QUESTIONS))
    figures.show_alerts(kept)
    figures.show_figures(kept)
    figures.show_feedback((datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds"))
    figures.show_reasons(kept)
    figures.show_refused(kept)
    figures.show_questions(kept)


with st.container(width=WIDTH):
    page()
