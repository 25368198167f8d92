"""A setting's name and value as the screens say them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from rag_core.settings import Knob, Mode, Settings
from ui.app.texts import screen, tell


def setting_name(name: str) -> str:
    """A setting as the sidebar labels it."""
    return screen().get(f"knobs.{name}", name)


def value_in_words(name: str, value: Any) -> str:
    """A setting's value with as many decimals as its slider has."""
    if isinstance(value, Mode):
        return tell(f"changes.mode_{value}")
    if isinstance(value, bool):
        return tell("changes.on" if value else "changes.off")
    if isinstance(value, float):
        _, _, decimals = f"{_knobs()[name].step or 0:g}".partition(".")
        return f"{value:.{len(decimals)}f}"
    return str(value) if value != "" else tell("changes.empty")


@cache
def _knobs() -> Mapping[str, Knob]:
    return {knob.name: knob for knob in Settings.knobs()}
