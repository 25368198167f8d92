"""Draws a check: the measured value on its scale, the threshold as a mark, and the side that passes shaded.

An SVG of numbers alone: no text of a document can be in it. Its colours hold on a light and on a dark ground, and nothing is said by
colour alone: a value on the allowed side is a plain bar that ends in a dot, one beyond it is hatched and ends in a cross.
"""

from __future__ import annotations

import base64
import math

from rag_core.domain.trace import CheckResult, Direction, State
from rag_core.settings import Mode
from ui.settings.wording import PERCENT

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
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        _number(LEFT - 9, low * _unit(check), "end"),
        _number(RIGHT + 9, high * _unit(check), "start"),
        *_allowed(check, low, high),
        f'<line class="axis" x1="{LEFT}" y1="{MIDDLE}" x2="{RIGHT}" y2="{MIDDLE}" stroke="{GREY}" stroke-width="1"'
        + (' stroke-dasharray="2 4"' if check.value is None else "") + "/>",
        *_value(check, low, high),
        *_threshold(check, low, high),
        "</svg>",
    ]  # fmt: skip
    return "".join(parts)


def axis(check: CheckResult) -> tuple[float, float]:
    """Both ends of the drawn scale: the scale's own range, from 0 where nothing is below it, and a little room where it has no end."""
    low, high = (check.scale.low, check.scale.high) if check.scale else (0.0, math.inf)
    known = [number for number in (check.value, check.threshold) if number is not None]
    if low < 0 <= min(known, default=0.0):
        low = 0.0
    if math.isinf(high):
        most = max(known, default=0.0)
        high = max(math.floor(most), low) + 1.0
    return low, high


def _unit(check: CheckResult) -> int:
    """100 where the ends of the scale are written in percent, like all numbers beside the picture."""
    return 100 if check.scale in PERCENT else 1


def within(check: CheckResult) -> bool | None:
    """Whether the measured value is on the allowed side, whatever the check was allowed to do with it; None without a limit or a value."""
    if check.value is None or check.threshold is None or check.direction is None:
        return None
    return check.value >= check.threshold if check.direction is Direction.AT_LEAST else check.value <= check.threshold


def _allowed(check: CheckResult, low: float, high: float) -> list[str]:
    """The side of the threshold that passes, to the end of the picture, so that it is seen where the threshold is an end of the scale."""
    if check.threshold is None or check.direction is None:
        return []
    at = _x(check.threshold, low, high)
    colour = _colour(check)
    left, right = (at, RIGHT + 3.0) if check.direction is Direction.AT_LEAST else (LEFT - 3.0, at)
    return [
        f'<rect class="allowed" x="{left:.2f}" y="{MIDDLE - MARK / 2:g}" width="{right - left:.2f}" height="{MARK}" '
        f'fill="{GREEN if colour == RED else colour}" fill-opacity="0.18"/>'  # what passes is never red
    ]


def _value(check: CheckResult, low: float, high: float) -> list[str]:
    if check.value is None:
        return []
    zero, at, colour = _x(max(low, min(high, 0.0)), low, high), _x(check.value, low, high), _colour(check)
    beyond = within(check) is False
    fill = "url(#hatch)" if beyond else colour
    left, width = min(zero, at), abs(at - zero)
    bar = f'<rect class="bar" x="{left:.2f}" y="{MIDDLE - BAR / 2:g}" width="{width:.2f}" height="{BAR}" fill="{fill}"/>'
    if not beyond:
        return [bar, f'<circle class="value" cx="{at:.2f}" cy="{MIDDLE}" r="5" fill="{colour}"/>']
    hatch = (
        '<defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="2" height="4" fill="{colour}"/></pattern></defs>'
    )
    arms = f"M{at - 5:.2f} {MIDDLE - 5}l10 10m0 -10l-10 10"
    return [hatch, bar, f'<path class="value" d="{arms}" stroke="{colour}" stroke-width="2.5" stroke-linecap="round" fill="none"/>']


def _threshold(check: CheckResult, low: float, high: float) -> list[str]:
    if check.threshold is None:
        return []
    at, top = _x(check.threshold, low, high), MIDDLE - MARK / 2
    return [f'<rect class="threshold" x="{at - 1:.2f}" y="{top:g}" width="2" height="{MARK}" fill="{GREY}"/>']


def _colour(check: CheckResult) -> str:
    """Green and red for a check that may block, blue for one that is only shown, grey for one that was not judged."""
    if check.state not in (State.PASSED, State.FAILED):
        return GREY
    if check.mode is not Mode.ENFORCE:
        return BLUE
    return GREEN if check.state is State.PASSED else RED


def _number(x: float, value: float, anchor: str) -> str:
    return f'<text x="{x:g}" y="{MIDDLE + 4}" font-family="sans-serif" font-size="11" text-anchor="{anchor}" fill="{GREY}">{value:g}</text>'


def _x(value: float, low: float, high: float) -> float:
    """Where a value stands; a threshold beyond the scale is drawn at its end."""
    return LEFT + (RIGHT - LEFT) * (min(max(value, low), high) - low) / (high - low)
