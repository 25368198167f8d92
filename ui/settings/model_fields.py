"""The language model in the settings: the one that is configured, with its key masked, or how to configure one; and its
rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from rag_core.compression.llm.prompts import COMPRESS_RULES, COMPRESS_VERSION
from rag_core.errors import RagError
from rag_core.settings.endpoints import Endpoint
from rag_core.wiring import configured_models
from ui.app import state, touches
from ui.app.texts import say, show_error, tell

RULES_HEIGHT = 290  # pixels: the built-in rules can be read without scrolling
RULES = "compress_prompt"


def show_beside(name: str) -> None:
    """Show what belongs below the field of a setting: the model below how answers are drafted, the versions below its
    rules.
    """
    if name == "drafter":
        _show_configured()
    elif name == RULES:
        _show_rules()


def rules_field(label: str, said: Mapping[str, Any]) -> str:
    """The rules to type, empty for the built-in ones, which are shown there; those typed word for word are none of your
    own.
    """
    value = (
        st.text_area(label, st.session_state[said["key"]], placeholder=_built_in(), height=RULES_HEIGHT, **said) or ""
    )
    return "" if value.strip() in COMPRESS_RULES.values() else value


def _built_in() -> str:
    """The rules that hold where there are none of the user's own."""
    return COMPRESS_RULES[state.session().values["rewording"]]


def _show_configured() -> None:
    """The endpoints in their order, or how to configure one."""
    with st.container(key="model_configured", gap="xsmall"):
        try:
            found = configured_models(state.session().settings())
        except RagError as error:
            show_error(error)
            return
        if not found:
            st.caption(say("model.none"))
            return
        st.text("\n".join(line for number, endpoint in enumerate(found, 1) for line in _in_words(number, endpoint)))
        st.caption(say("model.local") if all(endpoint.local for endpoint in found) else say("model.about"))


def _in_words(number: int, endpoint: Endpoint) -> list[str]:
    secret = endpoint.masked or tell("model.no_key")
    lines = [
        tell(
            "model.endpoint" if number == 1 else "model.fallback",
            model=endpoint.model,
            host=endpoint.host,
            secret=secret,
        )
    ]
    return [*lines, endpoint.warning] if endpoint.warning else lines


def _show_rules() -> None:
    """Show the rules that hold, and a start for the user's own."""
    own = state.session().values[RULES]
    st.caption(say("model.rules_own" if own else "model.rules_built_in", version=COMPRESS_VERSION))
    if not own:
        st.button(
            say("model.rules_start"), key="rules_start", type="tertiary", icon=":material/edit:", on_click=_start_rules
        )


def _start_rules() -> None:
    """Put the built-in rules into the field, to be changed there."""
    touches.put(f"knob_{RULES}", _built_in())
