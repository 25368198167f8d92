"""Two ways to decide the same questions, side by side: settings on one run, or another run of one set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from rag_core import evaluation as evaluate
from rag_core.domain.acts import actor
from rag_core.errors import RagError
from rag_core.evaluation import Marks, Paired, paired
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.report import effect, error_of
from rag_core.library.stored.named import collections
from rag_core.records.stored import RunHead
from rag_core.settings import Cost, Settings, presets
from rag_core.settings.knobs import AS_BUILT
from rag_core.wiring import records
from ui.app import state, tables
from ui.app.elements import segments, select, show_text
from ui.app.people.collections import shown_name
from ui.app.texts import LANGUAGE, say, speaking, tell
from ui.ask.asking import changed_knobs
from ui.lab import state as lab
from ui.lab.flips import of_in_words, reason_in_words, share_of
from ui.lab.limit import COUNTS
from ui.lab.state import Judged, Recorded
from ui.settings import saved_presets
from ui.settings.wording import setting_name

WAYS = ("two", "all")
SIDEBAR, RECORDED = "=sidebar", "=recorded"  # options beside the presets; no preset is called so
ALPHA = 0.05  # below it a difference is called more than chance
# settings that cannot be judged again, without those of the library
_COSTLY = {knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY} - set(AS_BUILT)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One way: its name (untrusted text), and the outcomes of the compared questions; `rows` are theirs in `judged`."""

    name: str
    judged: Judged
    rows: np.ndarray

    @property
    def marked(self) -> Marks:
        """Of the compared questions only."""
        return self.judged.marked.of(self.rows)


def show(run: RunHead, recorded: Recorded, settings: Settings) -> None:
    """The tab: what to compare, then the comparison."""
    way = segments("lab_compare.what", WAYS, "lab_compare.way_", "lab_way", label_visibility="visible")
    if way == "two":
        _two(run, recorded, settings)
    else:
        _all_presets(run, recorded, settings)


def _two(run: RunHead, recorded: Recorded, settings: Settings) -> None:
    """Each side is a way to judge this run, or another run of the same questions under its own settings."""
    st.caption(say("lab_compare.about"))
    others, found = _other_runs(run), []
    options = [RECORDED, SIDEBAR, *saved_presets.options(list(presets())), *others]
    for column, which, start in zip(st.columns(2), ("first", "second"), (RECORDED, SIDEBAR), strict=True):
        with column:
            key = f"compare_{which}_{run.id}"
            option = select(
                f"lab_compare.column_{which}", options, key, partial(_name, others, run), options.index(start)
            )
            found.append((_name(others, run, option), _judged(option, others, run, recorded, settings)))
    (first, one), (second, other) = found
    rows, other_rows = matched(one.recorded.questions, other.recorded.questions)
    if not len(rows):
        st.info(say("lab_compare.nothing_common"), icon=":material/info:")
        return
    if left_out := len(one.recorded.questions) - len(rows):
        st.caption(say("lab_compare.left_out", n=left_out))
    questions = [one.recorded.questions[row] for row in rows]
    _show(questions, Side(first, one, rows), Side(second, other, other_rows))


def _judged(option: str, others: Mapping[str, RunHead], run: RunHead, recorded: Recorded, settings: Settings) -> Judged:
    if option in others:
        with st.spinner(say("lab.reading")):
            data = lab.replay_set(others[option])
        return data.judge(data.settings)
    wanted = _settings(option, run, settings)
    if stay := _staying(run, wanted):
        st.text(tell("lab_compare.stays", names=", ".join(map(setting_name, stay))))
    return recorded.judge(wanted)


def _name(others: Mapping[str, RunHead], run: RunHead, option: str) -> str:
    """An option as the field shows it (untrusted text)."""
    if option not in others:
        return _option(option)
    head = others[option]
    within = "" if head.collection == run.collection else f"{shown_name(head.collection)}: "
    return f"{within}{lab.label(head)}"


def _option(option: str) -> str:
    return tell(f"lab_compare.option_{option[1:]}") if option in (SIDEBAR, RECORDED) else saved_presets.label(option)


def _settings(option: str, run: RunHead, settings: Settings) -> Settings:
    """The settings that an option stands for; `settings` are those of the side bar."""
    if option in (SIDEBAR, RECORDED):
        return settings if option == SIDEBAR else run.settings
    return saved_presets.settings_of(option)


def _staying(run: RunHead, wanted: Settings) -> list[str]:
    """The settings that would need a new run, and stay as the run has them."""
    return [name for name in changed_knobs(run.settings, wanted) if name in _COSTLY]


def _other_runs(run: RunHead) -> Mapping[str, RunHead]:
    """The runs of all collections but this one, those of the same set first."""
    folder, found = state.library_folder(), []
    for collection in filter(actor().may_enter, dict.fromkeys([run.collection, *collections(folder)])):
        found += [head for head in records(folder, collection).runs() if head.done]
    others = [head for head in found if (head.collection, head.id) != (run.collection, run.id)]
    others.sort(key=lambda head: head.set_name != run.set_name)
    return {f"=run {head.collection}/{head.id}": head for head in others}


def matched(first: Sequence[LabelledQuestion], second: Sequence[LabelledQuestion]) -> tuple[np.ndarray, np.ndarray]:
    """The rows of questions that both have with the same label, in the order of the first."""
    rows = {_label(question): row for row, question in enumerate(second)}
    both = [(row, rows[_label(question)]) for row, question in enumerate(first) if _label(question) in rows]
    left, right = zip(*both, strict=True) if both else ((), ())
    return np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)


def _label(question: LabelledQuestion) -> tuple[object, ...]:
    return question.id, question.question, question.answerable, question.answers


def _show(questions: Sequence[LabelledQuestion], first: Side, second: Side) -> None:
    found = paired(first.marked, second.marked)
    rows = _rates(first.marked, second.marked)
    show_text(tell("lab_compare.named", first=first.name, second=second.name), "compare_names")
    wide = dict.fromkeys(rows[0], 260)
    tables.show(rows, "lab_compare.column_", "compare_rates", wide=wide, alt="lab_compare.rates_alt")
    st.text(_in_words(found))
    for key, side in (("first", first), ("second", second)):
        if count := int(side.marked.needs_model.sum()):
            st.caption(say(f"lab_compare.open_{key}", n=count))
    _list(questions, first, second, found)


def _rates(first: Marks, second: Marks) -> list[dict[str, str]]:
    sides = [
        (*evaluate.rates(one, np.ones_like(one.answered)), share_of(one, one.answered), share_of(one, one.correct))
        for one in (first, second)
    ]
    names = ("false_refusals", "wrong_answers", "missed_answers", "answered", "right")
    return [
        {"figure": tell(f"lab_compare.rate_{name}"), "first": of_in_words(one), "second": of_in_words(other)}
        for name, one, other in zip(names, *sides, strict=True)
    ]


def _in_words(found: Paired) -> str:
    key = "same" if found.only_first == found.only_second == 0 else "chance" if found.p >= ALPHA else "differ"
    said = tell(f"lab_compare.verdict_{key}")
    return tell(
        "lab_compare.mcnemar", n=found.compared, first=found.only_first, second=found.only_second, p=found.p, said=said
    )


def _list(questions: Sequence[LabelledQuestion], first: Side, second: Side, found: Paired) -> None:
    st.subheader(say("lab_compare.differ", n=len(found.differ)), anchor=False)
    if not len(found.differ):
        st.caption(say("lab_compare.no_difference"))
        return

    def made() -> list[dict[str, str]]:
        return [_row(questions[row], first, second, int(row)) for row in found.differ]

    tables.show(made(), "lab_compare.column_", "compare_differ", wide={"question": 420}, alt="lab_compare.differ_alt")
    tables.offer(made, "differ")


def _row(question: LabelledQuestion, first: Side, second: Side, row: int) -> dict[str, str]:
    cells = {
        "question": question.question,
        "label": tell("lab_compare.yes" if question.answerable else "lab_compare.no"),
    }
    for key, side in (("first", first), ("second", second)):
        at, marked = int(side.rows[row]), side.judged.marked
        error = error_of(marked, at) or ("answered" if marked.answered[at] else "refused")
        cells[key] = tell(f"lab_compare.ended_{error}")
        cells[f"{key}_by"] = "" if marked.answered[at] else reason_in_words(side.judged.outcomes.reason[at])
    return cells


def _all_presets(run: RunHead, recorded: Recorded, settings: Settings) -> None:
    st.subheader(say("lab_overview.presets"), anchor=False)
    st.caption(say("lab_overview.presets_about"))
    wide = {"name": 330, **dict.fromkeys(COUNTS, 100), "open": 80, "stays": 90}
    options = [SIDEBAR, RECORDED, *saved_presets.options(list(presets()))]
    rows = [_counts(option, run, recorded, settings) for option in options]
    tables.show(
        rows, "lab_overview.", "overview_presets", wide=wide, in_view=len(rows), alt="lab_overview.alt", placeholder=""
    )
    with speaking(LANGUAGE):  # now: a click has no session to make it from
        saved = [row | {"name": _option(option)} for row, option in zip(rows, options, strict=True)]
    tables.offer(lambda: saved, "presets")


def _counts(option: str, run: RunHead, recorded: Recorded, settings: Settings) -> dict[str, str | int | None]:
    """How many questions end how under an option of the field, and how many of its settings would need a new run."""
    name = _option(option)
    try:
        wanted = _settings(option, run, settings)
    except RagError as error:  # a saved value that this version does not take
        return {"name": name, **dict.fromkeys(COUNTS), "open": None, "stays": error.problem}
    marked, stays = recorded.judge(wanted).marked, len(_staying(run, wanted))
    found, left = effect(marked), int(marked.needs_model.sum()) or None
    counts = {name: getattr(found, name) for name in COUNTS}
    return {"name": name, **counts, "open": left, "stays": str(stays) if stays else None}
