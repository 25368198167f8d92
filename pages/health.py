"""The health of a collection: how its questions went in a period, what they were refused for, and what no document
answers.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from rag_core.engine import Engine
from rag_core.evaluation.calibration import figures_of
from rag_core.evaluation.health import Drift, Kept, drift, scores, spread_of
from rag_core.work.recording import MAX_QUESTIONS
from ui import frame
from ui.app import first_run, state
from ui.app.elements import segments, shown_error
from ui.app.texts import say
from ui.health import figures, reading

WIDTH = 1500  # pixels, as on the Ask page


def page() -> None:
    """The page from top to bottom."""
    st.title(say("health.title"), anchor=False)
    engine = frame.start()
    if state.session().collection == first_run.SAMPLES_COLLECTION:
        st.info(say("health.samples"), icon=":material/science:")
    about: dict[str, Any] = {"label_visibility": "visible"}
    days = segments("health.period", reading.PERIODS, "health.period_", "health_period", reading.FIRST, **about)
    with shown_error():
        show(engine, days)


def show(engine: Engine, days: int) -> None:
    """The kept questions of so many days."""
    period = reading.read(engine, days)
    if not period.kept:
        st.info(say("health.empty"), icon=":material/monitor_heart:")
        return
    st.caption(say("health.looked", n=len(period.kept), most=MAX_QUESTIONS))
    shifted = shift(engine, period.kept)
    figures.show_alerts(period.kept, shifted)
    figures.show_figures(period.kept)
    figures.show_feedback((datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds"))
    figures.show_scores(shifted)
    figures.show_reasons(period.kept)
    figures.show_gaps(period.gaps)
    figures.show_questions(period.kept)


def shift(engine: Engine, kept: tuple[Kept, ...]) -> Drift:
    """The spread of the scores against that of the calibration in force."""
    calibration = engine.tools.calibration
    right = figures_of(calibration.provenance)[1] if calibration is not None else None
    return drift(scores(kept), spread_of((right or {}).get("all", {})))


with st.container(width=WIDTH):
    page()
