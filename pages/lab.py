"""The lab: questions with known answers, run once, then judged under any settings: results, comparisons, guarantees,
users' feedback.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from rag_core.engine import Engine
from rag_core.evaluation import judged_under
from rag_core.records.stored import RunHead
from rag_core.settings import Settings
from ui import frame
from ui.app import state
from ui.app.elements import shown_error
from ui.app.texts import say
from ui.lab import certify, compare, queue, results, sets
from ui.lab import state as lab
from ui.settings.sidebar import settings_from_sidebar

WIDTH = 1500  # pixels, as on the Ask page


def page() -> None:
    """The page from top to bottom; only the open tab's part is worked out."""
    st.title(say("lab.title"), anchor=False)
    settings = settings_from_sidebar("lab")
    engine = frame.start()
    with shown_error():  # where the records cannot be read
        lab.choose_run()
        tabs = st.tabs([say(f"lab.tab_{name}") for name in TABS], key="lab_tab", on_change="rerun")
        for tab, show in zip(tabs, TABS.values(), strict=True):
            if tab.open:
                with tab:
                    show(engine, settings)
        state.session().settle()


def _recorded() -> tuple[RunHead, lab.Recorded] | None:
    """The chosen run and what is recorded for it; says why where there is nothing."""
    run = lab.chosen_run()
    if run is None:
        st.info(say("lab.no_run"), icon=":material/science:")
        return None
    with st.spinner(say("lab.reading")):
        recorded = lab.replay_set(run)
    if not recorded.questions:
        st.info(say("lab.nothing_recorded"), icon=":material/hourglass_top:")
        return None
    if run.done < run.total:
        st.info(say("lab_limit.so_far", done=run.done, total=run.total), icon=":material/hourglass_top:")
    return run, recorded


def _results(engine: Engine, settings: Settings) -> None:
    if found := _recorded():
        run, recorded = found
        results.show(run, recorded, settings)


def _compare(engine: Engine, settings: Settings) -> None:
    if found := _recorded():
        compare.show(*found, settings)


def _guarantee(engine: Engine, settings: Settings) -> None:
    if found := _recorded():
        run, recorded = found
        certify.show(engine, run, recorded, judged_under(run.settings, settings))


TABS: Mapping[str, Callable[[Engine, Settings], None]] = {
    "sets": sets.show,
    "results": _results,
    "compare": _compare,
    "guarantee": _guarantee,
    "feedback": lambda engine, settings: queue.show(engine),
}


with st.container(width=WIDTH):
    page()
