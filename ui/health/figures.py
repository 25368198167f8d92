"""The figures of the Health page, the questions behind a bar that was clicked, why questions were refused, which drafts
were rejected, and the refused questions by what they ask.

Charts hold numbers alone; colours as in the lab. What a click tells is looked up here among the kept questions, whose
texts are untrusted: each is one click from its stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import urljoin

import altair as alt
import streamlit as st

from rag_core.domain.status import Reason
from rag_core.evaluation.health import DRIFT_ALERT, GOALS, MIN_TO_COMPARE, Drift, Figure, Gap, Kept, figure, refusals
from rag_core.records.stored import FeedbackKind, FeedbackState
from ui.app import state, tables
from ui.app.elements import download
from ui.app.people import recording
from ui.app.texts import say, tell
from ui.lab import flips
from ui.lab.flips import Spec, pick
from ui.lab.plots import BLUE, ORANGE, chart
from ui.settings.sharing import address

HEIGHT = 260  # pixels of a chart
MAX_REJECTED = 20  # rejected drafts in the table, the newest
MAX_GAPS, MAX_EXAMPLES = 8, 5  # groups on the page, and further questions of each; the file has all
MAX_LISTED = 200  # the newest; a table is not for reading thousands
_PICKED = "health_picked"  # in the session
_UNIT = {Figure.RETRIEVAL: "ms", Figure.MODEL: "ms"}


def in_words(which: Figure, value: float | None) -> str:
    """A value with its unit; a dash where there is none."""
    return say("health.none") if value is None else say(f"health.{_UNIT.get(which, 'share')}", value=value)


def show_alerts(kept: Sequence[Kept], drift: Drift) -> None:
    """Say whether a figure is past its alert, and whether the scores have shifted."""
    past = sum(GOALS[which].alerts(figure(which, kept)) for which in Figure)
    if drift.alerts:
        st.warning(say("health.drift_alert"), icon=":material/moving:")
    if past:
        st.warning(say("health.alerts", n=past), icon=":material/warning:")
    elif not drift.alerts:
        st.success(say("health.fine"), icon=":material/check_circle:")


def show_figures(kept: Sequence[Kept]) -> None:
    """The figures in one line; each says on request what it counts."""
    with st.container(horizontal=True, gap="large", key="health_figures"):
        for which in Figure:
            value = in_words(which, figure(which, kept))
            st.metric(say(f"health.{which.value}"), value, help=say(f"health.{which.value}_help"), width="content")


def show_feedback(since: str) -> None:
    """Show what readers said in the period, beside what is estimated."""
    said = Counter(one.kind for kept in FeedbackState for one in recording.store().feedback(kept) if one.at >= since)
    right, wrong, refusals = (
        said[kind] for kind in (FeedbackKind.HELPFUL, FeedbackKind.WRONG_ANSWER, FeedbackKind.WRONG_REFUSAL)
    )
    st.caption(say("health.feedback", right=right, wrong=wrong, refusals=refusals))
    if total := right + wrong + refusals:
        st.caption(say("health.feedback_share", share=right / total))


def show_reasons(kept: Sequence[Kept]) -> None:
    """A table of reasons in words."""
    st.subheader(say("health.why"), anchor=False)
    found = refusals(kept)
    if not found:
        st.caption(say("health.why_none"))
        return
    rows = [
        {"sentence": tell(f"refusal.why_{reason}"), "n": count, "share": count / len(kept)} for reason, count in found
    ]
    share = st.column_config.ProgressColumn(say("health.column_share"), format="percent", min_value=0, max_value=1)
    wide = {"sentence": "large", "n": "small"}
    tables.show(rows, "health.column_", "health_reasons", wide=wide, columns={"share": share}, alt="health.why")


def show_rejected(kept: Sequence[Kept]) -> None:
    """The newest questions of which a draft was rejected, each with a link to its trace."""
    rows = [one for one in kept if one.summary.failed][:MAX_REJECTED]
    if not rows:
        return
    st.subheader(say("health.rejected"), anchor=False)
    st.caption(say("health.rejected_about", n=len(rows)))
    _list(rejected_rows(rows, st.context.url or "", state.session().collection), "health_rejected", "health.rejected")


def rejected_rows(kept: Sequence[Kept], page: str, collection: str) -> list[dict[str, object]]:
    """The rows of these questions; `page` is the address of this page."""
    return [row_of(one, "health.rejected_answered", page, collection) for one in kept]


def show_scores(drift: Drift) -> None:
    """The spread of the scores beside the calibration's, and whether it has shifted."""
    st.subheader(say("health.scores"), anchor=False)
    if not sum(drift.now):
        st.caption(say("health.scores_none"))
        return
    key, alt = "health_scores", say("health.scores_alt")
    st.vega_lite_chart(spec=spread(drift), key=key, alt=alt, on_select=lambda: _take(key))
    if not drift.then:
        st.caption(say("health.drift_none"))
    elif drift.index is None:
        st.caption(say("health.drift_few", most=MIN_TO_COMPARE))
    else:
        st.caption(say("health.drift", index=drift.index, alert=DRIFT_ALERT), help=say("health.drift_help"))


def show_gaps(gaps: Sequence[Gap]) -> None:
    """The groups of unanswered questions, with examples; all of them as a file."""
    st.subheader(say("health.gaps"), anchor=False)
    if not gaps:
        st.caption(say("health.gaps_none"))
        return
    st.caption(say("health.gaps_about"))
    for number, gap in enumerate(gaps[:MAX_GAPS]):
        with st.container(border=True, key=f"gap_{number}", gap="small"):
            _show_gap(gap)
    if len(gaps) > MAX_GAPS:
        st.caption(say("health.gaps_rest", n=len(gaps) - MAX_GAPS))
    download("health.gaps_download", lambda: tables.to_csv(rows_of(gaps)), "gaps.csv", "health_gaps_csv")


def rows_of(gaps: Sequence[Gap]) -> list[dict[str, object]]:
    """One row for each question, with its group."""
    return [
        {
            "group": number,
            "questions": len(gap.questions),
            "asked": one.at,
            "question": one.question,
            "shared_words": " ".join(gap.terms),
            "not_found": ", ".join(gap.missing),
            "reason": one.summary.reason.value,
        }
        for number, gap in enumerate(gaps, 1)
        for one in gap.questions
    ]


def _show_gap(gap: Gap) -> None:
    first, *others = gap.questions
    at = max(one.at for one in gap.questions)[:10]
    st.text(first.question)
    st.text(tell("health.gap_count", n=len(gap.questions), at=at))
    if gap.missing:
        st.text(tell("health.gap_missing", names=", ".join(gap.missing)))
    if more := [text for text in dict.fromkeys(one.question for one in others) if text != first.question]:
        with st.expander(say("health.gap_more")):
            for text in more[:MAX_EXAMPLES]:
                st.text(text)


def spread(drift: Drift) -> Spec:
    """The share of questions by score: bars for now, steps for the calibration where it tells."""
    words = [say("health.scores_now"), say("health.scores_then")]
    rows = []
    for what, counts in zip(words, (drift.now, drift.then), strict=True):
        total = max(sum(counts), 1)
        size = 1 / max(len(counts), 1)
        rows += [
            {"low": n * size, "high": (n + 1) * size, "share": count / total, "n": count, "what": what}
            for n, count in enumerate(counts)
        ]
    y = alt.Y("share:Q", title=say("health.scores_count"), axis=alt.Axis(format=".0%"))
    x = alt.X("low:Q", bin="binned", title=say("health.scores_axis"), axis=alt.Axis(format=".0%", tickCount=5))
    tips = [
        alt.Tooltip("what:N", title=" "),
        alt.Tooltip("n:Q", title=say("health.column_n")),
        alt.Tooltip("share:Q", title=say("health.column_share"), format=".1%"),
    ]
    legend = alt.Legend(title=None, orient="bottom")
    bars = (
        chart([row for row in rows if row["what"] == words[0]])
        .mark_bar(binSpacing=1)
        .encode(
            x=x,
            x2="high:Q",
            y=y,
            tooltip=tips,
            color=alt.Color(
                "what:N",
                scale=alt.Scale(domain=words if drift.then else words[:1], range=[BLUE, ORANGE]),
                legend=legend,
            ),
        )
        .add_params(pick("low", "high"))
    )
    then = (
        chart([row for row in rows if row["what"] == words[1]])
        .mark_rule(strokeWidth=3)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, tooltip=tips, color=alt.Color("what:N", legend=legend))
    )
    return alt.LayerChart(layer=[bars, then] if drift.then else [bars], height=HEIGHT).to_dict(validate=False)


def holds(low: float, high: float, one: Kept) -> bool:
    """Whether a question counts in the bar from `low` to below `high`; the last bar holds 1."""
    value = one.summary.correctness
    return value is not None and one.summary.searched and low <= value and (value < high or high >= 1)


def show_picked(kept: Sequence[Kept]) -> None:
    """List the questions that were clicked, newest first; where nothing was, say that one can."""
    pick: tuple[float, float] | None = st.session_state.get(_PICKED)
    if pick is None:
        st.caption(say("health.picked_how"))
        return
    found = [one for one in kept if holds(*pick, one)]
    with st.container(key=_PICKED, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            what = tell("health.picked_scores", low=pick[0], high=pick[1])
            st.text(tell("health.picked_title", what=what, n=len(found)))
            flips.close_button(_PICKED)
        if len(found) > MAX_LISTED:
            st.caption(say("health.picked_newest", n=MAX_LISTED))
        if found:
            rows = picked_rows(found[:MAX_LISTED], st.context.url or "", state.session().collection)
            sure = st.column_config.NumberColumn(say("health.correctness"), width="small", format="%d %%")
            _list(rows, None, "health.picked_alt", sure=sure, column_order=("at", "question", "why", "sure", "trace"))


def picked_rows(kept: Sequence[Kept], page: str, collection: str) -> list[dict[str, object]]:
    """The rows of these questions with how sure each is; `page` is the address of this page."""
    return [
        row_of(one, "health.picked_answered", page, collection)
        | {"sure": None if one.summary.correctness is None else round(100 * one.summary.correctness)}
        for one in kept
    ]


def row_of(one: Kept, answered: str, page: str, collection: str) -> dict[str, object]:
    """When a question was asked, its text, how it ended (`answered`, or why not), and the address of its decision.

    `page` is the address of this page; the Ask page, beside it, shows decisions.
    """
    reason = one.summary.reason
    return {
        "at": one.at[:16].replace("T", " "),
        "question": one.question,
        "why": tell(answered if reason is Reason.NONE else f"refusal.why_{reason}"),
        "trace": address(urljoin(page, "./"), collection, one.id),
    }


def _list(rows: tables.Rows, key: str | None, alt: str, *, sure: Any = None, **more: Any) -> None:
    """A table of rows of `row_of`; `sure` is a further column."""
    opens = st.column_config.LinkColumn(
        say("health.rejected_trace"), display_text=say("health.rejected_open"), width="small"
    )
    columns = {"trace": opens} | ({"sure": sure} if sure else {})
    wide = {"at": "small", "question": "large", "why": "large"}
    tables.show(rows, "health.rejected_", key, wide=wide, columns=columns, alt=alt, **more)


def _take(key: str) -> None:
    match flips.part_of(key):
        case {"low": int() | float() as low, "high": int() | float() as high}:
            st.session_state[_PICKED] = float(low), float(high)
        case _:
            flips.let_go(_PICKED)
