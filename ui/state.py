"""What lives longer than one run of a page: the engine and the jobs of this process, the settings and the last question of a session."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from rag_core.case import Case
from rag_core.configuration import load_settings
from rag_core.decision import Decision
from rag_core.engine import Engine
from rag_core.settings import Settings
from rag_core.wiring import build_engine
from ui.jobs import Job, Runner

NAMESPACE = "default"


def library_folder() -> Path:
    """$RAG_LIBRARY, or `library` beside where the page was started."""
    return Path(os.environ.get("RAG_LIBRARY") or "library")


def preset_settings(preset: str | None = None) -> Settings:
    """A preset's values, the default one's without a name, under what the environment says."""
    return load_settings(preset, environment=os.environ)


@st.cache_resource(show_spinner=False)
def base_settings() -> Settings:
    """The settings a session starts with, and the models are loaded by."""
    return preset_settings()


@st.cache_resource(max_entries=4, show_spinner="Loading the embedding model…")
def _engine(folder: Path) -> Engine:
    return build_engine(folder, NAMESPACE, base_settings())


def engine() -> Engine:
    """The engine over the library, one in the process.

    Raises:
        RagError: the model or the library cannot be used.
    """
    return _engine(library_folder())


@st.cache_resource(show_spinner=False)
def runner() -> Runner:
    """Runs the jobs of all sessions, one after the other."""
    return Runner()


@dataclass
class Asked:
    """The last question of a session with everything measured for it.

    `before` is the decision that the last change of settings replaced; None when nothing was changed since it was asked.
    """

    question: str
    documents: tuple[str, ...]
    case: Case
    decision: Decision
    settings: Settings
    before: tuple[Decision, Settings] | None = None


@dataclass
class Session:
    """What one browser tab holds. `values` are the settings by name; `preset` is where they started from."""

    preset: str
    values: dict[str, Any]
    asked: Asked | None = None
    jobs: list[Job] = field(default_factory=list)
    uploads: int = 0  # counts up so that the upload field is empty again

    def settings(self) -> Settings:
        """The values as settings."""
        return base_settings().changed(preset=self.preset, **self.values)


def session() -> Session:
    """This session's state."""
    if "plumbline" not in st.session_state:
        base = base_settings()
        st.session_state.plumbline = Session(base.preset, base.model_dump(exclude={"preset"}))
    held: Session = st.session_state.plumbline
    return held
