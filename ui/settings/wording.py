"""A setting's name and value as the screens say them, and the stage that a check belongs to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rag_core.decision.checks import GATING, GROUNDING, LLM_DRAFT, SUFFICIENCY
from rag_core.settings import Knob, Mode, Scale, Settings
from ui.app.texts import figure, screen, tell

PERCENT = frozenset((Scale.CORRECTNESS, Scale.ANSWERABILITY, Scale.SUPPORT, Scale.SHARE))

STAGES = ("retrieve", "gate", "compress", "ground", "decide")
_STAGE_OF: Mapping[str, str] = {
    **dict.fromkeys((check.name for check in GROUNDING), "ground"),
    **dict.fromkeys((SUFFICIENCY.name, *(check.name for check in GATING)), "gate"),
    **dict.fromkeys(("length_ratio", "sentence_length", *(check.name for check in LLM_DRAFT)), "compress"),
    "availability": "retrieve",
    "verification": "ground",
    "confidence": "decide",
}


def stage_of(check: str) -> str:
    """The stage of a check, by its name; rows that judge nothing are of the first."""
    return _STAGE_OF.get(check, "retrieve")


def setting_name(name: str) -> str:
    """A setting as the sidebar labels it."""
    return screen().get(f"knobs.{name}", name)


def in_percent(knob: Knob) -> bool:
    """Whether a setting is shown in percent: a probability or a share. Files and addresses keep 0 to 1."""
    return knob.scale in PERCENT


def in_percents(value: float, digits: int = 0) -> float:
    """A share or probability in percent, never more than it is: what is shown reaches a limit where the value does."""
    scale = 10.0**digits
    return math.floor(round(100 * value * scale, 6)) / scale


def percent(value: float, digits: int = 0) -> str:
    """A share or probability in percent; what is neither none nor all is never called so."""
    shown = in_percents(value, digits)
    if value > 0 and not shown:
        return tell("settings.percent_least")
    return tell("settings.percent_most") if value < 1 and shown == 100 else tell("settings.percent", n=shown)


def value_in_words(name: str, value: Any) -> str:
    """A setting's value as its slider shows it: in percent, or with as many decimals."""
    if isinstance(value, Mode):
        return tell(f"changes.mode_{value}")
    if isinstance(value, bool):
        return tell("changes.on" if value else "changes.off")
    if isinstance(value, float) and in_percent(Settings.knob(name)):
        return percent(value, 2)
    if isinstance(value, float):
        _, _, decimals = f"{Settings.knob(name).step or 0:g}".partition(".")
        return figure(value, f".{len(decimals)}f")
    return str(value) if value != "" else tell("changes.empty")


def moved_in_words(name: str, old: Any, new: Any) -> str:
    """A setting with its old and its new value, as a screen shows what was changed."""
    return tell("changes.moved", name=setting_name(name), old=value_in_words(name, old), new=value_in_words(name, new))
