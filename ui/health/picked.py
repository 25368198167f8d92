"""The questions behind what was clicked in a chart of the Health page: those of a day, or with such a score; each one click from its trace.

Charts hold numbers and days alone. What a click tells is looked up here among the kept questions, whose texts are untrusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

import streamlit as st

from rag_core.domain.status import AnswerStatus
from rag_core.evaluation.health import Kept
from ui.app import state
from ui.app.texts import say, tell
from ui.ask.leaving import link
from ui.lab.outcomes import picked
from ui.lab.outcomes.charts import Spec

MAX_LISTED = 200  # the newest; a table is not for reading thousands
_PICKED = "health_picked"  # in the session


@dataclass(frozen=True, slots=True)
class Day:
    """A day that was clicked, as in `Kept.at`."""

    day: str

    def holds(self, one: Kept) -> bool:
        """Whether a question is of that day."""
        return one.at.startswith(self.day)

    @property
    def title(self) -> str:
        """The day, in words."""
        return tell("health.picked_day", day=self.day)


@dataclass(frozen=True, slots=True)
class Scores:
    """A bar that was clicked: probabilities from `low` to below `high`; the last bar holds 1."""

    low: float
    high: float

    def holds(self, one: Kept) -> bool:
        """Whether a question counts in that bar."""
        value = one.summary.correctness
        return one.summary.searched and value is not None and self.low <= value and (value < self.high or self.high >= 1)

    @property
    def title(self) -> str:
        """The bar's ends, in words."""
        return tell("health.picked_scores", low=self.low, high=self.high)


def chart(spec: Spec, key: str, alt: str) -> None:
    """Draw a chart whose parts can be clicked."""
    st.vega_lite_chart(spec=spec, key=key, alt=alt, on_select=lambda: _take(key))


def show(kept: Sequence[Kept]) -> None:
    """List the questions that were clicked, newest first; where nothing was, say that one can."""
    pick: Day | Scores | None = st.session_state.get(_PICKED)
    if pick is None:
        st.caption(say("health.picked_how"))
        return
    found = [one for one in kept if pick.holds(one)]
    with st.container(key=_PICKED, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.text(tell("health.picked_title", what=pick.title, n=len(found)))
            st.button(
                say("lab_picked.close"), key="health_picked_close", icon=":material/close:", type="tertiary", on_click=picked.let_go,
                args=(_PICKED,),
            )  # fmt: skip
        if len(found) > MAX_LISTED:
            st.caption(say("health.picked_newest", n=MAX_LISTED))
        if found:
            _table(found[:MAX_LISTED])


def rows_of(kept: Sequence[Kept], page: str, collection: str) -> list[dict[str, object]]:
    """One row for each question: when, its text, how it ended, how sure, and the address of its decision. `page` is this page's address."""
    return [
        {
            "at": one.at[:16].replace("T", " "),
            "question": one.question,
            "why": _ended(one),
            "sure": None if one.summary.correctness is None else round(100 * one.summary.correctness),
            "trace": trace_of(one, page, collection),
        }
        for one in kept
    ]


def trace_of(one: Kept, page: str, collection: str) -> str:
    """The address of a question's decision. `page` is the address of this page; the Ask page shows decisions."""
    return link.address(urljoin(page, "./"), collection, one.id)


def _table(kept: Sequence[Kept]) -> None:
    text = st.column_config.TextColumn
    st.dataframe(
        rows_of(kept, st.context.url or "", state.session().collection), hide_index=True, alt=say("health.picked_alt"), placeholder="–",
        column_config={
            "at": text(say("health.rejected_when"), width="small"),
            "question": text(say("health.rejected_question"), width="large"),
            "why": text(say("health.rejected_why"), width="large"),
            "sure": st.column_config.NumberColumn(say("health.correctness"), width="small", format="%d %%"),
            "trace": st.column_config.LinkColumn(say("health.rejected_trace"), display_text=say("health.rejected_open"), width="small"),
        },
    )  # fmt: skip


def _ended(one: Kept) -> str:
    return tell("health.picked_answered" if one.summary.status is AnswerStatus.SUCCESS else f"refusal.why_{one.summary.reason}")


def _take(key: str) -> None:
    match picked.part_of(key):
        case {"date": str() as day}:
            st.session_state[_PICKED] = Day(day)
        case {"low": int() | float() as low, "high": int() | float() as high}:
            st.session_state[_PICKED] = Scores(float(low), float(high))
        case _:
            picked.let_go(_PICKED)
