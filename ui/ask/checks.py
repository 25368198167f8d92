"""Checks in words, as a table and as a picture: each with what it asks, its value drawn against its limit, and what it
may do.

The table is HTML of ours, since Streamlit's is a picture that no screen reader reads. Words that may come from
documents (`found`, `note`, `remedy`) are escaped. The picture is an SVG of numbers alone: no text of a document can be
in it. Its colours hold on a light and on a dark ground, and nothing is said by colour alone: a value on the allowed
side is a plain bar that ends in a dot, one beyond it is hatched and ends in a cross.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from rag_core.decision.checks import CHECKS
from rag_core.domain.trace import CheckResult, Direction, State
from rag_core.settings import Mode, Settings
from ui.app.texts import say, spoken, tell
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
    return [*lines, *([tell("checks.ms", ms=f"{check.ms:.1f}")] if check.ms else [])]


def _table(checks: Sequence[CheckResult]) -> str:
    heads = "".join(f'<th scope="col">{escape(say(f"checks.column_{name}"))}</th>' for name in COLUMNS)
    return f'<table class="checks"><thead><tr>{heads}</tr></thead><tbody>{"".join(map(_row, checks))}</tbody></table>'


def _row(check: CheckResult) -> str:
    about = "".join(f"<p>{escape(line)}</p>" for line in (say(f"checks.about_{check.stage}"), *details(check)))
    name = f"<details><summary>{escape(say(f'checks.title_{check.stage}'))}</summary>{about}</details>"
    picture = f'<img src="{meter(check)}" alt="">' if check.value is not None else ""  # its numbers stand beside it
    held = f"{escape(measured(check))} <small>{escape(required(check))}</small>"
    ended = f"{escape(state_in_words(check))} <small>{escape(mode_in_words(check))}</small>"
    kind = "refuses" if check.blocks else str(check.state)
    return f'<tr class="{kind}"><th scope="row">{name}</th><td>{picture}</td><td>{held}</td><td>{ended}</td></tr>'


def _number(check: CheckResult, value: float) -> str:
    if check.scale == "count":
        return f"{value:g}"
    two = {f"{number:.2f}" for number in (check.value, check.threshold) if number is not None}
    digits = 4 if len(two) == 1 and check.value != check.threshold and None not in (check.value, check.threshold) else 2
    if check.scale in PERCENT:
        return percent(value, digits - 2)
    return f"{value:.{digits}f}"


WIDTH, HEIGHT = 206, 30  # in the picture's own units; it is drawn at any size
LEFT, RIGHT, MIDDLE = 24, 170, 15  # ends of the axis, with room for their numbers; and its height
BAR, MARK = 8, 22  # heights
# at least 3 to 1 against the light and the dark background of the theme (WCAG 2.2, 1.4.11)
GREEN, RED, BLUE, GREY = "#0b8a62", "#d6453a", "#4a7fc4", "#7b8682"


def meter(check: CheckResult) -> str:
    """The picture of a check as a data URI of an SVG; the same check gives the same bytes."""
    drawn = base64.b64encode(svg(check).encode()).decode()
    return f"data:image/svg+xml;base64,{drawn}"


def svg(check: CheckResult) -> str:
    """The picture as SVG."""
    low, high = axis(check)
    unit, colour = 100 if check.scale in PERCENT else 1, _colour(check)
    limit = None if check.threshold is None else _x(check.threshold, low, high)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        _end_of_scale(LEFT - 9, low * unit, "end"),
        _end_of_scale(RIGHT + 9, high * unit, "start"),
    ]
    # to the end of the picture: a limit may be an end of the scale
    if limit is not None and check.direction is not None:
        left, right = (limit, RIGHT + 3.0) if check.direction is Direction.AT_LEAST else (LEFT - 3.0, limit)
        allowed = GREEN if colour == RED else colour  # what passes is never red
        parts.append(_bar("allowed", left, right - left, MARK, allowed, ' fill-opacity="0.18"'))
    dashes = ' stroke-dasharray="2 4"' if check.value is None else ""
    parts.append(
        f'<line class="axis" x1="{LEFT}" y1="{MIDDLE}" x2="{RIGHT}" y2="{MIDDLE}" stroke="{GREY}"'
        f' stroke-width="1"{dashes}/>'
    )
    if check.value is not None:
        parts += _value(_x(0.0, low, high), _x(check.value, low, high), colour, beyond=within(check) is False)
    if limit is not None:
        parts.append(_bar("threshold", limit - 1, 2, MARK, GREY))
    return "".join([*parts, "</svg>"])


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


def _bar(kind: str, left: float, width: float, height: int, fill: str, more: str = "") -> str:
    place = f'x="{left:.2f}" y="{MIDDLE - height / 2:g}" width="{width:.2f}" height="{height}"'
    return f'<rect class="{kind}" {place} fill="{fill}"{more}/>'


def _value(zero: float, at: float, colour: str, *, beyond: bool) -> list[str]:
    bar = _bar("bar", min(zero, at), abs(at - zero), BAR, "url(#hatch)" if beyond else colour)
    if not beyond:
        return [bar, f'<circle class="value" cx="{at:.2f}" cy="{MIDDLE}" r="5" fill="{colour}"/>']
    hatch = (
        '<defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="2" height="4" fill="{colour}"/></pattern></defs>'
    )
    arms = f'd="M{at - 5:.2f} {MIDDLE - 5}l10 10m0 -10l-10 10" stroke-width="2.5" stroke-linecap="round" fill="none"'
    return [hatch, bar, f'<path class="value" {arms} stroke="{colour}"/>']


def _colour(check: CheckResult) -> str:
    """Green and red for a check that may block, blue for one that is only shown, grey for one that was not judged."""
    if check.state not in (State.PASSED, State.FAILED):
        return GREY
    if check.mode is not Mode.ENFORCE:
        return BLUE
    return GREEN if check.state is State.PASSED else RED


def _end_of_scale(x: float, value: float, anchor: str) -> str:
    return (
        f'<text x="{x:g}" y="{MIDDLE + 4}" font-family="sans-serif" font-size="11" '
        f'text-anchor="{anchor}" fill="{GREY}">{value:g}</text>'
    )


def _x(value: float, low: float, high: float) -> float:
    """Where a value stands; a threshold beyond the scale is drawn at its end."""
    return LEFT + (RIGHT - LEFT) * (min(max(value, low), high) - low) / (high - low)
