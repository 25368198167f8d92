"""Keeps the questions that are asked: how long, and the switch for it in the side bar."""

from __future__ import annotations

import logging
import os
from dataclasses import replace

import streamlit as st

from rag_core.errors import RagError, RecordsDamaged
from rag_core.service.people import Right
from rag_core.settings.configuration import retention
from rag_core.wiring import RecordStore, records
from rag_core.work import recording
from ui.app import state
from ui.app.asked import Asked
from ui.app.elements import button, kept_error
from ui.app.people import visitor
from ui.app.texts import say, show_error

SWITCH = "keep_questions"
_PROBLEM = "record_problem"  # in the session: why the last question could not be recorded
_log = logging.getLogger(__name__)


def store() -> RecordStore:
    """The records of the session's collection."""
    return records(state.library_folder(), state.session().collection)


def keeping() -> bool:
    """Whether the session's questions are kept; raises as `rag_core.work.recording.keeping`."""
    return recording.keeping(store())


def record(asked: Asked) -> Asked:
    """The question, kept where questions are; the side bar says why one was not kept."""
    st.session_state.pop(_PROBLEM, None)
    try:
        if keeping():
            asked.record = asked.turn = keep(asked)
        else:
            store().prune_rejected(retention(os.environ).rejected_days)
    except RagError as error:
        _log.warning("a question could not be recorded: %s", error.kind)
        st.session_state[_PROBLEM] = error
    return asked


def keep(asked: Asked, origin: str = "ask") -> int:
    """Keep a question as it was last judged, whatever was chosen; its id.

    Drops what is older or more than is to be kept.

    Raises:
        RagError: it cannot be kept.
    """
    narrowed = asked.scope.documents or asked.scope.filters
    searched = tuple(asked.measurements.library.names) if narrowed else ()
    return recording.keep(
        store(), replace(asked.measurements, settings=asked.settings), searched, visitor.origin(origin)
    )


def show_switch() -> None:
    """The switch, what is kept in words, and what went wrong with it."""
    try:
        limits, on = retention(os.environ), keeping()
    except RagError as error:
        _show_problem(error)
        return
    key = f"{SWITCH}_{state.session().collection}"
    st.session_state[key] = on  # another session of this collection may have changed it
    st.toggle(
        say("recording.keep"),
        key=key,
        on_change=_choose,
        args=(key,),
        disabled=not limits.keep or not visitor.may(Right.THRESHOLDS),
        help=say("recording.keep_help") if limits.keep else say("recording.off_by_environment"),
    )
    st.caption(say("recording.kept" if on else "recording.not_kept", days=limits.days, most=limits.most))
    if on and state.session().values["drafter"] == "model":
        st.caption(say("recording.kept_model", days=limits.rejected_days))
    if (problem := st.session_state.get(_PROBLEM)) is not None:
        _show_problem(problem)


def _choose(key: str) -> None:
    with kept_error(_PROBLEM):
        store().set_keeping(bool(st.session_state[key]))


def _show_problem(error: RagError) -> None:
    show_error(error)
    if isinstance(error, RecordsDamaged):
        button("recording.move_aside", "move_records_aside", _move_aside, help="recording.move_aside_help")


def _move_aside() -> None:
    st.session_state.pop(_PROBLEM, None)
    with kept_error(_PROBLEM):
        store().move_aside()
