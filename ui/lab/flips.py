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

from rag_core.decision.batch import ReplaySet
from rag_core.decision.batch.columns import Flags
from rag_core.decision.decide import replay
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.evaluation import Rate, failing
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.settings import Settings
from ui.app.asked import Asked
from ui.app.scope import Scope
from ui.app.tables import offer
from ui.app.texts import say, screen, tell
from ui.ask.changes import outcome
from ui.ask.refusal import show_refusal
from ui.ask.stages import show_stages
from ui.lab import decisions
from ui.lab.judged import Judged, judge
from ui.settings import saved_presets

LISTS = ("flipped", "false_refusals", "wrong_answers", "missed_answers", "not_measured", "needs_model", "all")
SOMETIMES = ("not_measured", "needs_model")  # lists that are offered where they have any
# id of the question whose trace is open, and the list that it was clicked in
CHOSEN, CHOSEN_IN = (
    "lab_question",
    "lab_question_in",
)


def show(
    engine: Engine,
    questions: Sequence[LabelledQuestion],
    of: ReplaySet,
    records: Sequence[Measurements],
    recorded: Settings,
    now: Judged,
    before: Judged,
) -> None:
    """The list, its downloads, and the trace of the question that was clicked."""
    st.subheader(say("lab_results.questions"), anchor=False)
    against = st.selectbox(
        say("lab_results.against"),
        ["recorded", "preset"],
        format_func=lambda name: say(f"lab_results.against_{name}"),
        key="lab_against",
        help=say("lab_results.against_help"),
        persist_state="session",
        width=420,
    )
    if against == "preset":
        before = judge(questions, of, records, recorded, saved_presets.start_settings())
    _list(questions, records, now, before)


@st.fragment
def _list(questions: Sequence[LabelledQuestion], records: Sequence[Measurements], now: Judged, before: Judged) -> None:
    """A fragment, so that a click on a question does not draw the charts again."""
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
        _table(_rows(chosen, questions, now, before), [questions[row].id for row in chosen], "questions")
    else:
        st.caption(say(f"lab_results.none_{name}"))
    with st.container(horizontal=True):
        if chosen:
            offer(partial(_rows, chosen, questions, now, before), f"questions_{name}")
        _offer_failing(questions, records, now)
    _show_chosen("questions", questions, records, now, before)


def show_some(
    chosen: Sequence[int],
    questions: Sequence[LabelledQuestion],
    records: Sequence[Measurements],
    now: Judged,
    before: Judged,
    name: str,
) -> None:
    """A list of some questions elsewhere on the page, by their places, and the trace of the one that was clicked in
    it.
    """
    _table(_rows(chosen, questions, now, before), [questions[row].id for row in chosen], name)
    _show_chosen(name, questions, records, now, before)


def members(now: Judged, before: Judged) -> dict[str, Flags]:
    """The questions of each list, shape (n,) each."""
    return {
        "flipped": (now.outcomes.answered != before.outcomes.answered)
        & ~now.marked.needs_model
        & ~before.marked.needs_model,
        "false_refusals": now.marked.false_refusal,
        "wrong_answers": now.marked.wrong_answer,
        "missed_answers": now.marked.missed,
        "not_measured": ~now.marked.measured & ~now.marked.needs_model & ~now.marked.lost,
        "needs_model": now.marked.needs_model,
        "all": np.ones(len(now.outcomes), dtype=bool),
    }


def reason_in_words(reason: Reason) -> str:
    """Why a question ended so, in a few words: of a check what it missed, not its name, which says what it looks
    for.
    """
    return tell(f"lab_reasons.{reason}")


def of_in_words(rate: Rate) -> str:
    """Counts and interval of a rate in one cell."""
    if not rate.n:
        return ""
    return tell("lab_results.of_short", k=rate.k, n=rate.n, low=rate.interval.low, high=rate.interval.high)


def _rows(
    chosen: Sequence[int], questions: Sequence[LabelledQuestion], now: Judged, before: Judged
) -> list[dict[str, str | None]]:
    return [_row(questions[row], row, now, before) for row in chosen]


def _row(question: LabelledQuestion, row: int, now: Judged, before: Judged) -> dict[str, str | None]:
    answered = (before.outcomes.answered[row], now.outcomes.answered[row])
    ended = [_ended(side, row) for side in (before, now)]
    decided = (now if not answered[1] else before).outcomes.reason[row]
    value = now.outcomes.scores["correctness"][row]
    return {
        "question": question.question,
        "label": tell("lab_results.answerable" if question.answerable else "lab_results.unanswerable"),
        "before": ended[0],
        "now": ended[1],
        "right": tell("lab_results.right" if now.marked.correct[row] else "lab_results.not_right"),
        "reason": reason_in_words(decided) if not all(answered) else None,
        "probability": tell("lab_results.probability", value=value),
        "language": question.language,
        "kind": question.kind,
    }


def _ended(side: Judged, row: int) -> str:
    if side.marked.needs_model[row]:
        return tell("lab_results.open_short")
    return tell("lab_results.answered_short" if side.outcomes.answered[row] else "lab_results.refused_short")


def _table(rows: Sequence[dict[str, str | None]], ids: Sequence[str], name: str) -> None:
    widths = {
        "question": 380,
        "label": 110,
        "before": 90,
        "now": 90,
        "right": 110,
        "reason": 190,
        "probability": 90,
        "language": 80,
        "kind": 110,
    }
    columns = {
        name: st.column_config.TextColumn(say(f"lab_results.column_{name}"), width=width, help=_help(name))
        for name, width in widths.items()
    }
    # another list, another table: a chosen row must not become another question
    key = f"lab_{name}_{crc32(repr(ids).encode())}"

    def take() -> None:
        chosen = [row for row, _ in st.session_state[key].selection.cells if row < len(ids)]
        st.session_state[CHOSEN] = ids[chosen[0]] if chosen else None
        st.session_state[CHOSEN_IN] = name

    st.dataframe(
        rows,
        hide_index=True,
        column_config=columns,
        key=key,
        on_select=take,
        selection_mode="single-cell",
        placeholder="",
        height=min(420, 38 + 35 * max(len(rows), 1)),
        alt=say("lab_results.questions_alt"),
    )
    st.caption(say("lab_results.click"))


def _help(column: str) -> str | None:
    return say(f"lab_results.column_{column}_help") if f"lab_results.column_{column}_help" in screen() else None


def _offer_failing(questions: Sequence[LabelledQuestion], records: Sequence[Measurements], now: Judged) -> None:
    """The questions that ended against their label, as a set that can be run again."""
    wrong = now.marked.false_refusal | now.marked.wrong_answer | now.marked.missed | ~now.marked.measured
    if wrong.any():
        st.download_button(
            say("lab_results.failing", n=int(wrong.sum())),
            lambda: failing(questions, records, now.settings, now.marked),
            "failing.jsonl",
            "application/jsonl",
            key="lab_failing",
            icon=":material/download:",
            on_click="ignore",
            type="tertiary",
            help=say("lab_results.failing_help"),
        )


def _show_chosen(
    name: str, questions: Sequence[LabelledQuestion], records: Sequence[Measurements], now: Judged, before: Judged
) -> None:
    """The question that was clicked in this list: its label, how it ended before and ends now, its answer or refusal,
    and every check.
    """
    id = st.session_state.get(CHOSEN) if st.session_state.get(CHOSEN_IN, "questions") == name else None
    row = next((row for row, question in enumerate(questions) if question.id == id), None)
    if row is None:
        return
    question, measurements = questions[row], records[row]
    decision, was = replay(measurements, now.settings), replay(measurements, before.settings)
    asked = Asked(measurements.question, Scope(), measurements, decision, now.settings)
    with st.container(border=True, key="lab_chosen"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.badge(
                say("lab_results.answerable") if question.answerable else say("lab_results.unanswerable"), color="gray"
            )
            st.button(
                say("lab_results.close"), key="lab_close", icon=":material/close:", type="tertiary", on_click=_close
            )
        st.text(question.question)
        for line in _label_lines(question, measurements.library.names):
            st.text(line)
        with st.container(key="lab_outcome"):
            st.text(tell("lab_results.outcome", outcome=outcome(was, decision)))
        if decision.answered:
            _show_answer(decision)
        else:
            show_refusal(asked)
        show_stages(asked)
        decisions.show_why(question, now.settings)


def _label_lines(question: LabelledQuestion, names: Mapping[str, str]) -> list[str]:
    """The other lines of a label: the right answers, where they stand, where was searched.

    `names` are those of documents by id.
    """
    lines = [tell("lab_results.right_answers", answers=" · ".join(question.answers))] if question.answers else []
    places = [
        tell("lab_results.place", document=names.get(place.document, place.document), page=place.page or "–")
        for place in question.places
    ]
    if places:
        lines.append(tell("lab_results.places", places=" · ".join(places)))
    if question.documents:
        lines.append(
            tell("lab_results.searched_in", documents=" · ".join(names.get(one, one) for one in question.documents))
        )
    return lines


def _show_answer(decision: Decision) -> None:
    with st.container(border=True, key="lab_answer"):
        st.badge(say("answer.answered"), icon=":material/check_circle:", color="green")
        st.text(decision.answer)
        for citation in decision.citations:
            st.text(tell("lab_results.cited", id=citation.id, document=citation.document, page=citation.page_in_words))


def _close() -> None:
    st.session_state[CHOSEN] = None
