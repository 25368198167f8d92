"""The questions of a run: those whose outcome flips, those that end against their label, or all; each one click from
its trace.

Questions, answers and names are untrusted: they are cells of a table or inert text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from zlib import crc32

import numpy as np
import streamlit as st

from rag_core.decision.batch.columns import Flags
from rag_core.decision.decide import replay
from rag_core.domain.decision import Decision
from rag_core.domain.status import Reason
from rag_core.evaluation import Marks, Rate
from rag_core.evaluation.labelled import LabelledQuestion
from ui.app import tables
from ui.app.asked import Asked
from ui.app.elements import badge, button, remember, show_text
from ui.app.scope import Scope
from ui.app.texts import say, tell
from ui.ask.changes import outcome
from ui.ask.refusal import show_refusal
from ui.ask.stages import show_stages
from ui.lab.state import Judged, chosen_run, replay_set

LISTS = ("flipped", "false_refusals", "wrong_answers", "missed_answers", "not_measured", "needs_model", "all")
ERRORS = ("false_refusals", "wrong_answers", "missed_answers")
SOMETIMES = ("not_measured", "needs_model")  # lists that are offered where they have any
CHOSEN = "lab_question"  # in the session: the id of the question whose trace is open
# widths in pixels
WIDE = {
    "question": 380,
    "given": 260,
    "expected": 160,
    "label": 110,
    "before": 90,
    "now": 90,
    "right": 110,
    "reason": 190,
    "probability": 90,
    "language": 80,
    "kind": 110,
}
ROWS_IN_VIEW = 11  # rows that a list shows at once


@st.fragment
def show(now: Judged, before: Judged) -> None:
    """The list, its downloads, and the trace of the question that was clicked.

    A fragment, so that a click on a question does not draw the charts again.
    """
    st.header(say("lab_results.questions"), anchor=False)
    lists = members(now, before)
    name = st.segmented_control(
        say("lab_results.list"),
        [name for name in LISTS if name not in SOMETIMES or lists[name].any()],
        format_func=lambda name: say(f"lab_results.list_{name}", n=int(lists[name].sum())),
        default="flipped",
        required=True,
        key="lab_list",
        label_visibility="collapsed",
    )
    chosen = np.flatnonzero(lists[name or "flipped"]).tolist()
    if chosen:
        shown = partial(_rows, chosen, now, before, told=name in ERRORS)
        _table(chosen, now, shown())
        tables.offer(shown, f"questions_{name}")
    else:
        st.caption(say(f"lab_results.none_{name}"))
    _show_chosen(now, before)


def show_of_set(asked: Asked) -> None:
    """How many questions of the run that the lab shows end otherwise too, where a setting was moved on the Ask page."""
    run = chosen_run() if asked.before else None
    if asked.before is None or run is None or not run.done:
        return
    recorded = replay_set(run)
    now, was = recorded.judge(asked.settings), recorded.judge(asked.before[1])
    flipped = members(now, was)["flipped"]
    answered = int((flipped & now.outcomes.answered).sum())
    counts = {"answered": answered, "refused": int(flipped.sum()) - answered, "of": len(flipped)}
    show_text(tell("changes.of_set", name=run.set_name, **counts), "change_of_set")


def members(now: Judged, before: Judged) -> dict[str, Flags]:
    """The questions of each list, shape (n,) each."""
    marked = now.marked
    flipped = now.outcomes.answered != before.outcomes.answered
    return {
        "flipped": flipped & ~marked.needs_model & ~before.marked.needs_model,
        "false_refusals": marked.false_refusal,
        "wrong_answers": marked.wrong_answer,
        "missed_answers": marked.missed,
        "not_measured": ~marked.measured & ~marked.needs_model & ~marked.lost,
        "needs_model": marked.needs_model,
        "all": np.ones(len(now.outcomes), dtype=bool),
    }


def reason_in_words(reason: Reason) -> str:
    """Why a question ended so, in a few words: of a check what it missed, not its name."""
    return tell(f"lab_reasons.{reason}")


def of_in_words(rate: Rate) -> str:
    """Counts and interval of a rate in one cell."""
    if not rate.n:
        return ""
    return tell("lab_results.of_short", k=rate.k, n=rate.n, low=rate.interval.low, high=rate.interval.high)


def share_of(marked: Marks, which: Flags) -> Rate:
    """How many of all questions that were measured."""
    return Rate(int((marked.measured & which).sum()), int(marked.measured.sum()))


def label_in_words(question: LabelledQuestion) -> str:
    """Whether the documents answer a question, by its label."""
    return tell("lab_results.answerable" if question.answerable else "lab_results.unanswerable")


def _rows(chosen: Sequence[int], now: Judged, before: Judged, *, told: bool = False) -> list[dict[str, str | None]]:
    """A row for each question; `told` with the answer that it got, and the one that its label expects."""
    return [
        _row(now.recorded.questions[row], row, now, before) | (_answers(row, now) if told else {}) for row in chosen
    ]


def _answers(row: int, now: Judged) -> dict[str, str | None]:
    question, decision = now.recorded.questions[row], replay(now.recorded.records[row], now.settings)
    expected = " · ".join(question.answers) or label_in_words(question)
    return {"given": decision.answer if decision.answered else None, "expected": expected}


def _row(question: LabelledQuestion, row: int, now: Judged, before: Judged) -> dict[str, str | None]:
    answered = (before.outcomes.answered[row], now.outcomes.answered[row])
    decided = (now if not answered[1] else before).outcomes.reason[row]
    return {
        "question": question.question,
        "label": label_in_words(question),
        "before": _ended(before, row),
        "now": _ended(now, row),
        "right": tell("lab_results.right" if now.marked.correct[row] else "lab_results.not_right"),
        "reason": reason_in_words(decided) if not all(answered) else None,
        "probability": tell("lab_results.probability", value=now.outcomes.scores["correctness"][row]),
        "language": question.language,
        "kind": question.kind,
    }


def _ended(side: Judged, row: int) -> str:
    if side.marked.needs_model[row]:
        return tell("lab_results.open_short")
    return tell("lab_results.answered_short" if side.outcomes.answered[row] else "lab_results.refused_short")


def _table(chosen: Sequence[int], now: Judged, rows: tables.Rows) -> None:
    ids = [now.recorded.questions[row].id for row in chosen]
    # another list, another table: a chosen row must not become another question
    key = f"lab_questions_{crc32(repr(ids).encode())}"

    def take() -> None:
        clicked = [row for row, _ in st.session_state[key].selection.cells if row < len(ids)]
        remember(CHOSEN, ids[clicked[0]] if clicked else None)

    tables.show(
        rows,
        "lab_results.column_",
        key,
        wide=WIDE,
        in_view=ROWS_IN_VIEW,
        alt="lab_results.questions_alt",
        on_select=take,
        selection_mode="single-cell",
        placeholder="",
    )
    st.caption(say("lab_results.click"))


def _show_chosen(now: Judged, before: Judged) -> None:
    """The question that was clicked: its label, how it ended before and ends now, and every check."""
    id = st.session_state.get(CHOSEN)
    row = next((row for row, question in enumerate(now.recorded.questions) if question.id == id), None)
    if row is None:
        return
    question, measurements = now.recorded.questions[row], now.recorded.records[row]
    decision, was = replay(measurements, now.settings), replay(measurements, before.settings)
    asked = Asked(measurements.question, Scope(), measurements, decision, now.settings)
    with st.container(border=True, key="lab_chosen"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            badge("lab_results.answerable" if question.answerable else "lab_results.unanswerable", "", "gray")
            button("lab_results.close", "lab_close", remember, CHOSEN, None, icon="close", type="tertiary")
        st.text(question.question)
        for line in label_lines(question, measurements.library.names):
            st.text(line)
        show_text(tell("lab_results.outcome", outcome=outcome(was, decision)), "lab_outcome")
        if decision.answered:
            with st.container(border=True, key="lab_answer"):
                badge("answer.answered", "check_circle", "green")
                for line in answer_lines(decision):
                    st.text(line)
        else:
            show_refusal(asked)
        show_stages(asked)


def answer_lines(decision: Decision) -> list[str]:
    """An answer and its sources, a line each; none for a refusal."""
    cited = [
        tell("lab_results.cited", id=one.id, document=one.document, page=one.page_in_words)
        for one in decision.citations
    ]
    return [decision.answer, *cited] if decision.answered else []


def label_lines(question: LabelledQuestion, names: Mapping[str, str]) -> list[str]:
    """A label: its right answers, where they stand, where was searched; `names` are those of documents by id."""
    lines = [tell("lab_results.right_answers", answers=" · ".join(question.answers))] if question.answers else []
    places = [
        tell("lab_results.place", document=names.get(place.document, place.document), page=place.page or "–")
        for place in question.places
    ]
    if places:
        lines.append(tell("lab_results.places", places=" · ".join(places)))
    if question.documents:
        searched = " · ".join(names.get(one, one) for one in question.documents)
        lines.append(tell("lab_results.searched_in", documents=searched))
    return lines
