"""How well one score parts the questions of a run, in plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import streamlit as st

from rag_core.decision.batch import Held, checks_of
from rag_core.decision.batch.columns import Flags, Floats
from rag_core.decision.checks import Check
from rag_core.domain.measurements import Measurements
from rag_core.domain.trace import Direction
from rag_core.evaluation import metrics
from rag_core.evaluation.metrics import Bin
from rag_core.settings import Scale
from ui.app.elements import select
from ui.app.texts import say
from ui.ask.checks import LIMITS
from ui.lab.state import Judged

Spec = dict[str, Any]
HEIGHT = 340  # pixels, with axes and legend
BINS, MAX_COUNTS = 25, 40  # bars of a histogram; counts up to so many get a bar each
BLUE, ORANGE, PURPLE, GREY = "#4a7fc4", "#c2700a", "#9564c8", "#7b8682"
PERCENT = alt.Axis(format=".0%", tickCount=5)  # every fifth of the scale
_BELOW = alt.Legend(title=None, orient="bottom")


def histogram(
    values: Floats, wanted: Flags, limits: Sequence[float], axis: str, counts: bool, labels: tuple[str, str]
) -> Spec:
    """How often each value was measured: the questions that should pass above the axis, the others below, the limits as
    upright lines.

    Args:
        values: shape (n,), finite.
        wanted: shape (n,), those that should pass.
        limits: in force; several where they differ from question to question.
        axis: what the values are, with their unit.
        counts: whether they are whole numbers.
        labels: of the questions that should pass, and of the others.
    """
    known = [*values.tolist(), *limits]
    low, high = min(known, default=0.0), max(known, default=1.0)
    bins = BINS
    if counts:
        bins = min(int(high) + 1, MAX_COUNTS)
        low, high = -0.5, bins - 0.5
    edges = np.histogram_bin_edges([], bins, (low, high))
    above, below = labels
    rows = [
        {"low": low, "high": high, "n": sign * count, "count": count, "label": label}
        for label, sign, own in ((above, 1, values[wanted]), (below, -1, values[~wanted]))
        for (low, high), count in zip(pairwise(edges.tolist()), np.histogram(own, edges)[0].tolist(), strict=True)
        if count
    ]
    bars = (
        chart(rows)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=axis, axis=alt.Axis(tickCount=8, format="d" if counts else ".2~f")),
            x2="high:Q",
            y=alt.Y(
                "n:Q",
                title=say("lab_results.axis_questions"),
                axis=alt.Axis(format="d", labelExpr="abs(datum.value)", tickMinStep=1),
            ),
            color=alt.Color("label:N", scale=alt.Scale(domain=[above, below], range=[BLUE, ORANGE]), legend=_BELOW),
            tooltip=[
                _shown("label:N", "tip_label"),
                _shown("low:Q", "tip_from", ".3~f"),
                _shown("high:Q", "tip_to", ".3~f"),
                _shown("count:Q", "tip_count", "d"),
            ],
        )
    )
    ground = chart([{"n": 0}]).mark_rule(color=GREY).encode(y="n:Q")
    lines = [{"at": limit, "what": say("lab_results.this_limit")} for limit in limits]
    marks = (
        chart(lines)
        .mark_rule(color=GREY, strokeWidth=2, strokeDash=[6, 3])
        .encode(x="at:Q", tooltip=[_shown("what:N", "tip_what"), _shown("at:Q", "tip_limit", ".4~f")])
    )
    return _layered(bars, ground, marks)


def reliability(bins: Sequence[Bin], came_true: str) -> Spec:
    """The share that came true among questions with like probabilities, with its interval, against these."""
    rows = [
        {"said": b.mean, "share": b.share, "n": b.n, "least": b.interval.low, "most": b.interval.high}
        for b in bins
        if b.n
    ]
    x = alt.X("said:Q", title=say("lab_results.axis_said"), scale=alt.Scale(domain=[0, 1]), axis=PERCENT)
    y = alt.Y("share:Q", title=came_true, scale=alt.Scale(domain=[0, 1]), axis=PERCENT)
    ends = [{"said": 0, "share": 0}, {"said": 1, "share": 1}]
    ideal = chart(ends).mark_line(color=GREY, strokeDash=[4, 4]).encode(x=x, y=y)
    intervals = chart(rows).mark_rule(color=BLUE, strokeWidth=1.5).encode(x=x, y=alt.Y("least:Q"), y2="most:Q")
    tips = [
        _shown("said:Q", "tip_said", ".1%"),
        _shown("share:Q", "tip_share", ".1%"),
        _shown("least:Q", "tip_low", ".1%"),
        _shown("most:Q", "tip_high", ".1%"),
        _shown("n:Q", "tip_count", "d"),
    ]
    shares = chart(rows).mark_point(color=BLUE, filled=True, size=70, opacity=1).encode(x=x, y=y, tooltip=tips)
    return _layered(ideal, intervals, shares)


def line_styles(names: Sequence[str], colours: Iterable[str], strokes: Iterable[Any], **legend: Any) -> dict[str, Any]:
    """The encoding that gives each of these lines its colour, and a stroke for those who do not tell colours apart."""
    scale: dict[str, Any] = {"legend": alt.Legend(title=None, **legend)}
    return {
        "color": alt.Color("line:N", scale=alt.Scale(domain=names, range=list(colours)), **scale),
        "strokeDash": alt.StrokeDash("line:N", scale=alt.Scale(domain=names, range=list(strokes)), **scale),
    }


def _shown(field: str, title: str, format: str = "") -> alt.Tooltip:
    said = say(f"lab_results.{title}")
    return alt.Tooltip(field, title=said, format=format) if format else alt.Tooltip(field, title=said)


def chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """A chart of these rows, without a mark yet."""
    return alt.Chart(alt.InlineData(values=list(rows)))


def _layered(*charts: alt.Chart) -> Spec:
    """As Vega-Lite; a test holds every chart against its schema, which would take half the time of a rerun here."""
    return alt.LayerChart(layer=list(charts), height=HEIGHT).to_dict(validate=False)


RELIABILITY_BINS = 10  # tenths of the scale, for the calibration error
MAX_LIMITS = 4  # drawn as lines; where a limit differs from question to question there may be more


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """One check's measurements where there are any: `rises` are they so that higher passes; all of shape (m,).

    `wanted` are the questions that should pass: those that are answerable, and for the probability that the answer is
    right those whose draft is. An answerable question whose right answer is not labelled counts as one.
    """

    check: Check[Measurements]
    values: Floats
    sign: float  # -1 where lower passes
    wanted: Flags
    wrong: Flags
    limits: Floats
    left_out: int

    @property
    def rises(self) -> Floats:
        return self.sign * self.values

    @property
    def ending(self) -> str:
        """Of the names of these charts' texts: right answers have words of their own."""
        return "_right" if self.check.scale == Scale.CORRECTNESS else ""


def _scored(held: Held, now: Judged) -> _Scored:
    limits = np.broadcast_to(np.asarray(held.limits, dtype=np.float64), held.values.shape)
    known = ~np.isnan(held.values) & ~held.abstains & now.marked.measured
    sign = 1.0 if held.check.passes is Direction.AT_LEAST else -1.0
    wanted = ~now.recorded.wrong if held.check.scale == Scale.CORRECTNESS else now.marked.answerable
    return _Scored(
        held.check,
        held.values[known],
        sign,
        wanted[known],
        now.recorded.wrong[known],
        np.unique(limits[known]),
        int((now.marked.measured & ~known).sum()),
    )


def show(now: Judged) -> None:
    """The choice of a score, how well it parts the questions in two figures, and its plots."""
    st.subheader(say("lab_results.curves"), anchor=False)
    held = {one.check.name: one for one in checks_of(now.recorded.replay, now.settings) if one.check.name in LIMITS}
    about: dict[str, Any] = {"help": "lab_results.score_help", "persist_state": "session", "width": 420}
    name = select("lab_results.score", list(held), "lab_score", lambda name: say(f"checks.title_{name}"), **about)
    scored = _scored(held[name], now)
    st.caption(say(f"checks.about_{name}"))
    if scored.left_out:
        st.caption(say("lab_results.left_out", n=scored.left_out))
    if not scored.values.size:
        st.info(say("lab_results.no_values"), icon=":material/info:")
        return
    area, parted = metrics.aurc(scored.rises, scored.wrong), metrics.auroc(scored.rises, scored.wanted)
    if area is not None and parted is not None:
        st.markdown(
            say("lab_results.areas", auroc=parted, aurc=area), help=say(f"lab_results.areas_help{scored.ending}")
        )
    else:
        st.caption(say(f"lab_results.one_class{scored.ending}"))
    left, right = st.columns(2, gap="medium")
    with left:
        _show_histogram(scored)
    if scored.check.scale in (Scale.CORRECTNESS, Scale.ANSWERABILITY):
        with right:
            _show_reliability(scored)


def _show_histogram(of: _Scored) -> None:
    st.markdown(say("lab_results.histogram"), help=say(f"lab_results.histogram_help{of.ending}"))
    axis = say(f"checks.scale_{of.check.scale}")
    limits = of.limits.tolist() if len(of.limits) <= MAX_LIMITS else [float(of.limits.min()), float(of.limits.max())]
    labels = say(f"lab_results.wanted{of.ending}"), say(f"lab_results.unwanted{of.ending}")
    spec = histogram(of.values, of.wanted, limits, axis, of.check.scale == "count", labels)
    st.vega_lite_chart(spec=spec, key="lab_histogram", alt=say("lab_results.histogram_alt", n=len(of.values)))


def _show_reliability(of: _Scored) -> None:
    bins = metrics.reliability(of.values, of.wanted, RELIABILITY_BINS)
    error = metrics.calibration_error(bins)
    if error is None:
        return
    st.markdown(say("lab_results.reliability", error=error), help=say(f"lab_results.reliability_help{of.ending}"))
    spec = reliability(bins, say(f"lab_results.axis_came_true{of.ending}"))
    st.vega_lite_chart(spec=spec, key="lab_reliability", alt=say("lab_results.reliability_alt", error=error))
