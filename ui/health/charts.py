"""The charts of the Health page, from numbers alone. Colours as in the lab; lines differ in their dashes too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from rag_core.evaluation.health import Drift, Goal
from ui.app.texts import say
from ui.lab.outcomes.charts import BLUE, GREY, ORANGE, pick

HEIGHT, TILE_HEIGHT = 260, 48  # pixels
Spec = dict[str, Any]


def series(days: Sequence[tuple[str, float]], goal: Goal, title: str, *, share: bool) -> Spec:
    """A figure by day, with its target and its alert as lines across."""
    rows = alt.InlineData(values=[{"day": day, "date": day, "value": value} for day, value in days])
    lines = alt.InlineData(
        values=[
            {"value": goal.target, "what": say("health.target_line")},
            {"value": goal.alert, "what": say("health.alert_line")},
        ]
    )
    format = ".0%" if share else ",.0f"
    y = alt.Y("value:Q", title=title, axis=alt.Axis(format=format), scale=alt.Scale(zero=not share, nice=True))
    x = alt.X("day:T", title=say("health.day"), axis=alt.Axis(format="%d %b", tickCount={"interval": "day", "step": 1}, labelOverlap=True))
    tips = [alt.Tooltip("day:T", title=say("health.day"), format="%Y-%m-%d"), alt.Tooltip("value:Q", title=title, format=format)]
    line = alt.Chart(rows).mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y)
    points = alt.Chart(rows).mark_point(color=BLUE, filled=True, opacity=1, size=60).encode(x=x, y=y, tooltip=tips)
    points = points.add_params(pick("date", nearest=True))  # the day as text: as a time it would come back in milliseconds
    words = [say("health.target_line"), say("health.alert_line")]
    rules = (
        alt.Chart(lines)
        .mark_rule(strokeWidth=1.5)
        .encode(
            y=y,
            color=alt.Color("what:N", scale=alt.Scale(domain=words, range=[GREY, ORANGE]), legend=alt.Legend(title=None, orient="bottom")),
            strokeDash=alt.StrokeDash("what:N", scale=alt.Scale(domain=words, range=[[2, 3], [8, 4]]), legend=None),
        )
    )
    return alt.LayerChart(layer=[rules, line, points], height=HEIGHT).to_dict(validate=False)


def line(days: Sequence[tuple[str, float]]) -> Spec:
    """A figure by day in a tile: its course alone, without scales."""
    rows = alt.InlineData(values=[{"day": day, "value": value} for day, value in days])
    x, y = alt.X("day:T", axis=None), alt.Y("value:Q", axis=None, scale=alt.Scale(zero=False))
    spec: Spec = alt.Chart(rows, height=TILE_HEIGHT).mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y).to_dict(validate=False)
    return spec


def scores(drift: Drift) -> Spec:
    """The share of questions by score: bars for now, steps for the calibration where it tells."""
    words = [say("health.scores_now"), say("health.scores_then")]
    rows = []
    for what, counts in zip(words, (drift.now, drift.then), strict=True):
        total = max(sum(counts), 1)
        size = 1 / max(len(counts), 1)
        rows += [
            {"low": n * size, "high": (n + 1) * size, "share": count / total, "n": count, "what": what} for n, count in enumerate(counts)
        ]
    y = alt.Y("share:Q", title=say("health.scores_count"), axis=alt.Axis(format=".0%"))
    x = alt.X("low:Q", bin="binned", title=say("health.scores_axis"), axis=alt.Axis(format=".0%", tickCount=5))
    tips = [
        alt.Tooltip("what:N", title=" "),
        alt.Tooltip("n:Q", title=say("health.why_count")),
        alt.Tooltip("share:Q", title=say("health.why_share"), format=".1%"),
    ]
    legend = alt.Legend(title=None, orient="bottom")
    bars = (
        alt.Chart(alt.InlineData(values=[row for row in rows if row["what"] == words[0]]))
        .mark_bar(binSpacing=1)
        .encode(
            x=x,
            x2="high:Q",
            y=y,
            tooltip=tips,
            color=alt.Color("what:N", scale=alt.Scale(domain=words if drift.then else words[:1], range=[BLUE, ORANGE]), legend=legend),
        )
        .add_params(pick("low", "high"))
    )
    then = (
        alt.Chart(alt.InlineData(values=[row for row in rows if row["what"] == words[1]]))
        .mark_rule(strokeWidth=3)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, tooltip=tips, color=alt.Color("what:N", legend=legend))
    )
    return alt.LayerChart(layer=[bars, then] if drift.then else [bars], height=HEIGHT).to_dict(validate=False)
