"""How well one score parts the questions of a run, in plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def histogram(values: Floats, wanted: Flags, labels: tuple[str, str], *, counts: bool) -> dict[str, list[Any]]:
    """How often each value was measured, in columns: of the questions that should pass, and of the others.

    Args:
        values: shape (n,), finite.
        wanted: shape (n,), those that should pass.
        labels: of the questions that should pass, and of the others.
        counts: whether the values are whole numbers.
    """
    low, high, bins = float(values.min()), float(values.max()), BINS
    if counts:
        bins = min(int(high) + 1, MAX_COUNTS)
        low, high = -0.5, bins - 0.5
    edges = np.histogram_bin_edges([], bins, (low, high))
    middle = ((edges[1:] + edges[:-1]) / 2).round(3).tolist()
    sides = zip(labels, (values[wanted], values[~wanted]), strict=True)
    return {"at": middle, **{label: np.histogram(own, edges)[0].tolist() for label, own in sides}}


def line_styles(names: Sequence[str], colours: Iterable[str], strokes: Iterable[Any], **legend: Any) -> dict[str, Any]:
    """The encoding that gives each of these lines its colour, and a stroke for those who do not tell colours apart."""
    scale: dict[str, Any] = {"legend": alt.Legend(title=None, **legend)}
    return {
        "color": alt.Color("line:N", scale=alt.Scale(domain=names, range=list(colours)), **scale),
        "strokeDash": alt.StrokeDash("line:N", scale=alt.Scale(domain=names, range=list(strokes)), **scale),
    }


def chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """A chart of these rows, without a mark yet."""
    return alt.Chart(alt.InlineData(values=list(rows)))


RELIABILITY_BINS = 10  # tenths of the scale, for the calibration error


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
    left_out: int

    @property
    def rises(self) -> Floats:
        return self.sign * self.values

    @property
    def ending(self) -> str:
        """Of the names of these charts' texts: right answers have words of their own."""
        return "_right" if self.check.scale == Scale.CORRECTNESS else ""


def _scored(held: Held, now: Judged) -> _Scored:
    known = ~np.isnan(held.values) & ~held.abstains & now.marked.measured
    sign = 1.0 if held.check.passes is Direction.AT_LEAST else -1.0
    wanted = ~now.recorded.wrong if held.check.scale == Scale.CORRECTNESS else now.marked.answerable
    return _Scored(
        held.check,
        held.values[known],
        sign,
        wanted[known],
        int((now.marked.measured & ~known).sum()),
    )


def show(now: Judged) -> None:
    """The choice of a score, how well it parts the questions, and its plots."""
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
    parted = metrics.auroc(scored.rises, scored.wanted)
    if parted is not None:
        st.markdown(say("lab_results.areas", auroc=parted), help=say(f"lab_results.areas_help{scored.ending}"))
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
    labels = say(f"lab_results.wanted{of.ending}"), say(f"lab_results.unwanted{of.ending}")
    colours: list[Any] = [BLUE, ORANGE]
    st.bar_chart(
        histogram(of.values, of.wanted, labels, counts=of.check.scale == "count"),
        x="at",
        y=list(labels),
        x_label=say(f"checks.scale_{of.check.scale}"),
        y_label=say("lab_results.axis_questions"),
        color=colours,
        height=HEIGHT,
        alt=say("lab_results.histogram_alt", n=len(of.values)),
    )


def _show_reliability(of: _Scored) -> None:
    bins = metrics.reliability(of.values, of.wanted, RELIABILITY_BINS)
    error = metrics.calibration_error(bins)
    if error is None:
        return
    st.markdown(say("lab_results.reliability", error=error), help=say(f"lab_results.reliability_help{of.ending}"))
    said, came_true = say("lab_results.axis_said"), say(f"lab_results.axis_came_true{of.ending}")
    known = [one for one in bins if one.n]
    st.line_chart(
        {said: [100 * (one.mean or 0.0) for one in known], came_true: [100 * (one.share or 0.0) for one in known]},
        x=said,
        y=came_true,
        color=BLUE,
        height=HEIGHT,
        alt=say("lab_results.reliability_alt", error=error),
    )
