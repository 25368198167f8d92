"""The lab: questions with known answers, run once, then judged under any settings: results, comparisons, guarantees,
users' feedback.
"""

from __future__ import annotations

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
TABS = ("sets", "results", "compare", "guarantee", "feedback")


def page() -> None:
    """The page from top to bottom; only the open tab's part is worked out."""
    st.title(say("lab.title"), anchor=False)
    settings = settings_from_sidebar()
    engine = frame.start()
    with shown_error():  # where the records cannot be read
        lab.choose_run()
        tabs = st.tabs([say(f"lab.tab_{name}") for name in TABS], key="lab_tab", on_change="rerun")
        for tab, name in zip(tabs, TABS, strict=True):
            if tab.open:
                with tab:
                    _show(name, engine, settings)
        state.session().starting = ""


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


def _show(tab: str, engine: Engine, settings: Settings) -> None:
    if tab == "sets":
        sets.show(engine, settings)
    elif tab == "feedback":
        queue.show(engine)
    elif found := _recorded():
        run, recorded = found
        if tab == "results":
            results.show(run, recorded, settings)
        elif tab == "compare":
            compare.show(run, recorded, settings)
        else:
            certify.show(engine, run, recorded, judged_under(run.settings, settings))


with st.container(width=WIDTH):
    page()
