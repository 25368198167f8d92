"""State that outlives one run of a page: the engine and the jobs of this process, the settings and the questions of a
session.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import streamlit as st

from rag_core.engine import Engine
from rag_core.errors import IngestError, InvalidSetting, RagError
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.settings.configuration import load_settings
from rag_core.settings.endpoints import model_environment
from rag_core.settings.knobs import AS_BUILT, BY_OPERATOR
from rag_core.work import loading
from rag_core.work.jobs import Job
from rag_core.work.runner import Runner
from ui.app import first_run
from ui.app.asked import COLLECTION, Asked, Pending

SESSION = "plumbline"  # the key of all this in a session of Streamlit's
MAX_QUESTIONS = 50  # in the history of a session; each keeps all its measurements


def library_folder() -> Path:
    """$RAG_LIBRARY, or `library` beside where the page was started."""
    return Path(os.environ.get("RAG_LIBRARY") or "library")


def preset_settings(preset: str | None = None) -> Settings:
    """A preset's values, the default one's without a name, under what the environment says."""
    return load_settings(preset, environment=environment())


def environment() -> Mapping[str, str]:
    """The environment, over what the file of secrets says of language models where it can be read."""
    try:
        return model_environment(os.environ)
    except InvalidSetting:
        return os.environ


@st.cache_resource(show_spinner=False)
def base_settings() -> Settings:
    """The settings a session starts with, and the models are loaded by."""
    return preset_settings()


def opening() -> loading.Opening:
    """The session's library, which may still be opening."""
    return loading.opening(library_folder(), session().collection, base_settings())


def engine() -> Engine:
    """The engine over the session's library, one in the process for each collection; waits until it is there.

    Raises:
        RagError: the model or the library cannot be used.
    """
    return loading.engine(library_folder(), session().collection, base_settings())


def opened_engine(collection: str = "") -> Engine | None:
    """The engine of a collection, the session's without a name; None while it is being opened."""
    opened = loading.known(library_folder(), collection or session().collection)
    return opened.engine if opened is not None else None


@st.cache_resource(show_spinner=False)
def runner() -> Runner:
    """Runs the jobs of all sessions, one after the other."""
    return Runner()


@dataclass(frozen=True, slots=True)
class Held:
    """A question that was submitted and has not been asked yet; `again` says that its button asked for it once more.

    `typed` is how it was typed first, where a reader edited what was made of that; it is asked as it stands then.
    """

    question: str
    again: bool = False
    typed: str = ""


@dataclass
class Session:
    """The state of one browser tab. `values` are the settings by name; `preset` is where they started from.

    `history` holds the questions, oldest first, each as it was last decided; `asked` is the one on the page. `held` are
    those that wait to be asked, oldest first. `pending` is the one that is on its way, `stopped` the text of the one
    that came to nothing last, until another is asked. `choices` are those that the program made for fields, by their
    name; `starting` is the labelled set whose run was asked for and has not begun yet.
    """

    preset: str
    values: dict[str, Any]
    collection: str = COLLECTION
    asked: Asked | None = None
    held: list[Held] = field(default_factory=list)
    pending: Pending | None = None
    stopped: str = ""
    history: list[Asked] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    saved: str = ""  # the name of the saved preset that they started from, empty for a built-in one
    editions: Counter[str] = field(
        default_factory=Counter
    )  # how often a field, by name, was set by the program (`key_of`)
    choices: dict[str, object] = field(default_factory=dict)
    starting: str = ""
    # ids of the files that the present one sent and that were taken
    uploads_taken: set[str] = field(default_factory=set)
    incoming: list[Source | IngestError] = field(default_factory=list)  # taken, and no job of theirs has begun
    uploads_at: float = 0.0  # when the last ones were, by `time.monotonic`
    upload_error: RagError | None = None  # why the last upload was not taken
    questions: int = 0  # asked so far
    linked: str = ""  # the number of the kept decision that the page's address names (`ui.ask.export`)
    # numbers of the kept decisions that the page's address names as its turns (`ui.ask.turns`)
    resuming: tuple[str, ...] = ()
    taking: Settings | None = None  # settings to take over before the next run draws their fields

    def settings(self) -> Settings:
        """The values as settings; what the library was built with is its own, workers are the program's."""
        base = base_settings()
        chosen = base.changed(
            preset=self.preset, **{**self.values, **{name: getattr(base, name) for name in BY_OPERATOR}}
        )
        opened = loading.known(library_folder(), self.collection)
        if opened is None or opened.engine is None:
            return chosen
        return chosen.changed(**{name: getattr(opened.settings, name) for name in AS_BUILT})

    def show(self, asked: Asked) -> None:
        """Put a question on the page; a new one is added to the history, a decided one takes its earlier place."""
        if not asked.number:
            self.questions += 1
            asked.number = self.questions
        others = (one for one in self.history if one.number != asked.number)
        self.history = sorted([*others, asked], key=lambda one: one.number)[-MAX_QUESTIONS:]
        self.asked = asked

    def choose(self, field: str, value: object) -> None:
        """Choose in a field of the page, which begins at it (`key_of`)."""
        self.choices[field] = value
        self.editions[field] += 1

    def hold(self, question: str, again: bool = False, typed: str = "") -> None:
        """Take a question that was submitted; for a callback.

        Streamlit calls it again where a touch ended the run before the field was drawn: one that waits is not taken
        twice.
        """
        self.forget_results()
        self.linked = ""
        held = Held(question, again, typed)
        if self.held[-1:] != [held]:
            self.held.append(held)

    def take_back(self, held: Held) -> None:
        """Ask a question no more that was submitted and not begun; it is there to be asked again."""
        self.held = [one for one in self.held if one is not held]
        self.stopped = held.question

    def turns(self) -> list[Asked]:
        """The questions in the open collection up to the one on the page, oldest first."""
        last = self.asked.number if self.asked is not None else 0
        return [one for one in self.history if one.collection == self.collection and one.number <= last]

    def forget_results(self, *kinds: str) -> None:
        """Show no longer what came of jobs that succeeded, and of those of these kinds that failed."""
        self.jobs = [job for job in self.jobs if not job.finished or (job.failed and job.kind not in kinds)]
        for job in self.jobs:
            if job.report is not None:
                job.report = replace(job.report, added=(), unchanged=())

    def cancel(self) -> None:
        """Stop the question that is on its way, without waiting for its end: whatever it would come to is not taken."""
        if self.pending is not None:
            self.pending.stop()
            self.stopped, self.pending = self.pending.question, None


def session() -> Session:
    """This session's state."""
    if SESSION not in st.session_state:
        base = base_settings()
        collection = first_run.start_collection(library_folder())
        st.session_state[SESSION] = Session(base.preset, base.model_dump(exclude={"preset"}), collection)
    held: Session = st.session_state[SESSION]
    return held


def key_of(field: str) -> str:
    """The key of a field, which is another one once the program has set its value.

    A browser sends every field with every touch, and until it was told it sends the old value: taken for the user's
    wish, that would undo what was set. So another field takes its place, and begins at the value.
    """
    edition = session().editions[field]
    return f"{field}_{edition}" if edition else field
