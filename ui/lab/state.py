"""The set and the run that a session works with in the lab; the records of a run, read once for the process, and its
outcomes against the labels under any settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from rag_core.decision.batch import Outcomes, ReplaySet, replay_many
from rag_core.decision.batch.columns import Flags, Objects
from rag_core.domain.measurements import Measurements
from rag_core.evaluation import BREAKDOWNS, Marks, answer_hits, judged_under, marks
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import RunHead
from rag_core.settings import Settings
from rag_core.wiring import records
from rag_core.work import loading
from rag_core.work.recording import passage_of
from ui.app import state
from ui.app.elements import select
from ui.app.people import recording
from ui.app.texts import tell

MAX_RUNS_KEPT = 6  # in memory; a recorded question takes some 40 kB


@dataclass(frozen=True, eq=False)
class Recorded:
    """The questions of a run that have a result, and their records, in the same order; and the run's settings."""

    questions: tuple[LabelledQuestion, ...]
    replay: ReplaySet
    records: tuple[Measurements, ...]
    settings: Settings

    @cached_property
    def hits(self) -> Flags:
        """The claims that hold a right answer, (n, most claims)."""
        return answer_hits(self.questions, self.records)

    @cached_property
    def wrong(self) -> Flags:
        """Whether answering would be wrong, (n,): unanswerable, or the draft holds none of the given answers."""
        labelled = np.array([bool(question.answers) for question in self.questions], dtype=bool)
        answerable = np.array([question.answerable for question in self.questions], dtype=bool)
        wrong: Flags = ~answerable | (labelled & ~self.hits.any(axis=1))
        return wrong

    @cached_property
    def parts(self) -> Mapping[str, Objects]:
        """By name of a breakdown the part that each question belongs to, (n,); "" for none."""
        pairs, parts = list(zip(self.questions, self.records, strict=True)), {}
        for name, part in BREAKDOWNS.items():
            parts[name] = np.empty(len(pairs), dtype=object)
            parts[name][:] = [part(*pair) for pair in pairs]
        return parts

    def judge(self, settings: Settings) -> Judged:
        """Outcomes under the judging settings among `settings`; the others stay as they were recorded."""
        applied = judged_under(self.settings, settings)
        outcomes = replay_many(self.replay, applied)
        return Judged(self, applied, outcomes, marks(self.questions, outcomes, self.hits, self.records))


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A run's outcomes under `settings`, which differ from the recorded ones in judgements only."""

    recorded: Recorded
    settings: Settings
    outcomes: Outcomes
    marked: Marks


def chosen_run() -> RunHead | None:
    """The run that the page shows, the newest one unless another was chosen; None where this collection has none."""
    runs = recording.store().runs()
    wanted = st.session_state.get(state.key_of(run_key()), state.session().choices.get(run_key()))
    return next((head for head in runs if head.id == wanted), runs[0] if runs else None)


def run_key() -> str:
    """Where the session's choice stands; each collection has its own."""
    return f"lab_run_{state.session().collection}"


def choose_run() -> RunHead | None:
    """The field above the tabs; nothing where there is no run."""
    runs = {head.id: head for head in recording.store().runs()}
    if not runs:
        return None
    about: dict[str, Any] = {"help": "lab.run_help", "persist_state": "session"}
    wanted = state.session().choices.get(run_key())
    at = list(runs).index(wanted) if wanted in runs else 0
    chosen = select("lab.run", list(runs), state.key_of(run_key()), lambda id: label(runs[id]), at, **about)
    return runs.get(chosen)


def label(head: RunHead) -> str:
    """A run in one line: its name, its set (both untrusted text), and when it was started."""
    started = head.started[:16].replace("T", " ")
    key = "lab.run_of_set" if head.name == head.set_name else "lab.run_label"
    return tell(key, name=head.name, set=head.set_name, started=started, id=head.id)


def replay_set(run: RunHead) -> Recorded:
    """The records of a run, with the texts of its collection as it is now.

    Raises:
        RagError: the collection or its records cannot be read.
    """
    folder = state.library_folder()
    version = loading.engine(folder, run.collection, state.base_settings()).library.snapshot.version
    key = (folder, run.collection, run.id, run.done, run.version, run.calibration, version)
    return _read(*key, run.settings)


def forget_records() -> None:
    """Read the records anew at the next call: a run measured questions again."""
    _read.clear()


@st.cache_resource(show_spinner=False, max_entries=MAX_RUNS_KEPT)
def _read(
    folder: Path, collection: str, run: int, done: int, under: int, calibration: str, version: int, _settings: Settings
) -> Recorded:
    del done, under, calibration, version  # parts of the key
    store = records(folder, collection)
    snapshot = loading.engine(folder, collection, state.base_settings()).library.snapshot
    found = store.results(run, snapshot.page_text, passage_of(snapshot))
    questions = tuple(question for question in store.run_questions(run) if question.id in found)
    measured = tuple(found[question.id] for question in questions)
    return Recorded(questions, ReplaySet.of(measured), measured, _settings)
