"""The set and the run that a session works with in the lab, and the records of a run, read once for the process."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import streamlit as st

from rag_core.decision.batch import ReplaySet
from rag_core.domain.measurements import Measurements
from rag_core.engine import Engine
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import RunHead
from rag_core.wiring import records
from rag_core.work import loading
from rag_core.work.recording import passage_of
from ui.app import state
from ui.app.people import recording
from ui.app.texts import say, tell

MAX_RUNS_KEPT = 6  # in memory; a recorded question takes some 40 kB


class Recorded(NamedTuple):
    """The questions of a run that have a result, and their records; all in the same order."""

    questions: tuple[LabelledQuestion, ...]
    replay: ReplaySet
    records: tuple[Measurements, ...]


def chosen_run() -> RunHead | None:
    """The run that the page shows, the newest one unless another was chosen; None where this collection has none."""
    runs = recording.store().runs()
    wanted = st.session_state.get(run_key())
    return next((head for head in runs if head.id == wanted), runs[0] if runs else None)


def run_key() -> str:
    """Where the session's choice stands; each collection has its own."""
    return f"lab_run_{state.session().collection}"


def choose_run() -> RunHead | None:
    """The field above the tabs; nothing where there is no run."""
    runs = {head.id: head for head in recording.store().runs()}
    if not runs:
        return None
    if st.session_state.get(run_key()) not in runs:
        st.session_state.pop(run_key(), None)
    state.session().tell(run_key(), runs)
    chosen = st.selectbox(
        say("lab.run"),
        list(runs),
        format_func=lambda id: label(runs[id]) if id in runs else say("lab.run_deleted"),
        key=run_key(),
        help=say("lab.run_help"),
        persist_state="session",
    )
    return runs.get(chosen)


def label(head: RunHead) -> str:
    """A run in one line: its name, its set, when it was started; the same from its start to its end.

    Names are untrusted text.
    """
    started = head.started[:16].replace("T", " ")
    return tell("lab.run_label", name=head.name, set=head.set_name, started=started, id=head.id)


def replay_set(run: RunHead) -> Recorded:
    """The records of a run, with the texts of its collection as it is now.

    Raises:
        RagError: the collection or its records cannot be read.
    """
    engine = loading.engine(state.library_folder(), run.collection, state.base_settings())
    version = engine.library.snapshot.version
    return _read(
        state.library_folder(), run.collection, run.id, run.done, run.version, run.calibration, version, engine
    )


def forget_records() -> None:
    """Read the records anew at the next call: a run measured questions again."""
    _read.clear()


@st.cache_resource(show_spinner=False, max_entries=MAX_RUNS_KEPT)
def _read(
    folder: Path,
    collection: str,
    run: int,
    done: int,
    measured_under: int,
    calibration: str,
    version: int,
    _engine: Engine,
) -> Recorded:
    store, snapshot = records(folder, collection), _engine.library.snapshot
    found = store.results(run, snapshot.page_text, passage_of(snapshot))
    questions = tuple(question for question in store.run_questions(run) if question.id in found)
    measured = tuple(found[question.id] for question in questions)
    return Recorded(questions, ReplaySet.of(measured), measured)
