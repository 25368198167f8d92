"""Several values of one setting on a labelled set, measured as one job: a run for each value.

For settings that need a new retrieval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.settings import Cost, Settings
from rag_core.settings.knobs import AS_BUILT, Knob
from ui.app import state
from ui.app.texts import LANGUAGE, say, show_error, speaking
from ui.lab import running
from ui.settings.wording import setting_name, value_in_words

MAX_VALUES = 12  # runs of one job; chosen
STARTS = 5  # values that stand in the field at first
KNOBS = {
    knob.name: knob
    for knob in Settings.knobs()
    if knob.cost is Cost.ASK and knob.is_closed and knob.name not in AS_BUILT
}
_HELD = "=sweep "  # before the set's name, in what the session is about to start: no set that is run alone is called so


def offer(engine: Engine, set_name: str, tag: str, questions: Sequence[LabelledQuestion], settings: Settings) -> None:
    """The fields that choose a setting and its values, and the button that runs them; `tag` stands for the set in
    keys.
    """
    if not engine.library.snapshot.documents:
        return
    with st.expander(say("lab_sweep.title"), icon=":material/tune:", key="lab_sweep"):
        st.caption(say("lab_sweep.about"))
        if settings.drafter == "model":
            st.info(say("lab_sweep.model"), icon=":material/info:")
            return
        left, right = st.columns(2)
        with left:
            knob = KNOBS[
                st.selectbox(
                    say("lab_sweep.setting"), list(KNOBS), format_func=setting_name, key=f"sweep_setting_{tag}"
                )
            ]
        with right:
            values = _ask_values(knob, tag)
        try:
            each = settings_for(knob, values, settings)
        except RagError as error:
            show_error(error)
            return
        st.caption(say("lab_sweep.cost", runs=len(each), n=len(each) * len(questions)))
        st.button(
            say("lab_sweep.run"),
            key="sweep_run",
            icon=":material/play_arrow:",
            disabled=not each,
            on_click=_hold,
            args=(set_name,),
        )
        if each and state.session().starting == _HELD + set_name:
            with speaking(LANGUAGE):  # it is recorded
                name = f"{set_name}, {setting_name(knob.name)}"[: running.MAX_NAME_CHARS - 40]
            try:
                running.begin_each(engine, name, set_name, questions, each)
            except RagError as error:
                show_error(error)
            else:
                st.rerun()


@speaking(LANGUAGE)
def settings_for(knob: Knob, values: Sequence[Any], settings: Settings) -> dict[str, Settings]:
    """The settings with each of the values, by the value in words; a value that stands twice counts once.

    Raises:
        InvalidInput: a value that the setting does not take.
    """
    found = (settings.changed(**{knob.name: value}) for value in values[:MAX_VALUES])
    return {value_in_words(knob.name, getattr(one, knob.name)): one for one in found}


def start_values(knob: Knob) -> list[float]:
    """Some values over the range of a number, both ends among them."""
    assert knob.low is not None
    assert knob.high is not None
    step = (knob.high - knob.low) / (STARTS - 1)
    grain = knob.step or 1
    return list(dict.fromkeys(round(knob.low + round(step * n / grain) * grain, 6) for n in range(STARTS)))


def _ask_values(knob: Knob, tag: str) -> list[Any]:
    key, label = f"sweep_values_{knob.name}_{tag}", say("lab_sweep.values")
    if knob.low is None or knob.high is None:
        options: list[Any] = list(knob.options) or [True, False]
        return st.multiselect(
            label, options, options, format_func=lambda value: value_in_words(knob.name, value), key=key
        )
    typed = st.text_input(
        label,
        ", ".join(f"{value:g}" for value in start_values(knob)),
        key=key,
        max_chars=200,
        help=say("lab_sweep.values_help", low=knob.low, high=knob.high, most=MAX_VALUES),
    )
    return [part.strip() for part in (typed or "").split(",") if part.strip()]


def _hold(set_name: str) -> None:
    state.session().starting = _HELD + set_name
