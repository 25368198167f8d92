"""Two ways to decide the same questions, side by side: two settings on one run, or two runs of one set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import streamlit as st

from rag_core import evaluation as evaluate
from rag_core.decision.decide import replay
from rag_core.domain.measurements import Measurements
from rag_core.errors import RagError
from rag_core.evaluation import Marks, Paired, Rate, paired
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.report import error_of
from rag_core.evaluation.tradeoff import Effect, effect
from rag_core.library.stored.named import collections
from rag_core.records.stored import RunHead
from rag_core.settings import Cost, Settings, presets
from rag_core.settings.knobs import AS_BUILT
from rag_core.wiring import records
from rag_core.work import loading
from ui.app import state
from ui.app.people import recording, visitor
from ui.app.people.collections import shown_name
from ui.app.tables import offer
from ui.app.texts import LANGUAGE, language, say, speaking, tell
from ui.ask.asking import changed_knobs
from ui.lab import state as lab
from ui.lab.decisions import show_decision, show_label
from ui.lab.flips import of_in_words, reason_in_words
from ui.lab.judged import Judged, judge
from ui.lab.limit import COUNTS
from ui.lab.running import changed_in_words, run_before
from ui.settings import saved_presets
from ui.settings.wording import setting_name

WAYS = ("settings", "runs", "all")
SIDEBAR, RECORDED = "=sidebar", "=recorded"  # options beside the presets; no preset is called so
ALPHA = 0.05  # below it a difference is called more than chance
_COSTLY = {knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY}


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One way: its name (untrusted text), and the outcomes of the compared questions; `rows` are theirs in `judged` and
    `records`.
    """

    name: str
    judged: Judged
    records: Sequence[Measurements]
    rows: np.ndarray

    @property
    def marked(self) -> Marks:
        """Of the compared questions only."""
        return self.judged.marked.of(self.rows)


def show(run: RunHead, recorded: lab.Recorded, settings: Settings) -> None:
    """The tab: what to compare, then the comparison."""
    way = st.segmented_control(
        say("lab_compare.what"),
        WAYS,
        format_func=lambda way: say(f"lab_compare.way_{way}"),
        default=WAYS[0],
        required=True,
        key="lab_way",
    )
    if way == "settings":
        _two_settings(run, recorded, settings)
    elif way == "runs":
        _two_runs(run, recorded, settings)
    else:
        show_overview(run, recorded, settings)


def _two_settings(run: RunHead, recorded: lab.Recorded, settings: Settings) -> None:
    st.caption(say("lab_compare.settings_about"))
    options = [RECORDED, SIDEBAR, *saved_presets.options(list(presets()))]
    columns, chosen = st.columns(2), []
    for column, which, start in zip(columns, ("first", "second"), (RECORDED, SIDEBAR), strict=True):
        with column:
            chosen.append(
                st.selectbox(
                    say(f"lab_compare.{which}"),
                    options,
                    options.index(start),
                    format_func=_option,
                    key=f"compare_{which}",
                )
            )
    every, sides = np.arange(len(recorded.questions)), []
    for column, option in zip(columns, chosen, strict=True):
        wanted = _settings_of(option, run, settings)
        with column:
            _say_what_stays(run.settings, wanted)
        sides.append(Side(_option(option), judge(*recorded, run.settings, wanted), recorded.records, every))
    _show(recorded.questions, sides[0], sides[1])


def _option(option: str) -> str:
    return tell(f"lab_compare.option_{option[1:]}") if option in (SIDEBAR, RECORDED) else saved_presets.label(option)


def _settings_of(option: str, run: RunHead, settings: Settings) -> Settings:
    """The settings of an option.

    Raises:
        RagError: a saved value that this version does not take.
    """
    if option in (SIDEBAR, RECORDED):
        return settings if option == SIDEBAR else run.settings
    return saved_presets.settings_of(option)


def _say_what_stays(recorded: Settings, wanted: Settings) -> None:
    """Settings that cannot be judged again, which stay as the run has them."""
    stay = [setting_name(name) for name in changed_knobs(recorded, wanted) if name in _COSTLY and name not in AS_BUILT]
    if stay:
        st.text(tell("lab_compare.stays", names=", ".join(stay)))


def _two_runs(run: RunHead, recorded: lab.Recorded, settings: Settings) -> None:
    st.caption(say("lab_compare.runs_about"))
    others = _other_runs(run)
    if not others:
        st.info(say("lab_compare.one_run"), icon=":material/science:")
        return
    number = st.selectbox(
        say("lab_compare.second_run"),
        list(others),
        format_func=lambda key: _run_name(others[key], run),
        key=f"compare_run_{run.id}",
    )
    own = st.toggle(say("lab_compare.own_settings"), key="compare_own", help=say("lab_compare.own_settings_help"))
    other = others[number]
    with st.spinner(say("lab.reading")):
        second = lab.replay_set(other)
    rows, other_rows = matched(recorded.questions, second.questions)
    left_out = len(recorded.questions) - len(rows)
    if not len(rows):
        st.info(say("lab_compare.nothing_common"), icon=":material/info:")
        return
    if left_out:
        st.caption(say("lab_compare.left_out", n=left_out))
    sides = [
        Side(_run_name(head, run), judge(*data, head.settings, head.settings if own else settings), data.records, at)
        for head, data, at in ((run, recorded, rows), (other, second, other_rows))
    ]
    _show([recorded.questions[row] for row in rows], sides[0], sides[1])


def _other_runs(run: RunHead) -> Mapping[str, RunHead]:
    """The runs of all collections but this one, those of the same set first."""
    folder, found = state.library_folder(), []
    for collection in filter(visitor.may_enter, dict.fromkeys([run.collection, *collections(folder)])):
        found += [
            head
            for head in records(folder, collection).runs()
            if head.done and (collection, head.id) != (run.collection, run.id)
        ]
    return {
        f"{head.collection}/{head.id}": head for head in sorted(found, key=lambda head: head.set_name != run.set_name)
    }


def _run_name(head: RunHead, run: RunHead) -> str:
    return lab.label(head) if head.collection == run.collection else f"{shown_name(head.collection)}: {lab.label(head)}"


def matched(first: Sequence[LabelledQuestion], second: Sequence[LabelledQuestion]) -> tuple[np.ndarray, np.ndarray]:
    """The rows of questions that both have with the same label, in the order of the first."""
    rows = {_label(question): row for row, question in enumerate(second)}
    both = [(row, rows[_label(question)]) for row, question in enumerate(first) if _label(question) in rows]
    left, right = zip(*both, strict=True) if both else ((), ())
    return np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)


def _label(question: LabelledQuestion) -> tuple[object, ...]:
    return question.id, question.question, question.answerable, question.answers


def _show(questions: Sequence[LabelledQuestion], first: Side, second: Side) -> None:
    """Rates side by side, the paired test, and the questions on which they differ."""
    found = paired(first.marked, second.marked)
    rows = _rates(first.marked, second.marked)
    columns = {
        name: st.column_config.TextColumn(say(f"lab_compare.{name}"), width=260)
        for name in ("figure", "first", "second")
    }
    with st.container(key="compare_names"):
        st.text(tell("lab_compare.named", first=first.name, second=second.name))
    st.dataframe(rows, hide_index=True, column_config=columns, key="compare_rates", alt=say("lab_compare.rates_alt"))
    st.text(_in_words(found))
    for key, side in (("first", first), ("second", second)):
        if count := int(side.marked.needs_model.sum()):
            st.caption(say(f"lab_compare.open_{key}", n=count))
    _list(questions, first, second, found)


def _rates(first: Marks, second: Marks) -> list[dict[str, str]]:
    sides = [
        (*evaluate.rates(one, np.ones_like(one.answered)), _of(one, one.answered), _of(one, one.correct))
        for one in (first, second)
    ]
    names = ("false_refusals", "wrong_answers", "missed_answers", "answered", "right")
    return [
        {"figure": tell(f"lab_compare.rate_{name}"), "first": of_in_words(one), "second": of_in_words(other)}
        for name, one, other in zip(names, *sides, strict=True)
    ]


def _of(marked: Marks, which: np.ndarray) -> Rate:
    return Rate(int((marked.measured & which).sum()), int(marked.measured.sum()))


def _in_words(found: Paired) -> str:
    key = "same" if found.only_first == found.only_second == 0 else "chance" if found.p >= ALPHA else "differ"
    said = tell(f"lab_compare.verdict_{key}")
    return tell(
        "lab_compare.mcnemar", n=found.compared, first=found.only_first, second=found.only_second, p=found.p, said=said
    )


@st.fragment
def _list(questions: Sequence[LabelledQuestion], first: Side, second: Side, found: Paired) -> None:
    """The questions on which they differ; a click opens both decisions."""
    st.subheader(say("lab_compare.differ", n=len(found.differ)), anchor=False)
    if not len(found.differ):
        st.caption(say("lab_compare.no_difference"))
        return

    def made() -> list[dict[str, str]]:
        return [_row(questions[row], first, second, int(row)) for row in found.differ]

    rows = made()
    columns: dict[str, Any] = {name: st.column_config.TextColumn(say(f"lab_compare.{name}")) for name in rows[0]}
    columns["question"] = st.column_config.TextColumn(say("lab_compare.question"), width=420)
    # another list, another table: a chosen row must not become another question
    key = f"compare_differ_{crc32(repr(rows).encode())}"
    picked = st.dataframe(
        rows,
        hide_index=True,
        column_config=columns,
        key=key,
        on_select="rerun",
        selection_mode="single-cell",
        alt=say("lab_compare.differ_alt"),
    )
    offer(made, "differ")
    chosen = [number for number, _ in picked.selection.cells if number < len(found.differ)]
    if not chosen:
        st.caption(say("lab_compare.open"))
        return
    row = int(found.differ[chosen[0]])
    with st.container(border=True, key="compare_open"):
        show_label(questions[row])
        for column, side, key in zip(st.columns(2), (first, second), ("first", "second"), strict=True):
            with column:
                at = int(side.rows[row])
                st.badge(say(f"lab_compare.{key}"), color="gray")
                show_decision(replay(side.records[at], side.judged.settings), key)


def _row(question: LabelledQuestion, first: Side, second: Side, row: int) -> dict[str, str]:
    cells = {
        "question": question.question,
        "label": tell("lab_compare.yes" if question.answerable else "lab_compare.no"),
    }
    for key, side in (("first", first), ("second", second)):
        at = int(side.rows[row])
        error = error_of(side.judged.marked, at) or ("answered" if side.judged.marked.answered[at] else "refused")
        cells[key] = tell(f"lab_compare.ended_{error}")
        answered = side.judged.marked.answered[at]
        cells[f"{key}_by"] = "" if answered else reason_in_words(side.judged.outcomes.reason[at])
    return cells


WIDTHS = {"name": 330, **dict.fromkeys(COUNTS, 100), "open": 80, "stays": 90}  # pixels
MAX_RUNS = 24  # newest ones of the set; chosen
_COSTLY_OVERVIEW = {knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY} - set(AS_BUILT)
Row = dict[str, str | int | None]


def show_overview(run: RunHead, recorded: lab.Recorded, settings: Settings) -> None:
    """Both tables."""
    st.subheader(say("lab_overview.presets"), anchor=False)
    st.caption(say("lab_overview.presets_about"))

    def of_presets() -> list[Row]:
        return [
            _of_settings(tell("lab_compare.option_sidebar"), settings, run, recorded),
            _of_settings(tell("lab_compare.option_recorded"), run.settings, run, recorded),
            *(_of_preset(option, run, recorded) for option in saved_presets.options(list(presets()))),
        ]

    _table(of_presets, "presets")
    runs = [one for one in recording.store().runs() if one.set_name == run.set_name and one.done]
    st.subheader(say("lab_overview.runs"), anchor=False)
    st.caption(say("lab_overview.runs_about"))
    with st.spinner(say("lab.reading")):
        _table(lambda: [_of_run(one, runs) for one in runs[:MAX_RUNS]], "runs")
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
    stays = sum(knob in _COSTLY_OVERVIEW for knob in changed_knobs(run.settings, wanted))
    left = int(judged.marked.needs_model.sum())
    return {
        "name": name,
        **_counts(effect(judged.marked)),
        "open": left or None,
        "stays": str(stays) if stays else None,
    }


def _of_run(run: RunHead, runs: Sequence[RunHead]) -> Row:
    snapshot = loading.engine(state.library_folder(), run.collection, state.base_settings()).library.snapshot
    found = _effect(
        state.library_folder(), run.collection, run.id, run.done, run.version, run.calibration, snapshot.version
    )
    changed = "; ".join(changed_in_words(run, run_before(run, runs)))
    done = tell("lab_sets.done_of", done=run.done, total=run.total)
    return {"name": run.name, **_counts(found), "done": done, "changed": changed, "note": run.note}


@st.cache_data(show_spinner=False, max_entries=500)
def _effect(
    folder: Path, collection: str, run: int, done: int, measured_under: int, calibration: str, version: int
) -> Effect:
    """Of a run under its own settings; the other arguments tell what the counts rest on."""
    head = records(folder, collection).run(run)
    recorded = lab.replay_set(head)
    return effect(judge(*recorded, head.settings, head.settings).marked)


def _counts(found: Effect) -> Mapping[str, int]:
    return {name: getattr(found, name) for name in COUNTS}


def _table(made: Callable[[], Sequence[Row]], name: str) -> None:
    rows = made()
    saved = rows if language() == LANGUAGE else speaking(LANGUAGE)(made)()  # a click has no session to make it from
    columns = {
        key: (st.column_config.NumberColumn if key in (*COUNTS, "open") else st.column_config.TextColumn)(
            say(f"lab_limit.{key}" if key in COUNTS else f"lab_overview.{name}_{key}"), width=WIDTHS.get(key)
        )
        for key in rows[0]
    }
    st.dataframe(
        rows,
        hide_index=True,
        column_config=columns,
        key=f"overview_{name}",
        placeholder="",
        alt=say(f"lab_overview.{name}_alt"),
        height=min(640, 38 + 35 * len(rows)),
    )
    offer(lambda: saved, name)
