"""Readers' feedback, newest first: what was asked, what was decided, what they said.

A person makes a label of each, or dismisses it.

Nothing becomes a label by itself. Questions, comments and names are untrusted and shown as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag_core.decision.decide import decide
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Document
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.records.stored import Feedback, FeedbackKind, FeedbackState
from ui.app.elements import badge, button, kept_error, show_kept_error, show_text
from ui.app.people import recording
from ui.app.scope import choose_page
from ui.app.texts import say, show_error, tell
from ui.ask.refusal import outcome_in_words
from ui.lab.flips import answer_lines

SHOWN = 5  # at once: each has a form
MAX_ANSWER_CHARS = 500  # a right answer is a value or a sentence; a pasted page is none
KIND = "feedback"  # the labels' kind, for breakdowns
DEFAULT_SET = "feedback"
_DONE, _PROBLEM = "queue_done", "queue_problem"


def show(engine: Engine) -> None:
    """The list, or in words that there is nothing in it."""
    st.caption(say("lab_feedback.about"))
    _show_done()
    try:
        store = recording.store()
        waiting = store.feedback()
        said = [one.kind for kind in FeedbackState for one in store.feedback(kind)]
    except RagError as error:
        show_error(error)
        return
    if said:
        st.caption(say("lab_feedback.counts", **{kind.value: said.count(kind) for kind in FeedbackKind}))
    if not waiting:
        st.info(say("lab_feedback.empty"), icon=":material/inbox:")
        return
    st.markdown(say("lab_feedback.waiting", n=len(waiting)))
    for one in waiting[:SHOWN]:
        with st.container(border=True, key=f"queued_{one.id}"):
            _show_one(engine, one)
    if len(waiting) > SHOWN:
        st.caption(say("lab_feedback.older", n=len(waiting) - SHOWN))


def _show_done() -> None:
    show_kept_error(_PROBLEM)
    if (done := st.session_state.pop(_DONE, None)) is not None:
        with st.container(key="queue_done", horizontal=True, vertical_alignment="center"):
            badge("lab_feedback.done", "check", "green")
            st.text(done)


def _show_one(engine: Engine, one: Feedback) -> None:
    right = one.kind is FeedbackKind.HELPFUL
    with st.container(horizontal=True, vertical_alignment="center"):
        badge(f"lab_feedback.{one.kind}", *(("thumb_up", "green") if right else ("thumb_down", "orange")))
        st.text(tell("lab_feedback.at", date=one.at[:10], time=one.at[11:16]), width="content")
    show_text(one.question, f"queued_question_{one.id}")
    before, label = st.columns(2, gap="large")
    with before:
        decision = _show_decision(engine, one)
        if one.comment:
            st.caption(say("lab_feedback.comment"))
            st.text(one.comment)
    with label:
        _show_form(engine.library.view.documents, one, decision)


def _show_decision(engine: Engine, one: Feedback) -> Decision | None:
    """Show the decision under the settings of that time; the texts of documents that are gone are marked as deleted."""
    st.caption(say("lab_feedback.decided"))
    try:
        decision = decide(recording.store().measurements(one.decision, engine.library.view.page_text))
    except RagError as error:
        show_error(error)
        return None
    for line in (outcome_in_words(decision), *answer_lines(decision)):
        st.text(line)
    return decision


def _show_form(documents: Sequence[Document], one: Feedback, decision: Decision | None) -> None:
    help = say("lab_feedback.answerable_help")
    answerable = ask_answerable(f"queue_answerable_{one.id}", index=_first_guess(one, decision), help=help)
    answer, place = "", None
    if answerable:
        answer = ask_answer(f"queue_answer_{one.id}")
        document, page = choose_page(documents, f"queue_{one.id}", one.document, one.page)
        place = Place(document, page) if document else None
    name = st.text_input(say("lab_feedback.set"), DEFAULT_SET, key=f"queue_set_name_{one.id}", max_chars=100) or ""
    with st.container(horizontal=True):
        button(
            "lab_feedback.confirm",
            f"queue_confirm_{one.id}",
            *(_confirm, one, bool(answerable), answer, place, name, decision),
            type="primary",
            icon="label",
            disabled=answerable is None or not name.strip(),
        )
        button("lab_feedback.dismiss", f"queue_dismiss_{one.id}", _dismiss, one, icon="close")


def _first_guess(one: Feedback, decision: Decision | None) -> int | None:
    """The choice that the reader's word speaks for; none after a wrong answer, which has another one or none at all."""
    if one.kind is FeedbackKind.WRONG_REFUSAL:
        return 0
    if one.kind is FeedbackKind.HELPFUL and decision is not None:
        return 0 if decision.answered else 1
    return None


def _confirm(
    one: Feedback, answerable: bool, answer: str, place: Place | None, name: str, decision: Decision | None
) -> None:
    language = "" if decision is None or decision.language == "und" else decision.language
    label = LabelledQuestion(
        f"{KIND}-{one.id}",
        one.question,
        answerable,
        (answer,) if answer else (),
        one.searched,
        (place,) if place is not None else (),
        language,
        KIND,
    )
    with kept_error(_PROBLEM):
        recording.store().label(one.id, name, label)
        st.session_state[_DONE] = tell("lab_feedback.added", question=label.question, set=name.strip())


def _dismiss(one: Feedback) -> None:
    with kept_error(_PROBLEM):
        recording.store().settle(one.id, FeedbackState.DISMISSED)
        st.session_state[_DONE] = tell("lab_feedback.dismissed", question=one.question)


def ask_answerable(key: str, **more: Any) -> bool | None:
    """The field for whether the documents answer a question; None where nothing is chosen yet."""
    chosen: bool | None = st.radio(
        say("lab_feedback.answerable"),
        [True, False],
        key=key,
        horizontal=True,
        format_func=lambda yes: say("lab_feedback.yes") if yes else say("lab_feedback.no"),
        **more,
    )
    return chosen


def ask_answer(key: str, value: str = "") -> str:
    """The field for a question's right answer; empty where none is given."""
    label, help = say("lab_feedback.answer"), say("lab_feedback.answer_help")
    return (st.text_input(label, value, key=key, max_chars=MAX_ANSWER_CHARS, help=help) or "").strip()
