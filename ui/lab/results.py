"""The results of a run under the settings of the side bar: what happens at the limit, the questions, and the figures in
detail.

Everything is judged again from the records whenever a setting moves; nothing is measured. Settings that need a new run
are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from rag_core.decision.batch import ReplaySet
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.evaluation import Rate, rates
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import RunHead
from rag_core.settings import Cost, Settings
from ui.app.tables import offer
from ui.app.texts import say, tell
from ui.ask.asking import changed_knobs
from ui.lab import flips, limit, plots, sending
from ui.lab.judged import Fixed, Judged, fixed, judge
from ui.settings.wording import moved_in_words

FALSE_REFUSALS_BELOW, WRONG_ANSWERS_BELOW = 0.10, 0.05  # shares that the tickets behind the product aim at
BREAKDOWNS = ("language", "kind", "intent", "document", "reason")


def show(
    engine: Engine,
    questions: Sequence[LabelledQuestion],
    replay_set: ReplaySet,
    records: Sequence[Measurements],
    settings: Settings,
    run: RunHead,
) -> None:
    """The whole tab.

    Args:
        engine: over the library of the run.
        questions: of the run, with their labels.
        replay_set: of `records`.
        records: their measurements, in the questions' order.
        settings: as the side bar stands; only what judges is applied.
        run: with what it was measured under.
    """
    if not len(replay_set):
        st.info(say("lab_results.empty"), icon=":material/info:")
        return
    now = judge(questions, replay_set, records, run.settings, settings)
    before = judge(questions, replay_set, records, run.settings, run.settings)
    labels = fixed(questions, replay_set, records)
    _say_what_is_not_applied(run.settings, settings)
    limit.show(questions, replay_set, records, now, before, labels)
    sending.offer(run, questions, records, now, limit.of_limits(questions, replay_set, records, now, labels))
    flips.show(engine, questions, replay_set, records, run.settings, now, before)
    with st.expander(say("lab_results.details"), icon=":material/query_stats:", key="lab_details"):
        _show_rates(now, before)
        plots.show(replay_set, questions, records, now, before, labels)
        _show_breakdown(now, labels)


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
    """Four figures, each with its exact interval, against their targets."""
    every = np.ones(len(now.outcomes), dtype=bool)
    refused, wrong, missed = rates(now.marked, every)
    old = (_answered(before), *rates(before.marked, every))
    shown = (
        ("answered", _answered(now), None),
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
        delta = (
            None
            if rate.share is None or was.share is None or rate.share == was.share
            else 100 * (rate.share - was.share)
        )
        st.metric(
            say(f"lab_results.{name}"),
            say("lab_results.none") if rate.share is None else say("lab_results.share", share=rate.share),
            None if delta is None else say("lab_results.delta", points=delta),
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


def _answered(of: Judged) -> Rate:
    return Rate(int((of.marked.measured & of.marked.answered).sum()), int(of.marked.measured.sum()))


def _show_breakdown(now: Judged, labels: Fixed) -> None:
    """The same rates by part, or which check ends how many questions."""
    st.subheader(say("lab_results.breakdown"), anchor=False)
    known = [name for name in BREAKDOWNS if name == "reason" or any(labels.parts[name])]
    name = st.segmented_control(
        say("lab_results.by"),
        known,
        format_func=lambda name: say(f"lab_results.by_{name}"),
        default=known[0],
        required=True,
        key="lab_by",
        label_visibility="collapsed",
    )
    made = partial(_by_reason, now) if name == "reason" else partial(_by_part, now, labels, name or known[0])
    rows = made()
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    columns = {
        key: (number if isinstance(rows[0][key], (int, float)) else text)(say(f"lab_results.column_{key}"))
        for key in rows[0]
    }
    for key in ("false_refusals", "wrong_answers", "missed_answers"):
        if key in columns:
            columns[key] = number(
                say(f"lab_results.column_{key}"), format="percent", help=say(f"lab_results.{key}_help")
            )
    st.dataframe(
        rows,
        hide_index=True,
        column_config=columns,
        key="lab_breakdown",
        placeholder="–",
        alt=say("lab_results.breakdown_alt"),
    )
    offer(made, "breakdown")


def _by_part(now: Judged, labels: Fixed, name: str) -> list[dict[str, object]]:
    named = labels.parts[name]
    rows = []
    for part in sorted({str(value) for value in named}, key=lambda part: (not part, part)):
        of = named == part
        row: dict[str, object] = {"part": part or tell("lab_results.part_none"), "questions": int(of.sum())}
        for key, rate in zip(("false_refusals", "wrong_answers", "missed_answers"), rates(now.marked, of), strict=True):
            row |= {key: rate.share, f"{key}_of": flips.of_in_words(rate)}
        rows.append(row)
    return rows


def _by_reason(now: Judged) -> list[dict[str, object]]:
    """One row for each way to end: how many questions, and how many of them are labelled answerable or not."""
    rows = []
    for reason in Reason:
        of = now.outcomes.reason == reason
        if of.any():
            answerable = int((of & now.marked.answerable).sum())
            count = int(of.sum())
            rows.append(
                {
                    "reason": flips.reason_in_words(reason),
                    "questions": count,
                    "answerable": answerable,
                    "unanswerable": count - answerable,
                }
            )
    return rows
