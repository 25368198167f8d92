"""The settings of one call: those that the service started with, another preset, and values that a caller may change.

A caller may move numbers, switches and choices. Free text is not theirs: it names models to load from this machine, and
servers to ask.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rag_core.errors import InvalidSetting
from rag_core.settings import Cost, Knob, Settings
from rag_core.settings.configuration import load_settings, locked
from rag_core.settings.endpoints import model_environment
from rag_core.settings.knobs import AS_BUILT

__all__ = ["AS_BUILT", "chosen", "require_unlocked"]


def chosen(base: Settings, preset: str | None, values: Mapping[str, Any], costs: frozenset[Cost]) -> Settings:
    """The settings of a call.

    Args:
        base: those that hold without a word of the caller.
        preset: another one's values, under the same environment.
        values: by name, over these.
        costs: that a value's change may have.

    Raises:
        InvalidSetting: an unknown preset or name, a value out of its range, or one that is not the caller's to change;
            as `require_unlocked` of `base`.
    """
    start = load_settings(preset, environment=model_environment(os.environ)) if preset else base
    start = start.changed(**{name: getattr(base, name) for name in AS_BUILT})
    knobs = {knob.name: knob for knob in Settings.knobs()}
    for name in values:
        if name == "preset" or (name in knobs and not _is_open(knobs[name], costs)):
            raise InvalidSetting(
                f"The setting {name!r} cannot be changed by a call.", remedy="Whoever runs the service sets it."
            )
    return require_unlocked(base, start.changed(**values))


def require_unlocked(base: Settings, wanted: Settings) -> Settings:
    """The wanted settings.

    Raises:
        InvalidSetting: one that RAG_LOCKED names differs from the base, by value, preset or profile.
    """
    for name in sorted(locked(os.environ)):
        if getattr(wanted, name) != getattr(base, name):
            remedy = (
                f"Leave it at {getattr(base, name)!s}, and take no preset that changes it. The service sets RAG_LOCKED."
            )
            raise InvalidSetting(f"The setting {name!r} is locked.", remedy=remedy)
    return wanted


def _is_open(knob: Knob, costs: frozenset[Cost]) -> bool:
    return knob.name not in AS_BUILT and knob.cost in costs and knob.is_closed
