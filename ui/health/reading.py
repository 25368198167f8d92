"""Reads the kept questions of a period beside the page, with the groups of those that nothing answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import streamlit as st

from rag_core.domain.ports import Cancel
from rag_core.engine import Engine
from rag_core.evaluation.health import Gap, Kept, gaps, unanswered
from rag_core.work.background import Background
from rag_core.work.recording import kept
from ui.app import state
from ui.app.jobs.background import watch
from ui.app.texts import say, show_error

PERIODS = (1, 7, 30, 90)  # days
FIRST = 7  # days that the page begins with: a working week
MAX_GROUPED = 300  # unanswered questions that are compared with one another: a second of the embedding model
PATIENCE_SECONDS = 0.5  # before the page says that it reads
FRESH_SECONDS = 15.0  # a reading is shown so long without another one
_KEY = "health_reading"


@dataclass(frozen=True, slots=True)
class Period:
    """The questions of a period, newest first, and the gaps that they point at."""

    kept: tuple[Kept, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading on its way or done, of a collection and so many days."""

    of: tuple[str, int]
    begun: float
    work: Background[Period]


def read(engine: Engine, days: int) -> Period | None:
    """The questions of the last so many days; None while they are being read, or where they cannot be."""
    of = state.session().collection, days
    reading: Reading | None = st.session_state.get(_KEY)
    if reading is not None:
        old = reading.work.wait() and time.monotonic() - reading.begun > FRESH_SECONDS
        if old or reading.of != of:
            reading.work.stop()
            reading = None
    if reading is None:
        reading = st.session_state[_KEY] = Reading(of, time.monotonic(), _start(engine, *of))
    if not reading.work.wait(PATIENCE_SECONDS):
        watch(reading.work.wait, lambda: st.info(say("health.reading"), icon=":material/hourglass_top:"))
        return None
    if reading.work.error is not None:
        show_error(reading.work.error)
    return reading.work.result


def _start(engine: Engine, collection: str, days: int) -> Background[Period]:
    folder = state.library_folder()
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")

    def work(cancelled: Cancel) -> Period:
        found = kept(folder, collection, since, cancelled)
        asked = unanswered(found)[:MAX_GROUPED]
        vectors = (
            engine.tools.embedder.embed([one.question for one in asked]) if asked else np.zeros((0, 0), np.float32)
        )
        return Period(found, tuple(gaps(asked, vectors)))

    return Background[Period]("reading kept questions", "Reading the kept questions").start(work)
