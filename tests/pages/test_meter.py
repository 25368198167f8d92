"""A check as a picture: where things stand on it, what tells a pass from a fail, and that nothing but numbers is in
it.
"""

from __future__ import annotations

import base64
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State, judge
from rag_core.settings import Mode, Scale
from ui.ask import checks as drawing
from ui.ask.checks import LEFT, RIGHT, WIDTH, axis, meter

ROOT = Path(__file__).resolve().parents[2]
AT_LEAST, AT_MOST = Direction.AT_LEAST, Direction.AT_MOST


def check(
    value: float | None,
    threshold: float,
    direction: Direction = AT_LEAST,
    scale: str = "share",
    mode: Mode = Mode.ENFORCE,
) -> CheckResult:
    return judge(
        "facts",
        value,
        threshold,
        direction,
        scale,
        Reason.FACTS,
        mode,
        found="<b>untrusted</b>",
        remedy="untrusted too",
    )


def parts(one: CheckResult) -> dict[str, ElementTree.Element]:
    """What is drawn, by class."""
    head, _, data = meter(one).partition(",")
    assert head == "data:image/svg+xml;base64"
    root = ElementTree.fromstring(base64.b64decode(data))
    return {element.attrib["class"]: element for element in root.iter() if "class" in element.attrib}


def place(element: ElementTree.Element) -> float:
    """Where a value or a threshold stands, from the left."""
    if "cx" in element.attrib:
        return float(element.attrib["cx"])
    if "d" in element.attrib:
        return float(re.match(r"M([\d.]+)", element.attrib["d"])[1]) + 5  # type: ignore[index]
    return float(element.attrib["x"]) + float(element.attrib["width"]) / 2


def of_scale(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * share


def test_given_a_value_and_its_limit_when_drawn_then_bar_mark_and_allowed_side_stand_on_the_scale() -> None:
    drawn = parts(check(0.8, 0.6))

    assert place(drawn["value"]) == pytest.approx(of_scale(0.8))
    assert place(drawn["threshold"]) == pytest.approx(of_scale(0.6))
    assert (float(drawn["bar"].attrib["x"]), float(drawn["bar"].attrib["width"])) == pytest.approx(
        (LEFT, (RIGHT - LEFT) * 0.8)
    )
    assert float(drawn["allowed"].attrib["x"]) == pytest.approx(of_scale(0.6))
    assert float(drawn["allowed"].attrib["x"]) + float(drawn["allowed"].attrib["width"]) >= RIGHT

    allowed = parts(check(0.5, 0.8, AT_MOST, "distance"))["allowed"]

    assert float(allowed.attrib["x"]) <= LEFT
    assert float(allowed.attrib["x"]) + float(allowed.attrib["width"]) == pytest.approx(of_scale(0.4))


def test_given_a_pass_or_a_fail_of_any_mode_when_drawn_then_they_differ_by_colour_and_by_more() -> None:
    passed, failed = parts(check(0.8, 0.6)), parts(check(0.4, 0.6))

    assert passed["value"].tag.endswith("circle")
    assert failed["value"].tag.endswith("path")
    assert "url(" in failed["bar"].attrib["fill"]
    assert "url(" not in passed["bar"].attrib["fill"]

    for direction in Direction:  # a value equal to its limit passes
        assert parts(check(0.6, 0.6, direction))["value"].tag.endswith("circle")

    blocks, shows = check(0.4, 0.6), check(0.4, 0.6, mode=Mode.OBSERVE)
    not_reached = CheckResult("facts", State.NOT_REACHED, Mode.ENFORCE, 0.4, 0.6, AT_LEAST, "share")

    colours = [parts(one)["value"].attrib["stroke"] for one in (blocks, shows, not_reached)]

    assert len(set(colours)) == 3

    drawn = parts(CheckResult("facts", State.NOT_REACHED, Mode.ENFORCE, 0.4, 0.6, AT_LEAST, "share"))

    assert place(drawn["value"]) == pytest.approx(of_scale(0.4))
    assert drawn["value"].tag.endswith("path")


def test_given_no_value_or_no_limit_when_drawn_then_only_the_other_is_there() -> None:
    drawn = parts(check(None, 0.6))

    assert "value" not in drawn
    assert "stroke-dasharray" in drawn["axis"].attrib
    assert "stroke-dasharray" not in parts(check(0.1, 0.6))["axis"].attrib
    assert "threshold" in drawn

    drawn = parts(CheckResult("confidence", State.PASSED, Mode.OBSERVE, 0.7, scale="share"))

    assert "value" in drawn
    assert not {"threshold", "allowed"} & set(drawn)

    one = judge("facts", None, -1.0, AT_LEAST, "", Reason.FACTS, Mode.ENFORCE)

    assert axis(one) == (0.0, 1.0)
    assert place(parts(one)["threshold"]) == pytest.approx(LEFT, abs=1.5)


@each(
    ("value", "threshold", "scale", "ends"),
    [
        (0.61, 0.72, "cosine", (0, 1)),
        (-0.2, 0.72, "cosine", (-1, 1)),
        (0.61, -0.5, "cosine", (-1, 1)),
        (0.3, 0.8, "distance", (0, 2)),
        (0.9, 0.56, "answerability", (0, 1)),
        (10, 1, "count", (0, 11)),
        (0, 0, "count", (0, 1)),
        (0.4, 2, "ratio", (0, 3)),
        (7.25, 2, "ratio", (0, 8)),
    ],
)
def test_given_a_scale_when_drawn_then_its_ends_are_those_of_the_scale(
    value: float, threshold: float, scale: str, ends: tuple[float, float]
) -> None:
    assert axis(check(value, threshold, scale=scale)) == ends


@st.composite
def checks(draw: st.DrawFn) -> CheckResult:
    scale = draw(st.sampled_from([*Scale, ""]))
    low, high = (scale.low, scale.high) if scale else (-1e6, 1e6)
    number = st.floats(low, min(high, 1e6))
    return judge(
        "facts",
        draw(st.none() | number),
        draw(number),
        draw(st.sampled_from(Direction)),
        scale,
        Reason.FACTS,
        draw(st.sampled_from(Mode)),
        found="<script>found</script>",
        remedy="<b>",
        abstain=draw(st.sampled_from(["", "<i>why</i>"])),
    )


@given(checks())
def test_given_any_check_when_drawn_then_it_is_well_formed_inside_the_picture_the_same_again_and_holds_no_text_of_the_check(  # noqa: E501
    one: CheckResult,
) -> None:
    drawn = parts(one)

    assert meter(one) == meter(one)
    assert {"axis"} <= set(drawn) <= {"axis", "allowed", "bar", "value", "threshold"}
    for name in ("value", "threshold"):
        assert name not in drawn or 0 <= place(drawn[name]) <= WIDTH
    assert not re.search("script|why|facts", drawing.svg(one))


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@each("colour", [drawing.GREEN, drawing.RED, drawing.BLUE, drawing.GREY])
def test_given_the_colours_when_held_against_both_themes_then_each_can_be_seen(colour: str) -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    grounds = [
        theme[name][key] for name in ("light", "dark") for key in ("backgroundColor", "secondaryBackgroundColor")
    ]

    assert min(contrast(colour, ground) for ground in grounds) >= 3
