"""A setting's name and value as the screens say them."""

from __future__ import annotations

from typing import Any

from rag_core.settings import Mode, Settings
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
        _, _, decimals = f"{Settings.knob(name).step or 0:g}".partition(".")
        return f"{value:.{len(decimals)}f}"
    return str(value) if value != "" else tell("changes.empty")


def moved_in_words(name: str, old: Any, new: Any) -> str:
    """A setting with its old and its new value, as a screen shows what was changed."""
    return tell("changes.moved", name=setting_name(name), old=value_in_words(name, old), new=value_in_words(name, new))
