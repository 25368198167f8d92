"""The settings: preset, three sliders in front, every other one by the part of the work that it belongs to, or found by a word."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from rag_core.decision.checks import CHECKS
from rag_core.errors import RagError
from rag_core.settings import Knob, Mode, Settings, Stage
from ui.app import state
from ui.app.people import recording
from ui.app.problems import show_error
from ui.app.texts import say
from ui.settings import calibration, model_fields, saved_presets, sharing
from ui.settings.fields import FIXED, changed, help_text, set_knob, show_field, show_front, take

__all__ = ["FIXED", "FRONT", "STAGES", "set_knob", "settings_from_sidebar"]

FRONT = ("min_correctness", "min_sentence_overlap", "top_k")
MODE_OF = {name: check.mode for check in CHECKS if check.mode for name in check.settings if name in FRONT}
STAGES = (Stage.RETRIEVE, Stage.GATE, Stage.DRAFT, Stage.GROUNDING, Stage.OUTPUT, Stage.INGEST)
MAX_FOUND = 10  # fields that a search shows


def settings_from_sidebar(page: str = "ask") -> Settings:
    """The settings as the sidebar of a page stands, which its address repeats; those of the start when a value is refused."""
    _arrive(page)
    sharing.follow_address()
    if (taking := state.session().taking) is not None:
        take(taking)
        state.session().taking = None
    calibration.settle()
    offered = saved_presets.options(calibration.offered())
    saved_presets.settle(offered)
    session = state.session()
    with st.sidebar:
        sharing.show_omissions()
        st.subheader(say("settings.title"), anchor=False)
        st.selectbox(
            say("settings.preset"), offered, offered.index(st.session_state["preset"]), format_func=saved_presets.label, key="preset",
            on_change=_take_preset, help=say("settings.preset_help"),
        )  # fmt: skip
        about = st.container(key="about_preset")
        calibration.show()
        start = saved_presets.start_settings()
        knobs = {knob.name: knob for knob in Settings.knobs()}
        for name in FRONT:
            show_front(knobs[name], start)
            _say_if_idle(name)
        with st.expander(say("settings.advanced"), icon=":material/tune:"):
            for knob in _chosen(knobs):
                show_field(knob, start)
                model_fields.show_beside(knob.name)
        with about:  # after the fields: a certificate holds for what they say now
            saved_presets.show()
            saved_presets.show_switch()
        _way_back(start)
        sharing.show(session.settings)
        recording.show_switch()
    try:
        settings = session.settings()
    except RagError as error:
        show_error(error)
        return state.base_settings()
    sharing.write_address(settings)
    return settings


def _arrive(page: str) -> None:
    """Coming from another page with this sidebar, draw the fields from the session's values: Streamlit would draw them at their lowest."""
    if st.session_state.get("sidebar_page") != page:
        st.session_state["sidebar_page"] = page
        for key in ("preset", *(f"knob_{knob.name}" for knob in Settings.knobs())):
            st.session_state.pop(key, None)


def _chosen(knobs: Mapping[str, Knob]) -> list[Knob]:
    """The settings to show under the three: of one part, or those that hold the words that were looked for."""
    words = st.text_input(
        say("settings.find"), key="find_setting", type="search", placeholder=say("settings.find_placeholder"), persist_state="session"
    )  # fmt: skip
    others = [knob for knob in knobs.values() if knob.name not in FRONT]
    if words and words.strip():
        found = [knob for knob in others if _holds(knob, words)]
        if len(found) > MAX_FOUND:
            st.caption(say("settings.found_more", shown=MAX_FOUND, n=len(found)))
        else:
            st.caption(say("settings.found", n=len(found)) if found else say("settings.found_none"))
        return found[:MAX_FOUND]
    stage = st.selectbox(
        say("settings.stage"), list(STAGES), format_func=lambda stage: say(f"settings.stage_{stage}"), key="stage",
        help=say("settings.stage_help"), persist_state="session",
    )  # fmt: skip
    return [knob for knob in others if knob.stage is stage]


def _holds(knob: Knob, words: str) -> bool:
    """Whether a setting's name, label, help or part holds every one of these words."""
    said = " ".join([knob.name, say(f"knobs.{knob.name}"), help_text(knob), say(f"settings.stage_{knob.stage}")]).casefold()
    return all(word in said for word in words.casefold().split())


def _say_if_idle(name: str) -> None:
    mode = state.session().values.get(MODE_OF.get(name, ""))
    if mode is not None and mode != Mode.ENFORCE:
        st.caption(say("settings.idle_observe" if mode == Mode.OBSERVE else "settings.idle_off"))


def _take_preset() -> None:
    saved_presets.switch(st.session_state.preset)


def _way_back(start: Settings) -> None:
    moved = changed(start)
    if moved:
        st.caption(say("settings.changed", n=len(moved)))
        st.button(say("settings.reset"), key="undo", icon=":material/undo:", on_click=saved_presets.take_again)
