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
from rag_core.work.runner import Runner
from ui.app import state, tables
from ui.app.elements import button, offer_deletion, remember, shown_error, submit
from ui.app.jobs.work import Here, here
from ui.app.people import recording
from ui.app.state import Session
from ui.app.texts import say, show_error, tell
from ui.ask.asking import changed_knobs
from ui.lab import state as lab
from ui.settings.wording import setting_name, value_in_words

MIN_BUDGET, OFFERED = 1000, 100_000  # tokens; the first is the step of the field too
MAX_BUDGET = 1_000_000_000  # tokens: more than any run takes; a slip of the keyboard stops there
SEED = 20261121  # for a sample, so that the same part is drawn again
MAX_NAME_CHARS = 100  # as many as the store keeps (`rag_core.adapters.records.tables`)
WIDTHS = {"drafter": 180}  # pixels, of a column whose values may be long; the others fit theirs


def offer_start(
    engine: Engine, set_name: str, tag: str, questions: Sequence[LabelledQuestion], settings: Settings
) -> None:
    """The form that starts a run of a set under the settings of the side bar; `tag` stands for the set in keys."""
    if not engine.library.snapshot.documents:
        st.info(say("lab_sets.no_documents"), icon=":material/upload_file:")
        return
    try:
        drafts = evaluate.with_model(engine, settings).drafter == "model"
    except RagError as error:
        show_error(error)
        return
    with st.form(key="start_run", border=True):
        st.caption(say("lab_sets.run_about"))
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        with left:
            empty = tell("lab_sets.run_name_empty")
            name = st.text_input(say("lab_sets.run_name"), key="run_name", max_chars=MAX_NAME_CHARS, placeholder=empty)
        with right:
            n, help = len(questions), say("lab_sets.run_most_help")
            most = st.number_input(say("lab_sets.run_most", n=n), 1, n, n, key=f"run_most_{tag}_{n}", help=help)
        budget = _ask_budget("run_budget", drafts=drafts)
        # in its callback, which no other touch of the page ends; a run of the page then begins what was asked
        submit("lab_sets.run", "play_arrow", setattr, state.session(), "starting", set_name, type="primary")
        if state.session().starting == set_name:
            called, drawn = (name or "").strip() or set_name, sample(questions, int(most))
            with shown_error():
                _begin(engine, called, set_name, drawn, settings, budget)
                st.rerun()


def _ask_budget(key: str, *, drafts: bool) -> int | None:
    """The field for the tokens that a run may take; None where no language model drafts."""
    if not drafts:
        return None
    label, help = say("lab_sets.budget"), say("lab_sets.budget_help")
    return int(st.number_input(label, MIN_BUDGET, MAX_BUDGET, OFFERED, MIN_BUDGET, key=key, help=help))


def _begin(
    engine: Engine,
    name: str,
    set_name: str,
    drawn: Sequence[LabelledQuestion],
    settings: Settings,
    budget: int | None,
) -> None:
    """Begin a run and the job that measures it.

    Once: from the record of it to the job, nothing reads the session, which is where a run of the page may be ended.
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
    """Start the session's job that measures what a run lacks, within a budget; it goes on when the page is left."""
    _start(state.session(), here(), state.runner(), head, budget)


def _start(session: Session, at: Here, runner: Runner, head: RunHead, budget: int | None) -> None:
    def work(progress: Progress, stop: Cancel) -> evaluate.Ran:
        engine, store = loading.engine(at.folder, at.collection, at.base), records(at.folder, at.collection)
        try:
            store.prune_rejected(retention(os.environ).rejected_days)
            return evaluate.run(engine, store.run(head.id), store, progress, stop, budget)
        finally:
            lab.forget_records()

    session.forget_results("evaluating")
    session.jobs.append(runner.start(head.name, work, head.total, kind="evaluating", place=at.place))


def show_runs(engine: Engine) -> None:
    """The runs of this collection, newest first, and what can be done with the one that is chosen above the tabs."""
    runs, chosen = recording.store().runs(), lab.chosen_run()
    st.header(say("lab_sets.runs"), anchor=False)
    if chosen is None:
        st.caption(say("lab_sets.no_runs"))
        return
    rows = [_row(head, engine, head.id == chosen.id) for head in runs]
    tables.show(rows, "lab_sets.run_", "runs", wide=WIDTHS, alt="lab_sets.runs_alt")
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
        "drafter": drafter_in_words(head.settings),
        "version": str(head.version),
        "calibration": head.calibration or tell("lab_sets.no_calibration"),
        "model": head.model,
    }


def drafter_in_words(settings: Settings) -> str:
    """The model that drafts, by its name, or what does instead."""
    return settings.model if settings.drafter == "model" else tell(f"lab_sets.drafter_{settings.drafter}")


def _state(head: RunHead, engine: Engine) -> str:
    if _running(head):
        return tell("lab_sets.state_running")
    if not evaluate.is_current(head, engine):
        return tell("lab_sets.state_stale")
    return tell("lab_sets.state_whole" if head.done >= head.total else "lab_sets.state_part")


def _running(head: RunHead) -> bool:
    jobs = state.runner().jobs(here().place)
    return any(job.kind == "evaluating" and job.title == head.name and not job.finished for job in jobs)


def _show_chosen(engine: Engine, head: RunHead) -> None:
    stale = not evaluate.is_current(head, engine)
    st.text(lab.label(head))
    if stale:
        said = say("lab_sets.stale", then=head.version, now=engine.library.snapshot.version)
        st.warning(said, icon=":material/history:")
    moved = changed_knobs(state.preset_settings(head.settings.preset), head.settings)
    if moved:
        named = [f"{setting_name(name)}: {value_in_words(name, new)}" for name, (_, new) in moved.items()]
        st.text(tell("lab_sets.run_settings", n=len(moved), settings=", ".join(named[:12])))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if head.done:
            tab = say("lab.tab_results")
            button("lab_sets.see_results", "see_results", remember, "lab_tab", tab, type="primary", icon="query_stats")
        if not _running(head):
            if stale or head.done < head.total:
                budget = _ask_budget("resume_budget", drafts=head.settings.drafter == "model")
                key = "lab_sets.measure_anew" if stale else "lab_sets.resume"
                help = "lab_sets.measure_anew_help" if stale else "lab_sets.resume_help"
                button(key, "resume_run", start, head, budget, icon="play_arrow", help=help)
            warning, keep = tell("lab_sets.delete_run_warning", name=head.name, n=head.done), "lab_sets.keep_run"
            offer_deletion("lab_sets.delete_run", f"delete_run_{head.id}", warning, keep, _delete, head.id)


def _delete(run: int) -> None:
    recording.store().delete_run(run)
    st.session_state.pop(f"delete_run_{run}", None)
