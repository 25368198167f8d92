"""The bar of a check: where its value and its limit stand, how a pass and a miss differ, and that it holds no text."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State, judge
from rag_core.settings import Mode, Scale
from ui.ask.checks import axis, meter

ROOT = Path(__file__).resolve().parents[2]
AT_LEAST = Direction.AT_LEAST
STYLE = (ROOT / "ui" / "style.css").read_text(encoding="utf-8")


def check(value: float | None, threshold: float, scale: str = "share", mode: Mode = Mode.ENFORCE) -> CheckResult:
    return judge("facts", value, threshold, AT_LEAST, scale, Reason.FACTS, mode, found="<b>untrusted</b>")


@each(
    ("one", "kind", "style"),
    [
        (check(0.8, 0.6), "passed", "--value:80.0%;--limit:60.0%"),
        (check(0.6, 0.6), "passed", "--value:60.0%;--limit:60.0%"),
        (check(0.4, 0.6), "failed beyond", "--value:40.0%;--limit:60.0%"),
        (check(0.4, 0.6, mode=Mode.OBSERVE), "shown beyond", "--value:40.0%;--limit:60.0%"),
        (
            CheckResult("facts", State.NOT_REACHED, Mode.ENFORCE, 0.4, 0.6, AT_LEAST, "share"),
            "idle beyond",
            "--value:40.0%;--limit:60.0%",
        ),
        (CheckResult("confidence", State.PASSED, Mode.OBSERVE, 0.7, scale="share"), "shown", "--value:70.0%"),
    ],
)
def test_given_a_check_when_drawn_then_value_limit_and_state_are_seen(one: CheckResult, kind: str, style: str) -> None:
    assert f'class="meter {kind}" style="{style}"' in meter(one)
    assert set(kind.split()) <= {"idle"} | set(re.findall(r"&\.(\w+)", STYLE))


def test_given_nothing_measured_when_drawn_then_there_is_no_bar() -> None:
    assert meter(check(None, 0.6)) == ""


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
        (None, -1, "", (0, 1)),
    ],
)
def test_given_a_scale_when_drawn_then_its_ends_are_those_of_the_scale(
    value: float | None, threshold: float, scale: str, ends: tuple[float, float]
) -> None:
    assert axis(check(value, threshold, scale)) == ends


@st.composite
def checks(draw: st.DrawFn) -> CheckResult:
    scale = draw(st.sampled_from([*Scale, ""]))
    low, high = (scale.low, scale.high) if scale else (-1e6, 1e6)
    number = st.floats(low, min(high, 1e6))
    ways = draw(st.sampled_from(Direction)), scale, Reason.FACTS, draw(st.sampled_from(Mode))
    why = draw(st.sampled_from(["", "<i>why</i>"]))
    return judge("facts", draw(number), draw(number), *ways, found="<script>found</script>", remedy="<b>", abstain=why)


@given(checks())
def test_given_any_check_when_drawn_then_it_is_one_bar_of_numbers_within_its_scale(one: CheckResult) -> None:
    share = r"(?:100|\d?\d|-0)\.\d%"
    drawn = rf'<span class="meter [a-z ]+" style="--value:{share};--limit:{share}" aria-hidden="true"></span>'

    assert re.fullmatch(drawn if one.value is not None else "", meter(one))


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_given_the_colours_when_held_against_both_themes_then_each_can_be_seen() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    grounds = [
        theme[name][key] for name in ("light", "dark") for key in ("backgroundColor", "secondaryBackgroundColor")
    ]
    colours = re.findall(r"--fill: (#\w{6})", STYLE)

    assert len(set(colours)) == 4
    assert min(contrast(colour, ground) for colour in colours for ground in grounds) >= 3
