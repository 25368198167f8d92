"""The results of a run under the settings of the side bar: what happens at the limit, the questions, and the figures in
detail.

Everything is judged again from the records whenever a setting moves; nothing is measured. Settings that need a new run
are named.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from rag_core.domain.status import Reason
from rag_core.evaluation import Rate, rates
from rag_core.records.stored import RunHead
from rag_core.settings import Cost, Settings
from ui.app import tables
from ui.app.elements import segments
from ui.app.texts import say, tell
from ui.ask.asking import changed_knobs
from ui.lab import flips, limit, plots
from ui.lab.flips import ERRORS, share_of
from ui.lab.state import Judged, Recorded
from ui.settings.wording import moved_in_words

FALSE_REFUSALS_BELOW, WRONG_ANSWERS_BELOW = 0.10, 0.05  # shares that the tickets behind the product aim at
BREAKDOWNS = ("language", "kind", "intent", "document", "reason")


def show(run: RunHead, recorded: Recorded, settings: Settings) -> None:
    """The whole tab; of `settings`, as the side bar stands, only what judges is applied."""
    if not recorded.records:
        st.info(say("lab_results.empty"), icon=":material/info:")
        return
    now, before = recorded.judge(settings), recorded.judge(recorded.settings)
    _say_what_is_not_applied(recorded.settings, settings)
    limit.show(now, before)
    flips.show(now, before)
    with st.expander(say("lab_results.details"), icon=":material/query_stats:", key="lab_details"):
        _show_rates(now, before)
        plots.show(now)
        _show_breakdown(now)


def _say_what_is_not_applied(recorded: Settings, settings: Settings) -> None:
    """Name the settings of the side bar that need a new run, with their values in this one."""
    costly = {knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY}
    moved = {name: values for name, values in changed_knobs(recorded, settings).items() if name in costly}
    if not moved:
        return
    with st.container(border=True, key="lab_not_applied"):
        st.markdown(say("lab_results.not_applied", n=len(moved)))
        for name, (old, new) in moved.items():
            st.text(moved_in_words(name, old, new))


def _show_rates(now: Judged, before: Judged) -> None:
    every = np.ones(len(now.outcomes), dtype=bool)
    refused, wrong, missed = rates(now.marked, every)
    old = (share_of(before.marked, before.marked.answered), *rates(before.marked, every))
    shown = (
        ("answered", share_of(now.marked, now.marked.answered), None),
        ("false_refusals", refused, FALSE_REFUSALS_BELOW),
        ("wrong_answers", wrong, WRONG_ANSWERS_BELOW),
        ("missed_answers", missed, WRONG_ANSWERS_BELOW),
    )
    with st.container(key="lab_rates"):
        for column, (name, rate, target), was in zip(st.columns(len(shown), gap="small"), shown, old, strict=True):
            with column:
                _show_rate(name, rate, target, was)
    needs_model = now.marked.needs_model
    failed = int((~now.marked.measured & ~needs_model & ~now.marked.lost).sum())
    if failed:
        st.caption(say("lab_results.not_measured", n=failed))
    if needs_model.any():
        st.caption(say("lab_results.needs_model", n=int(needs_model.sum())))


def _show_rate(name: str, rate: Rate, target: float | None, was: Rate) -> None:
    with st.container(border=True, height="stretch", gap="xsmall", key=f"lab_rate_{name}"):
        moved = rate.share is not None and was.share is not None and rate.share != was.share
        st.metric(
            say(f"lab_results.{name}"),
            flips.share_in_words(rate),
            say("lab_results.delta", points=100 * ((rate.share or 0) - (was.share or 0))) if moved else None,
            delta_color="off" if target is None else "inverse",
            help=say(f"lab_results.{name}_help"),
        )
        if rate.share is None:
            st.caption(say("lab_results.no_such"))
            return
        interval = rate.interval
        st.caption(say("lab_results.of", k=rate.k, n=rate.n, low=interval.low, high=interval.high))
        if target is not None:
            said = "met" if interval.high < target else "open" if rate.share < target else "not_met"
            st.caption(say(f"lab_results.target_{said}", target=target))


def _show_breakdown(now: Judged) -> None:
    st.subheader(say("lab_results.breakdown"), anchor=False)
    known = [name for name in BREAKDOWNS if name == "reason" or any(now.recorded.parts[name])]
    name = segments("lab_results.by", known, "lab_results.by_", "lab_by")
    made = partial(_by_reason, now) if name == "reason" else partial(_by_part, now, name)
    columns = {
        key: st.column_config.NumberColumn(
            say(f"lab_results.column_{key}"), format="percent", help=say(f"lab_results.{key}_help")
        )
        for key in ERRORS
    }
    tables.show(made(), "lab_results.column_", "lab_breakdown", columns=columns, alt="lab_results.breakdown_alt")
    tables.offer(made, "breakdown")


def _by_part(now: Judged, name: str) -> list[dict[str, object]]:
    named = now.recorded.parts[name]
    rows = []
    for part in sorted({str(value) for value in named}, key=lambda part: (not part, part)):
        of = named == part
        row: dict[str, object] = {"part": part or tell("lab_results.part_none"), "questions": int(of.sum())}
        for key, rate in zip(ERRORS, rates(now.marked, of), strict=True):
            row |= {key: rate.share, f"{key}_of": flips.of_in_words(rate)}
        rows.append(row)
    return rows


def _by_reason(now: Judged) -> list[dict[str, object]]:
    """One row for each way to end: how many questions, and how many of them are labelled answerable or not."""
    rows = []
    for reason in Reason:
        of = now.outcomes.reason == reason
        if of.any():
            answerable, count = int((of & now.marked.answerable).sum()), int(of.sum())
            counts = {"questions": count, "answerable": answerable, "unanswerable": count - answerable}
            rows.append({"reason": flips.reason_in_words(reason), **counts})
    return rows
