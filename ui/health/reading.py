"""Reads the kept questions of a period."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import streamlit as st

from rag_core.evaluation.health import Kept
from rag_core.work.recording import kept
from ui.app import state
from ui.app.texts import say

PERIODS = (1, 7, 30, 90)  # days
FIRST = 7  # days that the page begins with: a working week
FRESH_SECONDS = 15.0  # a reading is shown so long without another one
_KEY = "health_reading"  # in the session: collection and days, when it was read, and what


def read(days: int) -> tuple[Kept, ...]:
    """The questions of the last so many days, newest first.

    Raises:
        RagError: they cannot be read.
    """
    of, now, known = (state.session().collection, days), time.monotonic(), st.session_state.get(_KEY)
    if known is None or known[0] != of or now - known[1] > FRESH_SECONDS:
        with st.spinner(say("health.reading")):
            known = st.session_state[_KEY] = of, now, _read(*of)
    period: tuple[Kept, ...] = known[2]
    return period


def _read(collection: str, days: int) -> tuple[Kept, ...]:
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    return kept(state.library_folder(), collection, since, _next_touch)


def _next_touch() -> bool:
    """Let the next touch of the page end a long reading: Streamlit looks for one where the session is read."""
    return st.session_state.get(_KEY) is False
