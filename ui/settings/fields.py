"""One field for each setting, made from its declaration: range, help, what a change costs, and the way back to the
preset's value.

The values live in the session, since Streamlit forgets the fields that are not on the page. Below the drafter stands
the language model that is configured, with its key masked, or how to configure one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rag_core.settings import Cost, Knob, Settings
from rag_core.settings.endpoints import Endpoint
from rag_core.settings.knobs import AS_BUILT, BY_OPERATOR
from rag_core.wiring import configured_models
from ui.app import state
from ui.app.elements import button, shown_error
from ui.app.texts import say, screen, tell
from ui.settings.wording import in_percent

FIXED = (*AS_BUILT, *BY_OPERATOR)  # a library refuses another model than the one it was built with


def set_knob(name: str, value: Any) -> None:
    """Set a setting from elsewhere on the page, in a callback: the session's value and its field."""
    session = state.session()  # read before anything is changed: the next touch may end a callback where it is read
    if session.values[name] != value:
        session.values[name] = value
        session.editions[f"knob_{name}"] += 1


def take(settings: Settings, saved: str = "") -> None:
    """Set all of them, in a widget's callback or before the fields are drawn; the library's model stays.

    `saved` is the name of the saved preset that they are of, empty for a built-in one.
    """
    session = state.session()
    for name, value in settings.model_dump(exclude={"preset", *FIXED}).items():
        set_knob(name, value)
    if (session.preset, session.saved) != (settings.preset, saved):
        session.preset, session.saved = settings.preset, saved
        session.editions["preset"] += 1


def changed(start: Settings) -> list[str]:
    """The settings that differ from these, by name."""
    values = state.session().values
    return [
        knob.name
        for knob in Settings.knobs()
        if knob.name not in FIXED and values[knob.name] != getattr(start, knob.name)
    ]


def show_field(knob: Knob, start: Settings, *, front: bool = False) -> None:
    """A setting's field with the way back to its preset's value, and below what a change costs and which way is
    stricter; in the side bar (`front`) without that.
    """
    with st.container(key=f"field_{knob.name}", gap=None):
        _field(knob)
        if not front:
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
    # where a language model drafts, asking again waits for a button
    if kept := _kept(knob):
        return kept
    by_button = knob.cost is Cost.ASK and state.session().values["drafter"] == "model"
    return f"{'model' if by_button else knob.cost}_{knob.stricter}"


def _field(knob: Knob) -> None:
    session, fixed = state.session(), knob.name in FIXED
    key = state.key_of(f"knob_{knob.name}")
    if fixed:
        st.session_state[key] = getattr(session.settings(), knob.name)  # the library's, which may be another one now
    # also its default: where a browser forgets a field between two runs, it begins again at that
    value = st.session_state.get(key, session.values[knob.name])
    said: dict[str, Any] = {"key": key, "help": help_text(knob), "disabled": fixed}
    label = say(f"knobs.{knob.name}")
    value = draw(knob, label, value, **said)
    if not fixed:
        session.values[knob.name] = value


def draw(knob: Knob, label: str, value: Any, in_words: Callable[[Any], str] | None = None, **more: Any) -> Any:
    """A setting's field with this value: a slider, a switch, options, which `in_words` calls, or text; what it says."""
    if knob.low is not None and knob.high is not None:
        whole = isinstance(knob.default, int)
        low, high, step = (int(n) if whole else float(n) for n in (knob.low, knob.high, knob.step or 1))
        return st.slider(label, low, high, value, step=step, format="percent" if in_percent(knob) else None, **more)
    if knob.options:
        options = list(knob.options)
        return st.selectbox(label, options, options.index(value), format_func=in_words or _option, **more)
    return (st.toggle if isinstance(knob.default, bool) else st.text_input)(label, value, **more)


def _way_back(knob: Knob, start: Settings) -> None:
    usual = getattr(start, knob.name)
    if knob.name in FIXED or state.session().values[knob.name] == usual:
        return
    number = isinstance(usual, (int, float)) and not isinstance(usual, bool)
    text, value = "settings.reset_number" if number else "settings.reset_one", usual if number else 0
    if number and in_percent(knob):
        text, value = "settings.reset_percent", round(100 * usual, 2)
    button(text, f"reset_{knob.name}", set_knob, knob.name, usual, n=value, icon="undo", type="tertiary")


def _option(value: object) -> str:
    return say(f"settings.option_{value}") if f"settings.option_{value}" in screen() else str(value)


def show_beside(name: str) -> None:
    """Show what belongs below the field of a setting."""
    if name == "drafter":
        _show_configured()


def _show_configured() -> None:
    with st.container(key="model_configured", gap="xsmall"), shown_error():
        found = configured_models(state.session().settings())
        if not found:
            st.caption(say("model.none"))
            return
        st.text("\n".join(line for number, endpoint in enumerate(found, 1) for line in _in_words(number, endpoint)))
        st.caption(say("model.local") if all(endpoint.local for endpoint in found) else say("model.about"))


def _in_words(number: int, endpoint: Endpoint) -> list[str]:
    key, secret = "model.endpoint" if number == 1 else "model.fallback", endpoint.masked or tell("model.no_key")
    line = tell(key, model=endpoint.model, host=endpoint.host, secret=secret)
    return [line, endpoint.warning] if endpoint.warning else [line]
