"""Runs of a labelled set: start one, see how far each is and what it was measured under, resume, delete."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import streamlit as st

from rag_core import evaluation as evaluate
from rag_core.domain.ports import Cancel, Progress
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import RunHead
from rag_core.settings import Settings
from rag_core.settings.configuration import retention
from rag_core.wiring import records
from rag_core.work import loading
from rag_core.work.jobs import Runner
from ui.app import recording, state
from ui.app.problems import show_error
from ui.app.state import Session
from ui.app.texts import say, tell
from ui.app.work import Here, here
from ui.ask.asking import changed_knobs
from ui.lab import spending
from ui.lab import state as lab
from ui.settings.wording import setting_name, value_in_words

SEED = 20261121  # for a sample, so that the same part is drawn again
MAX_NAME_CHARS = 100  # as many as the store keeps (`rag_core.adapters.records.tables`)
WIDTHS = {"drafter": 180}  # pixels, of a column whose values may be long; the others fit theirs


def offer_start(engine: Engine, set_name: str, tag: str, questions: Sequence[LabelledQuestion], settings: Settings) -> None:
    """The form that starts a run of a set under the settings of the side bar; `tag` stands for the set in keys."""
    if not engine.library.snapshot.documents:
        st.info(say("lab_sets.no_documents"), icon=":material/upload_file:")
        return
    try:
        offered = spending.show_cost(engine, questions, settings)
    except RagError as error:
        show_error(error)
        return
    with st.form(key="start_run", border=True):
        st.caption(say("lab_sets.run_about"))
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        with left:
            name = st.text_input(
                say("lab_sets.run_name"), key="run_name", max_chars=MAX_NAME_CHARS, placeholder=tell("lab_sets.run_name_empty")
            )
        with right:
            most = st.number_input(
                say("lab_sets.run_most", n=len(questions)), 1, len(questions), len(questions), key=f"run_most_{tag}_{len(questions)}",
                help=say("lab_sets.run_most_help"),
            )  # fmt: skip
        budget = spending.ask_budget("run_budget", offered)
        st.form_submit_button(say("lab_sets.run"), type="primary", icon=":material/play_arrow:", on_click=_hold, args=(set_name,))
        if state.session().starting == set_name:
            drawn = sample(questions, int(most))
            try:
                _begin(engine, (name or "").strip() or set_name, set_name, drawn, settings, budget)
            except RagError as error:
                show_error(error)
            else:
                st.rerun()


def _hold(set_name: str) -> None:
    """Take the press of the button in its callback, which no other touch of the page ends; a run of the page then begins what was asked."""
    state.session().starting = set_name


def _begin(engine: Engine, name: str, set_name: str, drawn: Sequence[LabelledQuestion], settings: Settings, budget: int | None) -> None:
    """Begin a run, once: from the record of it to its job, nothing reads the session, which is where a run of the page may be ended.

    Raises:
        RagError: it cannot be begun.
    """
    session, store, key, place, runner = state.session(), recording.store(), lab.run_key(), here(), state.runner()
    session.starting = ""
    head = evaluate.begin(engine, name, set_name, drawn, settings, store)
    session.choose(key, head.id)
    _start(session, place, runner, head, budget)


def sample(questions: Sequence[LabelledQuestion], most: int) -> Sequence[LabelledQuestion]:
    """All, or so many of them drawn by chance, the same ones each time, in their order."""
    if most >= len(questions):
        return questions
    chosen = set(random.Random(SEED).sample(range(len(questions)), most))
    return [question for number, question in enumerate(questions) if number in chosen]


def start(head: RunHead, budget: int | None = None) -> None:
    """Start a job that measures what a run lacks, within a budget; it belongs to the session, and goes on when the page is left."""
    _start(state.session(), here(), state.runner(), head, budget)


def _start(session: Session, at: Here, runner: Runner, head: RunHead, budget: int | None) -> None:
    def work(progress: Progress, stop: Cancel) -> evaluate.Ran:
        return _run(at, head.id, progress, stop, budget)

    session.forget_results("evaluating")
    job = runner.start(tell("lab_sets.job", name=head.name), work, head.total, kind="evaluating", place=at.place)
    session.jobs.append(job)


def _run(at: Here, run: int, progress: Progress, stop: Cancel, budget: int | None) -> evaluate.Ran:
    engine = loading.engine(at.folder, at.collection, at.base)
    store = records(at.folder, at.collection)
    try:
        store.prune_rejected(retention(os.environ).rejected_days)
        return evaluate.run(engine, store.run(run), store, progress, stop, budget)
    finally:
        lab.forget_records()


def show_runs(engine: Engine) -> None:
    """The runs of this collection, newest first, and what can be done with the one that is chosen above the tabs."""
    runs, chosen = recording.store().runs(), lab.chosen_run()
    st.subheader(say("lab_sets.runs"), anchor=False)
    if chosen is None:
        st.caption(say("lab_sets.no_runs"))
        return
    rows = [_row(head, engine, head.id == chosen.id) for head in runs]
    columns = {key: st.column_config.TextColumn(say(f"lab_sets.run_{key}"), width=WIDTHS.get(key)) for key in rows[0]}
    st.dataframe(rows, hide_index=True, column_config=columns, key="runs", alt=say("lab_sets.runs_alt"))
    _show_chosen(engine, chosen)


def _row(head: RunHead, engine: Engine, chosen: bool) -> dict[str, str]:
    return {
        "shown": "●" if chosen else "",
        "called": head.name,
        "set": head.set_name,
        "done": tell("lab_sets.done_of", done=head.done, total=head.total),
        "state": _state(head, engine),
        "started": head.started[:16].replace("T", " "),
        "preset": head.settings.preset,
        "drafter": head.settings.model if head.settings.drafter == "model" else tell(f"lab_sets.drafter_{head.settings.drafter}"),
        "version": str(head.version),
        "calibration": head.calibration or tell("lab_sets.no_calibration"),
        "model": head.model,
    }


def _state(head: RunHead, engine: Engine) -> str:
    if _running(head):
        return tell("lab_sets.state_running")
    if not evaluate.is_current(head, engine):
        return tell("lab_sets.state_stale")
    return tell("lab_sets.state_whole" if head.done >= head.total else "lab_sets.state_part")


def _running(head: RunHead) -> bool:
    title = tell("lab_sets.job", name=head.name)
    return any(job.kind == "evaluating" and job.title == title and not job.finished for job in state.runner().jobs(here().place))


def _show_chosen(engine: Engine, head: RunHead) -> None:
    """Show the settings that the chosen run was measured under, and its buttons."""
    stale = not evaluate.is_current(head, engine)
    st.text(lab.label(head))
    if stale:
        st.warning(say("lab_sets.stale", then=head.version, now=engine.library.snapshot.version), icon=":material/history:")
    moved = changed_knobs(state.preset_settings(head.settings.preset), head.settings)
    if moved:
        named = [f"{setting_name(name)}: {value_in_words(name, new)}" for name, (_, new) in moved.items()]
        st.text(tell("lab_sets.run_settings", n=len(moved), settings=", ".join(named[:12])))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not _running(head):
            if stale or head.done < head.total:
                drafts = head.settings.drafter == "model"
                budget = spending.ask_budget("resume_budget", spending.RESUMED if drafts else 0)
                st.button(
                    say("lab_sets.measure_anew") if stale else say("lab_sets.resume"), key="resume_run", icon=":material/play_arrow:",
                    on_click=start, args=(head, budget), help=say("lab_sets.measure_anew_help" if stale else "lab_sets.resume_help"),
                )  # fmt: skip
            _offer_deletion(head)


def _offer_deletion(head: RunHead) -> None:
    key = f"delete_run_{head.id}"
    if not st.session_state.get(key):
        st.button(say("lab_sets.delete_run"), key=f"ask_{key}", icon=":material/delete:", on_click=_set, args=(key, True))
        return
    st.text(tell("lab_sets.delete_run_warning", name=head.name, n=head.done))
    st.button(say("lab_sets.keep_run"), key=f"keep_{key}", on_click=_set, args=(key, False))
    st.button(say("lab_sets.delete_run_sure"), key=f"sure_{key}", type="primary", on_click=_delete, args=(head.id,))


def _set(key: str, value: bool) -> None:
    st.session_state[key] = value


def _delete(run: int) -> None:
    recording.store().delete_run(run)
    st.session_state.pop(f"delete_run_{run}", None)
