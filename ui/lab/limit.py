"""Shows the effect of a limit: right answers, wrong ones and refusals on one curve, and a limit for a price in words.

Breakdowns wait in the details below (`ui.lab.results`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import altair as alt
import streamlit as st

from rag_core.decision.batch import ReplaySet
from rag_core.evaluation.report import Effect, Rate, Tradeoff, effect, suggested, tradeoff
from rag_core.settings import Mode, Settings
from ui.app.elements import button
from ui.app.texts import say
from ui.lab.state import Judged
from ui.settings.fields import set_knob

KNOB, MODE = "min_correctness", "correctness_mode"
ACCEPTED, MAX_ACCEPTED = 5, 50  # wrong ones among 100 answers: at first, and at most
HEIGHT = 340  # pixels, with axes and legend
BLUE, ORANGE, PURPLE, GREY = "#4a7fc4", "#c2700a", "#9564c8", "#7b8682"
LINES = {"right": BLUE, "wrong": ORANGE, "refused": PURPLE}
LATE = 0.6  # past such a limit a word above its line runs out of the chart; looked at with 390 pixels
WORD_ROOM = 14  # pixels from one word above the chart to the next
COUNTS = (*LINES, "spared")
STROKES = ([1, 0], [6, 3], [2, 2])  # for those who do not tell the colours apart
_KNOWN: WeakKeyDictionary[ReplaySet, tuple[Settings, Tradeoff]] = WeakKeyDictionary()


def show(now: Judged, before: Judged) -> None:
    """The whole screen; `now` is the run under the settings of the side bar, `before` under its own."""
    st.header(say("lab_limit.title"), anchor=False)
    found = of_limits(now)
    _show_counts(effect(now.marked), effect(before.marked))
    unlabelled = sum(question.answerable and not question.answers for question in now.recorded.questions)
    if unlabelled:  # beside the numbers that it is about
        st.caption(say("lab_limit.unlabelled", n=unlabelled))
    if now.marked.lost.any():
        st.caption(say("lab_limit.lost", n=int(now.marked.lost.sum())))
    if found is None:
        st.caption(say("lab_limit.no_probability"))
        return
    place = _suggest(found, now.settings)
    idle = now.settings.correctness_mode is not Mode.ENFORCE
    with st.container(key="lab_limit_curve", gap=None):
        here, there = None if idle else now.settings.min_correctness, None if place is None else found.limits[place]
        said = say("lab_limit.alt", n=found.effects[0].questions)
        st.vega_lite_chart(spec=curve(found, here, there), key="lab_limit_chart", alt=said)


def curve(of: Tradeoff, here: float | None, there: float | None) -> dict[str, Any]:
    """The three shares of all questions over the limit, with the limits in force and suggested as upright lines."""
    # where an answer cannot be read any more, a refusal still counts
    n = max(1, *(found.questions for found in of.effects))
    rows = [
        {"limit": limit, "share": getattr(found, line) / n, "line": say(f"lab_limit.{line}")}
        for line in LINES
        for limit, found in zip(of.limits, of.effects, strict=True)
    ]
    names = [say(f"lab_limit.{line}") for line in LINES]
    x = alt.X(
        "limit:Q",
        title=say("lab_limit.axis_limit"),
        scale=alt.Scale(domain=[of.limits[0], of.limits[-1]]),
        axis=alt.Axis(format=".0%", tickCount=5),
    )
    y = alt.Y(
        "share:Q",
        title=say("lab_limit.axis_share"),
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=".0%", tickCount=5),
    )
    places = _chart(rows).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("line:N", title=say("lab_limit.tip_line")),
            alt.Tooltip("limit:Q", title=say("lab_limit.tip_limit"), format=".0%"),
            alt.Tooltip("share:Q", title=say("lab_limit.tip_share"), format=".1%"),
        ],
    )
    legend: dict[str, Any] = {"orient": "top", "symbolSize": 225, "labelLimit": 0, "columnPadding": 8}
    styles = _line_styles(names, **legend, offset=2 * WORD_ROOM + 4)
    lines = places.mark_line(strokeWidth=2, interpolate="step-before").encode(**styles)
    marks: list[dict[str, Any]] = [
        {"limit": limit, "what": say(f"lab_limit.{what}")}
        for limit, what in ((here, "here"), (there, "there"))
        if limit is not None and (what, limit) != ("there", here)
    ]
    upright = [  # without a scale of their own, which would part the legend in two
        _chart([mark]).mark_rule(strokeWidth=2, color=GREY, strokeDash=dash).encode(x="limit:Q")
        for mark, dash in zip(marks, ([1, 0], [4, 4]), strict=False)
    ]
    # above the chart, each on a line of its own: no curve runs through them, and two limits may be near each other
    said = [
        _chart([mark])
        .mark_text(align="right" if mark["limit"] > LATE else "left", dy=-6 - WORD_ROOM * row, color=GREY, fontSize=12)
        .encode(x="limit:Q", y=alt.value(0), text="what:N")
        for row, mark in enumerate(marks)
    ]
    # a line has no points to rest on: these have its words
    unseen = places.mark_point(opacity=0, size=60)
    return alt.LayerChart(layer=[lines, *upright, *said, unseen], height=HEIGHT).to_dict(validate=False)


def _line_styles(names: Sequence[str], **legend: Any) -> dict[str, Any]:
    """The encoding that gives each line its colour, and a stroke for those who do not tell colours apart."""
    scale: dict[str, Any] = {"legend": alt.Legend(title=None, **legend)}
    ranges: dict[str, list[Any]] = {"color": list(LINES.values()), "strokeDash": list(STROKES)}
    kinds = {"color": alt.Color, "strokeDash": alt.StrokeDash}
    return {
        name: kinds[name]("line:N", scale=alt.Scale(domain=names, range=values), **scale)
        for name, values in ranges.items()
    }


def _chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """A chart of these rows, without a mark yet."""
    return alt.Chart(alt.InlineData(values=list(rows)))


def of_limits(now: Judged) -> Tradeoff | None:
    """The effect of each limit, worked out again where another setting was moved; None without a probability."""
    of = now.recorded
    if not any(one.correctness is not None for one in of.records):
        return None
    settings = now.settings.changed(**{MODE: Mode.ENFORCE})
    key = settings.changed(**{KNOB: 0.0})
    known = _KNOWN.get(of.replay)
    if known is None or known[0] != key:
        found = tradeoff(of.questions, of.records, of.replay, of.hits, settings, KNOB)
        known = _KNOWN[of.replay] = key, found
    return known[1]


def _show_counts(now: Effect, before: Effect) -> None:
    with st.container(key="lab_effect"):
        for column, name in zip(st.columns(len(COUNTS)), COUNTS, strict=True):
            moved = getattr(now, name) - getattr(before, name)
            rate = Rate(getattr(now, name), now.questions)
            with column, st.container(border=True, height="stretch", gap="xsmall", key=f"lab_effect_{name}"):
                st.metric(
                    say(f"lab_limit.{name}"),
                    rate.k,
                    say("lab_limit.delta", n=moved) if moved else None,
                    delta_color="normal" if name in ("right", "spared") else "inverse",
                    help=say(f"lab_limit.{name}_help"),
                )
                st.caption(say("lab_limit.of", n=rate.n))
                if rate.n:
                    st.caption(say("lab_limit.between", low=rate.interval.low, high=rate.interval.high))


def _suggest(of: Tradeoff, settings: Settings) -> int | None:
    """The price that one would pay, the limit for it in words, and a button that takes it; the place of that limit."""
    with st.container(border=True, key="lab_suggested"):
        accepted = st.number_input(
            say("lab_limit.accept"),
            0,
            MAX_ACCEPTED,
            ACCEPTED,
            1,
            key="lab_accepted",
            help=say("lab_limit.accept_help"),
            persist_state="session",
            width=420,
        )
        place = suggested(of, accepted / 100)
        if place is None:
            st.markdown(say("lab_limit.suggest_none"))
            return None
        _show_price(of.limits[place], of.effects[place])
        st.caption(say("lab_limit.suggest_about", n=of.effects[place].questions))
        in_force = settings.correctness_mode is Mode.ENFORCE and settings.min_correctness == of.limits[place]
        key = "lab_limit.in_force" if in_force else "lab_limit.apply"
        button(key, "lab_apply_limit", _apply, of.limits[place], type="primary", icon="check", disabled=in_force)
    return place


def _show_price(limit: float, found: Effect) -> None:
    """A limit and what it costs, about a hundred questions, or those that were asked where they are fewer."""
    n, of = found.questions, min(found.questions, 100)
    answered, wrong = round(of * found.answered / n), of * found.wrong / n
    ending = "_all_right" if not found.wrong else "_few" if wrong < 1 else ""
    st.markdown(
        say(f"lab_limit.suggest{ending}", limit=round(100 * limit, 2), answered=answered, of=of, wrong=round(wrong))
    )
    right = Rate(found.right, found.answered)
    st.markdown(say("lab_limit.suggest_bound", k=right.k, n=right.n, low=right.interval.low))


def _apply(limit: float) -> None:
    set_knob(KNOB, limit)
    set_knob(MODE, Mode.ENFORCE)
