"""Reads the kept questions of a period, with the groups of those that nothing answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import streamlit as st

from rag_core.engine import Engine
from rag_core.evaluation.health import Gap, Kept, gaps, unanswered
from rag_core.work.recording import kept
from ui.app import state
from ui.app.texts import say

PERIODS = (1, 7, 30, 90)  # days
FIRST = 7  # days that the page begins with: a working week
MAX_GROUPED = 300  # unanswered questions that are compared with one another: a second of the embedding model
FRESH_SECONDS = 15.0  # a reading is shown so long without another one
_KEY = "health_reading"  # in the session: collection and days, when it was read, and what


@dataclass(frozen=True, slots=True)
class Period:
    """The questions of a period, newest first, and the gaps that they point at."""

    kept: tuple[Kept, ...]
    gaps: tuple[Gap, ...]


def read(engine: Engine, days: int) -> Period:
    """The questions of the last so many days.

    Raises:
        RagError: they cannot be read.
    """
    of, now, known = (state.session().collection, days), time.monotonic(), st.session_state.get(_KEY)
    if known is None or known[0] != of or now - known[1] > FRESH_SECONDS:
        with st.spinner(say("health.reading")):
            known = st.session_state[_KEY] = of, now, _read(engine, *of)
    period: Period = known[2]
    return period


def _read(engine: Engine, collection: str, days: int) -> Period:
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    found = kept(state.library_folder(), collection, since, _next_touch)
    asked = unanswered(found)[:MAX_GROUPED]
    texts = [one.question for one in asked]
    vectors = engine.tools.embedder.embed(texts) if asked else np.zeros((0, 0), np.float32)
    return Period(found, tuple(gaps(asked, vectors)))


def _next_touch() -> bool:
    """Let the next touch of the page end a long reading: Streamlit looks for one where the session is read."""
    return st.session_state.get(_KEY) is False
