"""All presets on one run, and all runs of its set: a row each, with how many questions are answered right, answered wrong, or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from rag_core.errors import RagError
from rag_core.evaluation.tradeoff import Effect, effect
from rag_core.records.stored import RunHead
from rag_core.service.chosen import AS_BUILT
from rag_core.settings import Cost, Settings, presets
from rag_core.wiring import records
from rag_core.work import loading
from ui.app import state
from ui.app.people import recording
from ui.app.tables import offer
from ui.app.texts import say, tell
from ui.ask.question.asking import changed_knobs
from ui.lab import state as lab
from ui.lab.outcomes.judged import judge
from ui.lab.outcomes.limit import COUNTS
from ui.lab.runs.running import changed_in_words, run_before
from ui.settings import saved_presets

WIDTHS = {"name": 330, **dict.fromkeys(COUNTS, 100), "open": 80, "stays": 90}  # pixels
MAX_RUNS = 24  # newest ones of the set; chosen
_COSTLY = {knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY} - set(AS_BUILT)
Row = dict[str, str | int | None]


def show(run: RunHead, recorded: lab.Recorded, settings: Settings) -> None:
    """Both tables."""
    st.subheader(say("lab_overview.presets"), anchor=False)
    st.caption(say("lab_overview.presets_about"))
    rows = [
        _of_settings(tell("lab_compare.option_sidebar"), settings, run, recorded),
        _of_settings(tell("lab_compare.option_recorded"), run.settings, run, recorded),
        *(_of_preset(option, run, recorded) for option in saved_presets.options(list(presets()))),
    ]
    _table(rows, "presets")
    runs = [one for one in recording.store().runs() if one.set_name == run.set_name and one.done]
    st.subheader(say("lab_overview.runs"), anchor=False)
    st.caption(say("lab_overview.runs_about"))
    with st.spinner(say("lab.reading")):
        rows = [_of_run(one, runs) for one in runs[:MAX_RUNS]]
    _table(rows, "runs")
    if len(runs) > MAX_RUNS:
        st.caption(say("lab_overview.more", n=len(runs) - MAX_RUNS))


def _of_preset(option: str, run: RunHead, recorded: lab.Recorded) -> Row:
    name = saved_presets.label(option)
    try:
        wanted = saved_presets.settings_of(option)
    except RagError as error:  # a saved value that this version does not take
        return {"name": name, **dict.fromkeys(COUNTS), "open": None, "stays": error.problem}
    return _of_settings(name, wanted, run, recorded)


def _of_settings(name: str, wanted: Settings, run: RunHead, recorded: lab.Recorded) -> Row:
    judged = judge(*recorded, run.settings, wanted)
    stays = sum(knob in _COSTLY for knob in changed_knobs(run.settings, wanted))
    left = int(judged.marked.needs_model.sum())
    return {"name": name, **_counts(effect(judged.marked)), "open": left or None, "stays": str(stays) if stays else None}


def _of_run(run: RunHead, runs: Sequence[RunHead]) -> Row:
    snapshot = loading.engine(state.library_folder(), run.collection, state.base_settings()).library.snapshot
    found = _effect(state.library_folder(), run.collection, run.id, run.done, run.version, run.calibration, snapshot.version)
    changed = "; ".join(changed_in_words(run, run_before(run, runs)))
    done = tell("lab_sets.done_of", done=run.done, total=run.total)
    return {"name": run.name, **_counts(found), "done": done, "changed": changed, "note": run.note}


@st.cache_data(show_spinner=False, max_entries=500)
def _effect(folder: Path, collection: str, run: int, done: int, measured_under: int, calibration: str, version: int) -> Effect:
    """Of a run under its own settings; the other arguments tell what the counts rest on."""
    head = records(folder, collection).run(run)
    recorded = lab.replay_set(head)
    return effect(judge(*recorded, head.settings, head.settings).marked)


def _counts(found: Effect) -> Mapping[str, int]:
    return {name: getattr(found, name) for name in COUNTS}


def _table(rows: Sequence[Row], name: str) -> None:
    columns = {
        key: (st.column_config.NumberColumn if key in (*COUNTS, "open") else st.column_config.TextColumn)(
            say(f"lab_limit.{key}" if key in COUNTS else f"lab_overview.{name}_{key}"), width=WIDTHS.get(key)
        )
        for key in rows[0]
    }
    st.dataframe(
        rows, hide_index=True, column_config=columns, key=f"overview_{name}", placeholder="", alt=say(f"lab_overview.{name}_alt"),
        height=min(640, 38 + 35 * len(rows)),
    )  # fmt: skip
    offer(rows, name)
