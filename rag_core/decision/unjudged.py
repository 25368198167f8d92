"""The checks that a preset enforces and that have not judged an answer: nobody is to take it for a safe one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from rag_core.decision.checks import CHECKS, Check
from rag_core.domain.trace import Trace
from rag_core.settings import Mode, Settings
from rag_core.settings.presets import DEFAULT_PRESET, presets


def unjudged(settings: Settings, trace: Trace) -> tuple[str, ...]:
    """The names of these checks, in the order in which they are judged.

    A check has not judged where it cannot refuse: it is off or only observes, or a limit of it is as loose as it can
    be.
    """
    preset = _preset(settings.preset)
    return tuple(check.name for check in _enforced(preset.preset) if not _judges(check, settings, trace, preset))


def _judges(check: Check[Any], settings: Settings, trace: Trace, preset: Settings) -> bool:
    if check.mode_under(settings) is not Mode.ENFORCE:
        return False
    return all(
        value != _loosest(name) or value == getattr(preset, name) for name, value in _limits(check, settings, trace)
    )


def _limits(check: Check[Any], settings: Settings, trace: Trace) -> Iterator[tuple[str, object]]:
    """The limits of a check by their settings; the threshold is that of the question, with what its intent adds to
    it.
    """
    for name in check.also:
        yield name, getattr(settings, name)
    if isinstance(check.threshold, str):
        yield from ((check.threshold, row.threshold) for row in trace.checks if row.stage == check.name)


def _loosest(name: str) -> float | None:
    """The value of a setting under which most passes; None where no direction of it is the stricter one."""
    knob = Settings.knob(name)
    return {"higher": knob.low, "lower": knob.high}.get(knob.stricter)


@cache
def _enforced(preset: str) -> tuple[Check[Any], ...]:
    return tuple(check for check in CHECKS if check.mode and check.mode_under(_preset(preset)) is Mode.ENFORCE)


@cache
def _preset(name: str) -> Settings:
    """A preset's own settings; the default one's where no preset has this name any more."""
    return Settings.load(name if name in presets() else DEFAULT_PRESET)
