"""The five figures as tiles with target and alert, and one of them by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Literal

import streamlit as st

from rag_core.evaluation.health import GOALS, Drift, Figure, Kept, by_day, figure
from rag_core.records.stored import FeedbackKind, FeedbackState
from ui.app.people import recording
from ui.app.texts import say, tell
from ui.health import charts, picked

_UNIT = {Figure.RETRIEVAL: "ms", Figure.MODEL: "ms"}
State = tuple[str, str, Literal["green", "orange", "red", "gray"]]  # a word, an icon, a colour


def in_words(which: Figure, value: float | None, share: str = "share") -> str:
    """A value with its unit; a dash where there is none. `share` is the form of a share."""
    return say("health.none") if value is None else say(f"health.{_UNIT.get(which, share)}", value=value)


def show_alerts(kept: Sequence[Kept], drift: Drift) -> None:
    """Say whether a figure is past its alert, and whether the scores have shifted."""
    past = sum(GOALS[which].alerts(figure(which, kept)) for which in Figure)
    if drift.alerts:
        st.warning(say("health.drift_alert"), icon=":material/moving:")
    if past:
        st.warning(say("health.alerts", n=past), icon=":material/warning:")
    elif not drift.alerts:
        st.success(say("health.fine"), icon=":material/check_circle:")


def show_tiles(kept: Sequence[Kept]) -> None:
    """Each figure with its line by day, its target and its alert."""
    with st.container(horizontal=True, key="health_tiles"):
        for which in Figure:
            value, days = figure(which, kept), by_day(kept, partial(figure, which))
            with st.container(border=True, width=250, key=f"tile_{which.value}", gap="small", height="stretch"):
                st.metric(say(f"health.{which.value}"), in_words(which, value), help=say(f"health.{which.value}_help"))
                if len(days) > 1:  # a metric's own line has no words for those who do not see it
                    st.vega_lite_chart(spec=charts.line(days), key=f"health_line_{which.value}", alt=say("health.line_alt", n=len(days)))
                _show_state(which, value)
                st.text(_goal(which))


def show_feedback(since: str) -> None:
    """Show what readers said in the period, beside what is estimated."""
    said = Counter(one.kind for kept in FeedbackState for one in recording.store().feedback(kept) if one.at >= since)
    right, wrong, refusals = (said[kind] for kind in (FeedbackKind.HELPFUL, FeedbackKind.WRONG_ANSWER, FeedbackKind.WRONG_REFUSAL))
    st.caption(say("health.feedback", right=right, wrong=wrong, refusals=refusals))
    if total := right + wrong + refusals:
        st.caption(say("health.feedback_share", share=right / total))


def show_series(kept: Sequence[Kept]) -> None:
    """One figure by day, with its target and its alert."""
    st.subheader(say("health.over_time"), anchor=False)
    which = st.selectbox(say("health.figure"), list(Figure), format_func=lambda one: say(f"health.{one.value}"), key="health_figure")
    if which is None:
        return
    days = by_day(kept, partial(figure, which))
    if len(days) < 2:
        st.caption(say("health.too_few_days"))
        return
    chart = charts.series(days, GOALS[which], say(f"health.{which.value}"), share=_UNIT.get(which) != "ms")
    picked.chart(chart, "health_series", say("health.series_alt"))


def _show_state(which: Figure, value: float | None) -> None:
    word, icon, colour = _state(which, value)
    st.badge(say(f"health.{word}"), icon=f":material/{icon}:", color=colour)


def _state(which: Figure, value: float | None) -> State:
    if value is None:
        return ("no_model" if which is Figure.MODEL else "not_measured"), "remove", "gray"
    if GOALS[which].alerts(value):
        return "alert", "warning", "red"
    return ("met", "check", "green") if GOALS[which].meets(value) else ("between", "trending_down", "orange")


def _goal(which: Figure) -> str:
    goal = GOALS[which]
    side = "more" if goal.more_is_better else "less"
    return tell(f"health.goal_{side}", target=in_words(which, goal.target, "whole"), alert=in_words(which, goal.alert, "whole"))
