"""One field for each setting, made from its declaration: range, help, what a change costs, and the way back to the
preset's value.

The values live in the session, since Streamlit forgets the fields that are not on the page.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from rag_core.settings import Cost, Knob, Settings
from rag_core.settings.knobs import AS_BUILT, BY_OPERATOR
from ui.app import state, touches
from ui.app.texts import say, screen
from ui.settings.model_fields import rules_field
from ui.settings.wording import in_percent

FIXED = (*AS_BUILT, *BY_OPERATOR)  # a library refuses another model than the one it was built with


def set_knob(name: str, value: Any) -> None:
    """Set a setting from elsewhere on the page, in a widget's callback: the session's value and, where there is one,
    its field.
    """
    state.session().values[name] = value
    touches.put(f"knob_{name}", value)


def take(settings: Settings) -> None:
    """Set all of them, in a widget's callback or before the fields are drawn; the library's model stays."""
    state.session().preset = settings.preset
    for name, value in settings.model_dump(exclude={"preset", *FIXED}).items():
        set_knob(name, value)
    touches.put("preset", settings.preset)


def changed(start: Settings) -> list[str]:
    """The settings that differ from these, by name."""
    values = state.session().values
    return [
        knob.name
        for knob in Settings.knobs()
        if knob.name not in FIXED and values[knob.name] != getattr(start, knob.name)
    ]


def show_front(knob: Knob, start: Settings) -> None:
    """A slider that stands in the side bar, with the way back where it differs from its preset's value."""
    with st.container(key=f"field_{knob.name}", gap=None):
        _field(knob)
        _way_back(knob, start)


def show_field(knob: Knob, start: Settings) -> None:
    """Any other setting's field, with what a change costs and which way is stricter, and the way back."""
    with st.container(key=f"field_{knob.name}", gap=None):
        _field(knob)
        with st.container(key=f"under_{knob.name}"):
            st.caption(say(f"settings.note_{_cost(knob)}"))
        _way_back(knob, start)


def help_text(knob: Knob) -> str:
    """The help of a setting: its effect, its scale, which way is stricter, and what a change costs."""
    parts = [screen().get(f"help.{knob.name}", knob.help)]
    if knob.low is not None:
        parts.append(say(f"settings.scale_{knob.scale}"))
    if knob.stricter:
        parts.append(say(f"settings.stricter_{knob.stricter}"))
    parts.append(say(f"settings.cost_{_kept(knob) or knob.cost}"))
    return " ".join(parts)


def _kept(knob: Knob) -> str:
    """Why nobody on the page changes a setting; "" where they may."""
    return "operator" if knob.name in BY_OPERATOR else "fixed" if knob.name in FIXED else ""


def _cost(knob: Knob) -> str:
    """The cost of a change, and which way is stricter; where a language model drafts, asking again waits for a
    button.
    """
    if kept := _kept(knob):
        return kept
    by_button = knob.cost is Cost.ASK and state.session().values["drafter"] == "model"
    return f"{'model' if by_button else knob.cost}_{knob.stricter}"


def _field(knob: Knob) -> None:
    session, key, values, label = (
        state.session(),
        f"knob_{knob.name}",
        state.session().values,
        say(f"knobs.{knob.name}"),
    )
    if knob.name in FIXED:
        st.session_state[key] = getattr(session.settings(), knob.name)  # the library's, which may be another one now
    else:
        touches.tell(key, st.session_state.get(key, values[knob.name]))
    said: dict[str, Any] = {"key": key, "help": help_text(knob), "disabled": knob.name in FIXED}
    if knob.low is not None and knob.high is not None:
        whole = isinstance(knob.default, int)
        low, high, step = (int(n) if whole else float(n) for n in (knob.low, knob.high, knob.step or 1))
        form = "percent" if in_percent(knob) else None
        value: Any = st.slider(label, low, high, st.session_state[key], step=step, format=form, **said)
    elif knob.options:
        options = list(knob.options)
        value = st.selectbox(label, options, options.index(st.session_state[key]), format_func=_option, **said)
    elif isinstance(knob.default, bool):
        value = st.toggle(label, st.session_state[key], **said)
    elif knob.name == "compress_prompt":
        value = rules_field(label, said)
    else:
        value = st.text_input(label, st.session_state[key], **said)
    if knob.name not in FIXED:
        values[knob.name] = value


def _way_back(knob: Knob, start: Settings) -> None:
    usual = getattr(start, knob.name)
    if knob.name in FIXED or state.session().values[knob.name] == usual:
        return
    number = isinstance(usual, (int, float)) and not isinstance(usual, bool)
    percent = number and in_percent(knob)
    label = say("settings.reset_one")
    if number:
        label = say(
            "settings.reset_percent" if percent else "settings.reset_number",
            value=round(100 * usual, 2) if percent else usual,
        )
    st.button(
        label,
        key=f"reset_{knob.name}",
        icon=":material/undo:",
        type="tertiary",
        on_click=set_knob,
        args=(knob.name, usual),
    )


def _option(value: object) -> str:
    """A choice in words; as it is where it has none, such as the form of a citation."""
    return say(f"settings.option_{value}") if f"settings.option_{value}" in screen() else str(value)
