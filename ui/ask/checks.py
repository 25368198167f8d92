"""Checks in words and as a table: each with what it asks, its value as a bar against its limit, and what it may do.

The table is HTML of ours, since Streamlit's is a picture that no screen reader reads. Words that may come from
documents (`found`, `note`, `remedy`) are escaped; a bar holds numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from rag_core.decision.checks import CHECKS
from rag_core.domain.trace import CheckResult, Direction, State
from rag_core.settings import Mode, Settings
from ui.app.texts import figure, say, spoken, tell
from ui.settings.wording import PERCENT, percent

# the setting that is a check's limit; where there is none, the limit is fixed
LIMITS: Mapping[str, str] = {check.name: check.threshold for check in CHECKS if isinstance(check.threshold, str)}
SOURCES: Mapping[str, str] = {check.name: check.source for check in CHECKS}  # where their default limits come from
COLUMNS = ("check", "meter", "measured", "state")


def show_checks(checks: Sequence[CheckResult]) -> None:
    """A table of these checks; those that are off are only named. Nothing for none."""
    on = [check for check in checks if check.mode is not Mode.OFF]
    if on:
        st.html(_table(on))
    if off := [say(f"checks.title_{check.stage}") for check in checks if check.mode is Mode.OFF]:
        st.text(tell("checks.off", names=", ".join(off)))


def measured(check: CheckResult) -> str:
    """The measured value as it is shown; a dash without one. It has as many digits as tell it from its limit."""
    if check.value is not None and check.scale == "count" and check.threshold == 0:  # it counts what is wrong
        return tell("checks.faults", n=int(check.value))
    return "–" if check.value is None else _number(check, check.value)


def required(check: CheckResult) -> str:
    """The limit with the sign of the side that passes; a dash without one."""
    if check.threshold is None or check.direction is None:
        return "–"
    limit = _number(check, check.threshold)
    return tell(
        "checks.required_at_least" if check.direction is Direction.AT_LEAST else "checks.required_at_most", limit=limit
    )


def state_in_words(check: CheckResult) -> str:
    """How a check ended, with a sign that does not need colour; a miss that blocks nothing says so."""
    if check.mode is Mode.OFF:
        return say("checks.state_off")
    if check.state is State.FAILED and not check.blocks:
        return say("checks.state_observed")
    if check.state is State.PASSED and check.threshold is None:
        return say("checks.state_shown")
    return say(f"checks.state_{check.state}")


def mode_in_words(check: CheckResult) -> str:
    """The mode of a check, in words."""
    if check.mode is Mode.ENFORCE and mode_knob(check.stage) is None:
        return say("checks.mode_always")
    return say(f"checks.mode_{check.mode}")


def mode_knob(stage: str) -> str | None:
    """The setting that says what a check may do; None for one that no setting turns off."""
    name = f"{stage}_mode"
    return name if name in Settings.model_fields else None


def details(check: CheckResult) -> list[str]:
    """A check's own words, which may be a document's, and where its limit is set and comes from."""
    lines = [tell("checks.found", found=spoken(check.found))] if check.found else []
    lines += [tell("checks.note", note=spoken(check.note))] if check.note else []
    lines += [tell("checks.remedy", remedy=spoken(check.remedy))] if check.remedy and check.blocks else []
    if check.stage in LIMITS:
        lines.append(tell("checks.setting", label=say(f"knobs.{LIMITS[check.stage]}")))
    elif check.threshold is not None:
        lines.append(say("checks.no_setting"))
    if knob := mode_knob(check.stage):
        lines.append(tell("checks.mode_setting", label=say(f"knobs.{knob}")))
    lines += [tell("checks.source", source=SOURCES[check.stage])] if SOURCES.get(check.stage) else []
    return [*lines, *([tell("checks.ms", ms=figure(check.ms, ".1f"))] if check.ms else [])]


def _table(checks: Sequence[CheckResult]) -> str:
    heads = "".join(f'<th scope="col">{escape(say(f"checks.column_{name}"))}</th>' for name in COLUMNS)
    return f'<table class="checks"><thead><tr>{heads}</tr></thead><tbody>{"".join(map(_row, checks))}</tbody></table>'


def _row(check: CheckResult) -> str:
    about = "".join(f"<p>{escape(line)}</p>" for line in (say(f"checks.about_{check.stage}"), *details(check)))
    name = f"<details><summary>{escape(say(f'checks.title_{check.stage}'))}</summary>{about}</details>"
    held = f"{escape(measured(check))} <small>{escape(required(check))}</small>"
    ended = f"{escape(state_in_words(check))} <small>{escape(mode_in_words(check))}</small>"
    kind = "refuses" if check.blocks else str(check.state)
    return f'<tr class="{kind}"><th scope="row">{name}</th><td>{meter(check)}</td><td>{held}</td><td>{ended}</td></tr>'


def _number(check: CheckResult, value: float) -> str:
    if check.scale == "count":
        return figure(value, "g")
    two = {f"{number:.2f}" for number in (check.value, check.threshold) if number is not None}
    digits = 4 if len(two) == 1 and check.value != check.threshold and None not in (check.value, check.threshold) else 2
    if check.scale in PERCENT:
        return percent(value, digits - 2)
    return figure(value, f".{digits}f")


def meter(check: CheckResult) -> str:
    """The value as a bar on its scale with a mark at its limit, as HTML; empty where nothing was measured.

    Its colour says what the state says in words beside it; a value beyond its limit is hatched too.
    """
    if check.value is None:
        return ""
    low, high = axis(check)
    judged = check.state in (State.PASSED, State.FAILED)
    kind = "idle" if not judged else str(check.state) if check.mode is Mode.ENFORCE else "shown"
    beyond = " beyond" if within(check) is False else ""
    places = {"value": check.value} | ({} if check.threshold is None else {"limit": check.threshold})
    style = ";".join(f"--{name}:{(min(max(at, low), high) - low) / (high - low):.1%}" for name, at in places.items())
    return f'<span class="meter {kind}{beyond}" style="{style}" aria-hidden="true"></span>'


def axis(check: CheckResult) -> tuple[float, float]:
    """Both ends of the drawn scale: its own range, from 0 where nothing is below, with a little room at an open end."""
    low, high = (check.scale.low, check.scale.high) if check.scale else (0.0, math.inf)
    known = [number for number in (check.value, check.threshold) if number is not None]
    if low < 0 <= min(known, default=0.0):
        low = 0.0
    if math.isinf(high):
        most = max(known, default=0.0)
        high = max(math.floor(most), low) + 1.0
    return low, high


def within(check: CheckResult) -> bool | None:
    """Whether the measured value is on the allowed side; None without a limit or a value."""
    if check.value is None or check.threshold is None or check.direction is None:
        return None
    return check.value >= check.threshold if check.direction is Direction.AT_LEAST else check.value <= check.threshold
