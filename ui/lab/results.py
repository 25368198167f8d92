"""The results of a run under the settings of the side bar: what happens at the limit, the questions, and the figures in
detail.

Everything is judged again from the records whenever a setting moves; nothing is measured. Settings that need a new run
are named.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from rag_core.evaluation import rates
from rag_core.records.stored import RunHead
from rag_core.settings import Cost, Settings
from ui.app import tables
from ui.app.elements import segments
from ui.app.texts import say, tell
from ui.ask.asking import changed_knobs
from ui.lab import flips, limit
from ui.lab.flips import ERRORS
from ui.lab.state import Judged, Recorded
from ui.settings.wording import moved_in_words

BREAKDOWNS = ("language", "kind", "intent", "document")


def show(run: RunHead, recorded: Recorded, settings: Settings) -> None:
    """The whole tab; of `settings`, as the side bar stands, only what judges is applied."""
    if not recorded.records:
        st.info(say("lab_results.empty"), icon=":material/info:")
        return
    now, before = recorded.judge(settings), recorded.judge(recorded.settings)
    _say_what_is_not_applied(recorded.settings, settings)
    limit.show(now, before)
    flips.show(now, before)
    with st.expander(say("lab_results.details"), icon=":material/table:", key="lab_details"):
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


def _show_breakdown(now: Judged) -> None:
    known = [name for name in BREAKDOWNS if any(now.recorded.parts[name])]
    if not known:
        return
    st.subheader(say("lab_results.breakdown"), anchor=False)
    made = partial(_by_part, now, segments("lab_results.by", known, "lab_results.by_", "lab_by"))
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
