"""The settings: preset, three sliders in front, every other knob under Advanced. Ranges and texts come from `Settings.knobs()`."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rag_core.errors import RagError
from rag_core.settings import Cost, Knob, Mode, Settings, Stage, presets
from ui import state
from ui.problems import show_error

FRONT = {"min_answerability": "How sure", "min_sentence_overlap": "How strict", "top_k": "How many sources"}
MODE_OF = {"min_answerability": "answerability_mode", "min_sentence_overlap": "overlap_mode"}
FIXED = ("embedding_model", "embedding_precision")  # a library refuses another model than the one it was built with

STAGES = {
    Stage.RETRIEVE: "Finding passages",
    Stage.GATE: "Checks before an answer",
    Stage.DRAFT: "Drafting the answer",
    Stage.AUDIT: "Checks on the answer",
    Stage.OUTPUT: "What is shown",
    Stage.INGEST: "Reading documents",
}
COSTS = {
    Cost.REPLAY: "Takes effect at once, without asking a model again.",
    Cost.ASK: "The question is asked again.",
    Cost.INGEST: "Applies to documents indexed from now on.",
}


def settings_from_sidebar() -> Settings:
    """The settings as the sidebar stands; the last valid ones when a value is refused."""
    session = state.session()
    knobs = {knob.name: knob for knob in Settings.knobs()}
    with st.sidebar:
        st.subheader("Settings", anchor=False)
        st.selectbox(
            "Preset", list(presets()), index=list(presets()).index(session.preset), format_func=lambda name: presets()[name].title,
            key="preset", on_change=_take_preset, help="Named sets of values; each one is described below the field.",
        )  # fmt: skip
        st.caption(presets()[session.preset].help)
        for name, label in FRONT.items():
            _knob(knobs[name], label)
            _say_if_idle(name)
        with st.expander("Advanced", icon=":material/tune:"):
            stage = st.selectbox("Stage", list(STAGES), format_func=STAGES.__getitem__, key="stage")
            for knob in knobs.values():
                if knob.stage is stage and knob.name not in FRONT:
                    _knob(knob, knob.name.replace("_", " ").capitalize())
        _undo()
    try:
        return session.settings()
    except RagError as error:
        show_error(error)
        return state.base_settings()


def set_knob(name: str, value: Any) -> None:
    """Set a setting from elsewhere on the page, in a widget's callback: the session's value and, where there is one, its field."""
    state.session().values[name] = value
    st.session_state[f"knob_{name}"] = value


def _knob(knob: Knob, label: str) -> None:
    """One widget; its value is kept in the session, since Streamlit forgets widgets that are not on the page."""
    values, key = state.session().values, f"knob_{knob.name}"
    st.session_state.setdefault(key, values[knob.name])
    said: dict[str, Any] = {"key": key, "help": _help(knob), "disabled": knob.name in FIXED}
    if knob.low is not None and knob.high is not None:
        whole = isinstance(knob.default, int)
        low, high, step = (int(n) if whole else float(n) for n in (knob.low, knob.high, knob.step or 1))
        values[knob.name] = st.slider(label, low, high, step=step, **said)
    elif knob.options:
        values[knob.name] = st.selectbox(label, list(knob.options), format_func=str, **said)
    elif isinstance(knob.default, bool):
        values[knob.name] = st.toggle(label, **said)
    else:
        values[knob.name] = st.text_input(label, **said)


def _help(knob: Knob) -> str:
    scale = f" Scale: {knob.scale}." if knob.low is not None else ""
    cost = "Fixed when the library was made." if knob.name in FIXED else COSTS[knob.cost]
    return f"{knob.help}{scale} {cost}"


def _say_if_idle(name: str) -> None:
    mode = state.session().values.get(MODE_OF.get(name, ""))
    if mode is not None and mode != Mode.ENFORCE:
        st.caption("This preset only shows this check; it does not block." if mode == Mode.OBSERVE else "This preset has this check off.")


def _take_preset() -> None:
    _take(state.preset_settings(st.session_state.preset))


def _take(settings: Settings) -> None:
    session = state.session()
    session.preset = settings.preset
    session.values = {name: value for name, value in settings.model_dump().items() if name not in ("preset", *FIXED)} | {
        name: session.values[name] for name in FIXED
    }
    for name, value in session.values.items():
        st.session_state[f"knob_{name}"] = value


def _undo() -> None:
    session = state.session()
    start = state.preset_settings(session.preset)
    preset = start.model_dump(exclude={"preset"})
    moved = sum(preset[name] != value for name, value in session.values.items() if name not in FIXED)
    if moved:
        st.caption(f"Settings that differ from the preset: {moved:d}")
        st.button("Back to the preset", key="undo", on_click=_take, args=(start,))
