"""The Settings page: every setting that is not in the side bar, by its part of the work or found by a word."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rag_core.settings import Knob, Settings, Stage
from ui import frame
from ui.app import texts
from ui.app.elements import select
from ui.app.texts import say
from ui.settings import access, saved_presets
from ui.settings.fields import help_text, show_beside, show_field
from ui.settings.sidebar import deciding, settings_from_sidebar

WIDTH = 760  # pixels: a field and its help are read in one line
PARTS = (Stage.RETRIEVE, Stage.GATE, Stage.DRAFT, Stage.GROUNDING, Stage.OUTPUT, Stage.INGEST)
MAX_FOUND = 10  # fields that a search shows


def page() -> None:
    """The page from top to bottom."""
    st.title(say("settings.title"), anchor=False)
    settings_from_sidebar()
    frame.start()
    texts.choose()
    st.caption(say("settings.about"))
    start = saved_presets.start_settings()
    for knob in _chosen():
        show_field(knob, start)
        show_beside(knob.name)
    access.show()


def _chosen() -> list[Knob]:
    """The settings of one part, or those that hold the words that were looked for."""
    words = st.text_input(
        say("settings.find"),
        key="find_setting",
        type="search",
        placeholder=say("settings.find_placeholder"),
        persist_state="session",
    )
    front = {name for names in deciding().values() for name in names}
    others = [knob for knob in Settings.knobs() if knob.name not in front]
    if words and words.strip():
        found = [knob for knob in others if _holds(knob, words)]
        if len(found) > MAX_FOUND:
            st.caption(say("settings.found_more", shown=MAX_FOUND, n=len(found)))
        else:
            st.caption(say("settings.found", n=len(found)) if found else say("settings.found_none"))
        return found[:MAX_FOUND]
    about: dict[str, Any] = {"help": "settings.stage_help", "persist_state": "session"}
    stage = select("settings.stage", PARTS, "stage", lambda stage: say(f"settings.stage_{stage}"), **about)
    return [knob for knob in others if knob.stage is stage]


def _holds(knob: Knob, words: str) -> bool:
    said = " ".join(
        [knob.name, say(f"knobs.{knob.name}"), help_text(knob), say(f"settings.stage_{knob.stage}")]
    ).casefold()
    return all(word in said for word in words.casefold().split())


with st.container(width=WIDTH):
    page()
