"""Runs of a labelled set: start one, or one for each of several values of a setting that needs a new retrieval; see how
far each is and what it was measured under, resume, delete.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from rag_core import evaluation as evaluate
from rag_core.domain.ports import Cancel, Progress
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import MAX_COMMENT_CHARS, RunHead
from rag_core.settings import Cost, Settings
from rag_core.settings.configuration import retention
from rag_core.settings.knobs import AS_BUILT, Knob
from rag_core.wiring import records
from rag_core.work import loading
from rag_core.work.runner import Runner
from ui.app import state, tables
from ui.app.elements import asks_first, button, remember, shown_error, submit
from ui.app.jobs.work import Here, here
from ui.app.people import recording
from ui.app.state import Session
from ui.app.texts import LANGUAGE, say, show_error, speaking, tell
from ui.ask.asking import changed_knobs
from ui.lab import state as lab
from ui.settings.wording import moved_in_words, setting_name, value_in_words

MIN_BUDGET, OFFERED = 1000, 100_000  # tokens; the first is the step of the field too
MAX_BUDGET = 1_000_000_000  # tokens: more than any run takes; a slip of the keyboard stops there
SEED = 20261121  # for a sample, so that the same part is drawn again
APART = ": "  # between the name of runs that were begun together and the end of each
MAX_NAME_CHARS = 100  # as many as the store keeps (`rag_core.adapters.records.tables`)
NOTE_PIXELS = 80  # two lines
# pixels, of a column whose values may be long; the others fit theirs
WIDTHS = {"drafter": 180, "changed": 260, "note": 260}


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
        submit("lab_sets.run", "play_arrow", _hold, set_name, type="primary")
        if state.session().starting == set_name:
            each = {(name or "").strip() or set_name: settings}
            with shown_error():
                _begin(engine, next(iter(each)), set_name, sample(questions, int(most)), each, budget)
                st.rerun()


def _ask_budget(key: str, *, drafts: bool) -> int | None:
    """The field for the tokens that a run may take; None where no language model drafts."""
    if not drafts:
        return None
    label, help = say("lab_sets.budget"), say("lab_sets.budget_help")
    return int(st.number_input(label, MIN_BUDGET, MAX_BUDGET, OFFERED, MIN_BUDGET, key=key, help=help))


def _hold(set_name: str) -> None:
    # in its callback, which no other touch of the page ends; a run of the page then begins what was asked
    state.session().starting = set_name


def _begin(
    engine: Engine,
    title: str,
    set_name: str,
    drawn: Sequence[LabelledQuestion],
    each: Mapping[str, Settings],
    budget: int | None = None,
) -> None:
    """Begin a run for each of these settings, by its name, and one job that measures all of them.

    Once: from the record of them to the job, nothing reads the session, which is where a run of the page may be ended.
    """
    session, store, key, place, runner = state.session(), recording.store(), lab.run_key(), here(), state.runner()
    session.starting = ""
    heads = [evaluate.begin(engine, name, set_name, drawn, one, store) for name, one in each.items()]
    session.choose(key, heads[0].id)
    _start(session, place, runner, title if len(heads) > 1 else heads[0].name, heads, budget)


def sample(questions: Sequence[LabelledQuestion], most: int) -> Sequence[LabelledQuestion]:
    """All, or so many of them drawn by chance, the same ones each time, in their order."""
    if most >= len(questions):
        return questions
    chosen = set(random.Random(SEED).sample(range(len(questions)), most))
    return [question for number, question in enumerate(questions) if number in chosen]


def start(head: RunHead, budget: int | None = None) -> None:
    """Start the session's job that measures what a run lacks, within a budget; it goes on when the page is left."""
    _start(state.session(), here(), state.runner(), head.name, [head], budget)


def _start(session: Session, at: Here, runner: Runner, name: str, heads: Sequence[RunHead], budget: int | None) -> None:
    def work(progress: Progress, stop: Cancel) -> evaluate.Ran:
        return _run(at, heads, progress, stop, budget)

    session.forget_results("evaluating")
    total = sum(head.total for head in heads)
    job = runner.start(name, work, total, kind="evaluating", place=at.place)
    session.jobs.append(job)


def _run(at: Here, heads: Sequence[RunHead], progress: Progress, stop: Cancel, budget: int | None) -> evaluate.Ran:
    """Measure the runs one after the other; a run that was deleted meanwhile ends it."""
    engine = loading.engine(at.folder, at.collection, at.base)
    store, total, rans = records(at.folder, at.collection), sum(head.total for head in heads), list[evaluate.Ran]()
    try:
        store.prune_rejected(retention(os.environ).rejected_days)
        for head in heads:
            before = sum(one.total for one in rans)

            def shifted(step: str, done: int, _: int, before: int = before) -> None:
                progress(step, before + done, total)

            rans.append(evaluate.run(engine, store.run(head.id), store, shifted, stop, budget))
            if rans[-1].cancelled or rans[-1].over_budget:
                break
        return replace(evaluate.together(rans), total=total)
    finally:
        lab.forget_records()


def show_runs(engine: Engine) -> None:
    """The runs of this collection, newest first, and what can be done with the one that is chosen above the tabs."""
    runs, chosen = recording.store().runs(), lab.chosen_run()
    st.subheader(say("lab_sets.runs"), anchor=False)
    if chosen is None:
        st.caption(say("lab_sets.no_runs"))
        return
    rows = [_row(head, engine, head.id == chosen.id, run_before(head, runs)) for head in runs]
    tables.show(rows, "lab_sets.run_", "runs", wide=WIDTHS, alt="lab_sets.runs_alt")
    _show_chosen(engine, chosen)


def run_before(head: RunHead, runs: Sequence[RunHead]) -> RunHead | None:
    """The run of the same set that was begun before this one; None for the first. `runs` are newest first."""
    return next((one for one in runs if one.id < head.id and one.set_name == head.set_name), None)


def changed_in_words(head: RunHead, before: RunHead | None) -> list[str]:
    """The settings in which a run differs from the one before, a line each."""
    moved = changed_knobs(before.settings, head.settings) if before else {}
    return [moved_in_words(name, old, new) for name, (old, new) in moved.items()]


def _row(head: RunHead, engine: Engine, chosen: bool, before: RunHead | None) -> dict[str, str]:
    return {
        "shown": "●" if chosen else "",
        "called": head.name,
        "set": head.set_name,
        "done": tell("lab_sets.done_of", done=head.done, total=head.total),
        "state": _state(head, engine),
        "started": head.started[:16].replace("T", " "),
        "changed": "; ".join(changed_in_words(head, before)),
        "note": head.note,
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
    titles = (head.name, head.name.rpartition(APART)[0])
    return any(
        job.kind == "evaluating" and job.title in titles and not job.finished
        for job in state.runner().jobs(here().place)
    )


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
    key = f"run_note_{head.id}"
    st.text_area(
        say("lab_sets.run_note"),
        head.note,
        key=key,
        max_chars=MAX_COMMENT_CHARS,
        height=NOTE_PIXELS,
        placeholder=tell("lab_sets.run_note_empty"),
        on_change=_note,
        args=(head.id, key),
    )
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
            _offer_deletion(head)


def _offer_deletion(head: RunHead) -> None:
    key = f"delete_run_{head.id}"
    if asks_first("lab_sets.delete_run", key):
        st.text(tell("lab_sets.delete_run_warning", name=head.name, n=head.done))
        button("lab_sets.keep_run", f"keep_{key}", remember, key, False)
        button("lab_sets.delete_run_sure", f"sure_{key}", _delete, head.id, type="primary")


def _note(run: int, key: str) -> None:
    recording.store().note_run(run, st.session_state[key])


def _delete(run: int) -> None:
    recording.store().delete_run(run)
    st.session_state.pop(f"delete_run_{run}", None)


MAX_VALUES = 12  # runs of one job; chosen
STARTS = 5  # values that stand in the field at first
KNOBS = {
    knob.name: knob
    for knob in Settings.knobs()
    if knob.cost is Cost.ASK and knob.is_closed and knob.name not in AS_BUILT
}
_HELD = "=sweep "  # before the set's name, in what the session is about to start: no set that is run alone is called so


def offer_sweep(
    engine: Engine, set_name: str, tag: str, questions: Sequence[LabelledQuestion], settings: Settings
) -> None:
    """The fields for a setting and its values, and the button that runs them; `tag` stands for the set in keys."""
    if not engine.library.snapshot.documents:
        return
    with st.expander(say("lab_sweep.title"), icon=":material/tune:", key="lab_sweep"):
        st.caption(say("lab_sweep.about"))
        if settings.drafter == "model":
            st.info(say("lab_sweep.model"), icon=":material/info:")
            return
        left, right = st.columns(2)
        with left:
            label, key = say("lab_sweep.setting"), f"sweep_setting_{tag}"
            knob = KNOBS[st.selectbox(label, list(KNOBS), format_func=setting_name, key=key)]
        with right:
            values = _ask_values(knob, tag)
        try:
            each = settings_for(knob, values, settings)
        except RagError as error:
            show_error(error)
            return
        st.caption(say("lab_sweep.cost", runs=len(each), n=len(each) * len(questions)))
        button("lab_sweep.run", "sweep_run", _hold, _HELD + set_name, icon="play_arrow", disabled=not each)
        if each and state.session().starting == _HELD + set_name:
            with speaking(LANGUAGE):  # it is recorded
                name = f"{set_name}, {setting_name(knob.name)}"[: MAX_NAME_CHARS - 40]
            named = {f"{name}{APART}{value}": one for value, one in each.items()}
            with shown_error():
                _begin(engine, name, set_name, questions, named)
                st.rerun()


@speaking(LANGUAGE)
def settings_for(knob: Knob, values: Sequence[Any], settings: Settings) -> dict[str, Settings]:
    """The settings with each of the values, by the value in words; a value that stands twice counts once.

    Raises:
        InvalidInput: a value that the setting does not take.
    """
    found = (settings.changed(**{knob.name: value}) for value in values[:MAX_VALUES])
    return {value_in_words(knob.name, getattr(one, knob.name)): one for one in found}


def start_values(knob: Knob) -> list[float]:
    """Some values over the range of a number, both ends among them."""
    assert knob.low is not None
    assert knob.high is not None
    step = (knob.high - knob.low) / (STARTS - 1)
    grain = knob.step or 1
    return list(dict.fromkeys(round(knob.low + round(step * n / grain) * grain, 6) for n in range(STARTS)))


def _ask_values(knob: Knob, tag: str) -> list[Any]:
    key, label = f"sweep_values_{knob.name}_{tag}", say("lab_sweep.values")
    if knob.low is None or knob.high is None:
        options: list[Any] = list(knob.options) or [True, False]
        in_words = partial(value_in_words, knob.name)
        return st.multiselect(label, options, options, format_func=in_words, key=key)
    help = say("lab_sweep.values_help", low=knob.low, high=knob.high, most=MAX_VALUES)
    values = ", ".join(f"{value:g}" for value in start_values(knob))
    typed = st.text_input(label, values, key=key, max_chars=200, help=help)
    return [part.strip() for part in (typed or "").split(",") if part.strip()]
