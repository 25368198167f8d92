"""The figures of the Health page, why questions were refused, the refused ones by what they ask, and all questions,
each one click from its stages.

Charts hold numbers alone; colours as in the lab. The texts of questions are untrusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import urljoin

import streamlit as st

from rag_core.domain.status import AnswerStatus
from rag_core.evaluation.health import DRIFT_ALERT, GOALS, Drift, Figure, Gap, Kept, figure, refusals
from rag_core.records.stored import FeedbackKind, FeedbackState
from ui.app import state, tables
from ui.app.people import recording
from ui.app.texts import say, tell
from ui.lab.plots import BLUE, ORANGE
from ui.settings.sharing import address

HEIGHT = 260  # pixels of a chart
GAPS_IN_VIEW = 8  # groups; more are scrolled
MAX_LISTED = 200  # questions, the newest
_UNIT = {Figure.RETRIEVAL: "ms", Figure.MODEL: "ms"}
_DRAFTED = (Figure.COVERAGE, Figure.FAILED)  # about drafts: only a language model's can be wrong


def in_words(which: Figure, value: float | None) -> str:
    """A value with its unit; a dash where there is none."""
    return say("health.none") if value is None else say(f"health.{_UNIT.get(which, 'share')}", value=value)


def shown(kept: Sequence[Kept]) -> dict[Figure, float]:
    """The figures that were measured; those of drafts only where a language model wrote some."""
    found = {which: value for which in Figure if (value := figure(which, kept)) is not None}
    return found if Figure.MODEL in found else {name: of for name, of in found.items() if name not in _DRAFTED}


def show_alerts(kept: Sequence[Kept], drift: Drift) -> None:
    """Say whether a figure is past its alert, and whether the scores have shifted."""
    past = sum(GOALS[which].alerts(value) for which, value in shown(kept).items())
    if drift.alerts:
        st.warning(say("health.drift_alert"), icon=":material/moving:")
    if past:
        st.warning(say("health.alerts", n=past), icon=":material/warning:")
    elif not drift.alerts:
        st.success(say("health.fine"), icon=":material/check_circle:")


def show_figures(kept: Sequence[Kept]) -> None:
    """The figures in one line; each says on request what it counts."""
    with st.container(horizontal=True, gap="large", key="health_figures"):
        for which, value in shown(kept).items():
            name, about = say(f"health.{which.value}"), say(f"health.{which.value}_help")
            look = say("health.look") if GOALS[which].alerts(value) else None
            said = in_words(which, value)
            st.metric(name, said, look, delta_color="off", delta_arrow="off", help=about, width="content")


def show_feedback(since: str) -> None:
    """Show what readers said in the period, beside what is estimated."""
    said = Counter(one.kind for kept in FeedbackState for one in recording.store().feedback(kept) if one.at >= since)
    right, wrong, refusals = (
        said[kind] for kind in (FeedbackKind.HELPFUL, FeedbackKind.WRONG_ANSWER, FeedbackKind.WRONG_REFUSAL)
    )
    if total := right + wrong + refusals:
        st.caption(say("health.feedback", right=right, wrong=wrong, refusals=refusals))
        st.caption(say("health.feedback_share", share=right / total))


def show_reasons(kept: Sequence[Kept]) -> None:
    """A table of reasons in words."""
    st.header(say("health.why"), anchor=False)
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


def show_scores(drift: Drift) -> None:
    """The spread of the scores beside the calibration's, and whether it has shifted."""
    st.header(say("health.scores"), anchor=False)
    if not sum(drift.now):
        st.caption(say("health.scores_none"))
        return
    size = 100 / len(drift.now)
    parts = [f"{size * n:.0f}–{size * (n + 1):.0f} %" for n in range(len(drift.now))]
    shares = {
        say(f"health.scores_{name}"): [100 * n / sum(counts) for n in counts]
        for name, counts in (("now", drift.now), ("then", drift.then))
        if sum(counts)
    }
    colours: list[Any] = [BLUE, ORANGE][: len(shares)]
    st.bar_chart(
        {"part": parts, **shares},
        x="part",
        y=list(shares),
        x_label=say("health.scores_axis"),
        y_label=say("health.scores_count"),
        color=colours,
        height=HEIGHT,
        stack=False,
        alt=say("health.scores_alt"),
    )
    if drift.index is not None:
        st.caption(say("health.drift", index=drift.index, alert=DRIFT_ALERT), help=say("health.drift_help"))


def show_gaps(gaps: Sequence[Gap]) -> None:
    """A table of the groups of unanswered questions, each by one of them; all of them as a file."""
    st.header(say("health.gaps"), anchor=False)
    if not gaps:
        st.caption(say("health.gaps_none"))
        return
    rows = [
        {
            "question": gap.questions[0].question,
            "n": len(gap.questions),
            "at": max(one.at for one in gap.questions)[:10],
            "nowhere": ", ".join(gap.nowhere),
        }
        for gap in gaps
    ]
    wide = {"question": "large", "n": "small", "at": "small"}
    tables.show(rows, "health.gap_", "health_gaps", wide=wide, in_view=GAPS_IN_VIEW, alt="health.gaps_about")
    tables.offer(lambda: rows_of(gaps), "gaps")


def rows_of(gaps: Sequence[Gap]) -> list[dict[str, object]]:
    """One row for each question, with its group."""
    return [
        {
            "group": number,
            "questions": len(gap.questions),
            "asked": one.at,
            "question": one.question,
            "shared_words": " ".join(gap.terms),
            "in_no_document": ", ".join(gap.nowhere),
            "reason": one.summary.reason.value,
        }
        for number, gap in enumerate(gaps, 1)
        for one in gap.questions
    ]


def show_questions(kept: Sequence[Kept]) -> None:
    """A table of the newest questions: how each ended, how sure it was, and a link to its stages."""
    st.header(say("health.questions"), anchor=False)
    if len(kept) > MAX_LISTED:
        st.caption(say("health.questions_newest", n=MAX_LISTED))
    opens, sure = st.column_config.LinkColumn, st.column_config.NumberColumn
    columns = {
        "sure": sure(say("health.correctness"), width="small", format="%d %%"),
        "open": opens(say("health.question_trace"), display_text=say("health.question_open"), width="small"),
    }
    rows = question_rows(kept[:MAX_LISTED], st.context.url or "", state.session().collection)
    wide = {"at": "small", "question": "large", "why": "large"}
    tables.show(rows, "health.question_", "health_questions", wide=wide, columns=columns, alt="health.questions")


def question_rows(kept: Sequence[Kept], page: str, collection: str) -> list[dict[str, object]]:
    """The rows of questions: when, its text, how it ended, how sure, and the address of its decision.

    `page` is the address of this page; the Ask page, beside it, shows decisions.
    """
    return [
        {
            "at": one.at[:16].replace("T", " "),
            "question": one.question,
            "why": tell(_ended(one)),
            "sure": None if one.summary.correctness is None else round(100 * one.summary.correctness),
            "open": address(urljoin(page, "./"), collection, one.id),
        }
        for one in kept
    ]


def _ended(one: Kept) -> str:
    if one.summary.status is not AnswerStatus.SUCCESS:
        return f"refusal.why_{one.summary.reason}"
    return "health.answered_again" if one.summary.failed else "health.answered"
