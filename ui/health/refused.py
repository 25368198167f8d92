"""Why questions were refused, which drafts were rejected, how sure the questions were, and what the documents do not answer."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag_core.evaluation.gaps import Gap
from rag_core.evaluation.health import DRIFT_ALERT, MIN_TO_COMPARE, Drift, Kept, refusals
from ui.app import state, tables
from ui.app.texts import say, tell
from ui.health import charts, picked

MAX_REJECTED = 20  # rejected drafts in the table, the newest
MAX_GAPS, MAX_EXAMPLES = 8, 5  # groups on the page, and further questions of each; the file has all


def show_reasons(kept: Sequence[Kept]) -> None:
    """A table of reasons in words."""
    st.subheader(say("health.why"), anchor=False)
    found = refusals(kept)
    if not found:
        st.caption(say("health.why_none"))
        return
    rows = [{"why": tell(f"refusal.why_{reason}"), "n": count, "share": count / len(kept)} for reason, count in found]
    st.dataframe(
        rows, hide_index=True, key="health_reasons", alt=say("health.why"),
        column_config={
            "why": st.column_config.TextColumn(say("health.why_sentence"), width="large"),
            "n": st.column_config.NumberColumn(say("health.why_count"), width="small"),
            "share": st.column_config.ProgressColumn(say("health.why_share"), format="percent", min_value=0, max_value=1),
        },
    )  # fmt: skip


def show_rejected(kept: Sequence[Kept]) -> None:
    """The newest questions of which a draft was rejected, each with a link to its trace; nothing where there is none."""
    rows = [one for one in kept if one.summary.failed][:MAX_REJECTED]
    if not rows:
        return
    st.subheader(say("health.rejected"), anchor=False)
    st.caption(say("health.rejected_about", n=len(rows)))
    st.dataframe(
        rejected_rows(rows, st.context.url or "", state.session().collection),
        hide_index=True, key="health_rejected", alt=say("health.rejected"), column_config=picked.columns(),
    )  # fmt: skip


def rejected_rows(kept: Sequence[Kept], page: str, collection: str) -> list[dict[str, object]]:
    """One row for each question: when, its text, how it ended, and the address of its decision. `page` is the address of this page."""
    return [picked.row_of(one, "health.rejected_answered", page, collection) for one in kept]


def show_scores(drift: Drift) -> None:
    """The spread of the scores beside the calibration's, and whether it has shifted."""
    st.subheader(say("health.scores"), anchor=False)
    if not sum(drift.now):
        st.caption(say("health.scores_none"))
        return
    picked.chart(charts.scores(drift), "health_scores", say("health.scores_alt"))
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
    st.download_button(
        say("health.gaps_download"), lambda: tables.to_csv(rows_of(gaps)), "gaps.csv", "text/csv", key="health_gaps_csv",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def rows_of(gaps: Sequence[Gap]) -> list[dict[str, object]]:
    """One row for each question, with its group."""
    return [
        {
            "group": number, "questions": len(gap.questions), "asked": one.at, "question": one.question,
            "shared_words": " ".join(gap.terms), "in_no_document": ", ".join(gap.nowhere), "reason": one.summary.reason.value,
        }
        for number, gap in enumerate(gaps, 1)
        for one in gap.questions
    ]  # fmt: skip


def _show_gap(gap: Gap) -> None:
    first, *others = gap.questions
    at = max(one.at for one in gap.questions)[:10]
    st.text(first.question)
    st.text(tell("health.gap_count", n=len(gap.questions), at=at) if others else tell("health.gap_one", at=at))
    if gap.nowhere:
        st.text(tell("health.gap_nowhere", names=", ".join(gap.nowhere)))
    if more := [text for text in dict.fromkeys(one.question for one in others) if text != first.question]:
        with st.expander(say("health.gap_more")):
            for text in more[:MAX_EXAMPLES]:
                st.text(text)
