"""The questions behind a bar that was clicked on the Health page, those with such a score; each one click from its
stages.

Charts hold numbers alone. What a click tells is looked up here among the kept questions, whose texts are untrusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import streamlit as st

from rag_core.domain.status import Reason
from rag_core.evaluation.health import Kept
from ui.app import state
from ui.app.texts import say, tell
from ui.lab import picked
from ui.lab.plots import Spec
from ui.settings.sharing import address

MAX_LISTED = 200  # the newest; a table is not for reading thousands
_PICKED = "health_picked"  # in the session


@dataclass(frozen=True, slots=True)
class Scores:
    """A bar that was clicked: probabilities from `low` to below `high`; the last bar holds 1."""

    low: float
    high: float

    def holds(self, one: Kept) -> bool:
        """Whether a question counts in that bar."""
        value = one.summary.correctness
        return (
            one.summary.searched and value is not None and self.low <= value and (value < self.high or self.high >= 1)
        )

    @property
    def title(self) -> str:
        """The bar's ends, in words."""
        return tell("health.picked_scores", low=self.low, high=self.high)


def chart(spec: Spec, key: str, alt: str) -> None:
    """Draw a chart whose parts can be clicked."""
    st.vega_lite_chart(spec=spec, key=key, alt=alt, on_select=lambda: _take(key))


def show(kept: Sequence[Kept]) -> None:
    """List the questions that were clicked, newest first; where nothing was, say that one can."""
    pick: Scores | None = st.session_state.get(_PICKED)
    if pick is None:
        st.caption(say("health.picked_how"))
        return
    found = [one for one in kept if pick.holds(one)]
    with st.container(key=_PICKED, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.text(tell("health.picked_title", what=pick.title, n=len(found)))
            picked.close_button(_PICKED)
        if len(found) > MAX_LISTED:
            st.caption(say("health.picked_newest", n=MAX_LISTED))
        if found:
            _table(found[:MAX_LISTED])


def rows_of(kept: Sequence[Kept], page: str, collection: str) -> list[dict[str, object]]:
    """One row for each question: when, its text, how it ended, the address of its decision, and how sure.

    `page` is this page's address.
    """
    return [
        row_of(one, "health.picked_answered", page, collection)
        | {"sure": None if one.summary.correctness is None else round(100 * one.summary.correctness)}
        for one in kept
    ]


def row_of(one: Kept, answered: str, page: str, collection: str) -> dict[str, object]:
    """When a question was asked, its text, how it ended, and the address of its decision: a row of `columns`.

    Args:
        one: the question.
        answered: key of the words for one that was answered.
        page: the address of this page; the Ask page, beside it, shows decisions.
        collection: that it was asked of.
    """
    reason = one.summary.reason
    return {
        "at": one.at[:16].replace("T", " "),
        "question": one.question,
        "why": tell(answered if reason is Reason.NONE else f"refusal.why_{reason}"),
        "trace": address(urljoin(page, "./"), collection, one.id),
    }


def columns() -> dict[str, Any]:
    """The columns of a table of questions."""
    text = st.column_config.TextColumn
    return {
        "at": text(say("health.rejected_when"), width="small"),
        "question": text(say("health.rejected_question"), width="large"),
        "why": text(say("health.rejected_why"), width="large"),
        "trace": st.column_config.LinkColumn(
            say("health.rejected_trace"), display_text=say("health.rejected_open"), width="small"
        ),
    }


def _table(kept: Sequence[Kept]) -> None:
    sure = st.column_config.NumberColumn(say("health.correctness"), width="small", format="%d %%")
    st.dataframe(
        rows_of(kept, st.context.url or "", state.session().collection),
        hide_index=True,
        alt=say("health.picked_alt"),
        placeholder="–",
        column_config=columns() | {"sure": sure},
        column_order=("at", "question", "why", "sure", "trace"),
    )


def _take(key: str) -> None:
    match picked.part_of(key):
        case {"low": int() | float() as low, "high": int() | float() as high}:
            st.session_state[_PICKED] = Scores(float(low), float(high))
        case _:
            picked.let_go(_PICKED)
