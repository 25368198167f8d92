"""A form that takes one labelled question after another, where there is no file of them. Enter adds the question and empties the fields."""

from __future__ import annotations

import streamlit as st

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.errors import InvalidInput, RagError
from rag_core.evaluation.labelled import LabelledQuestion, given_id
from ui.app import state
from ui.app.people import recording
from ui.app.texts import say, show_error, tell

MAX_ANSWER_CHARS = 500  # as in the list of feedback
QUESTION, ANSWERABLE, ANSWER = "typed_question", "typed_answerable", "typed_answer"  # the fields
_SAID = "typed_said"  # in the session: what became of the last one, in words or as an error


def offer(name: str, set_key: str, *, border: bool = True) -> None:
    """The form.

    Args:
        name: of the set that takes the questions; it is made with the first one.
        set_key: where the session's choice of a set stands; the set is chosen there.
        border: around the form, where nothing else is.
    """
    with st.form(key="typed", border=border):
        st.text_input(say("lab_typed.question"), key=QUESTION, max_chars=MAX_QUESTION_CHARS, placeholder=tell("lab_typed.question_empty"))
        left, right = st.columns([2, 3], gap="medium")
        with left:
            st.radio(
                say("lab_feedback.answerable"), [True, False], key=ANSWERABLE, horizontal=True,
                format_func=lambda yes: say("lab_feedback.yes") if yes else say("lab_feedback.no"),
            )  # fmt: skip
        with right:
            st.text_input(say("lab_feedback.answer"), key=ANSWER, max_chars=MAX_ANSWER_CHARS, help=say("lab_feedback.answer_help"))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.form_submit_button(say("lab_typed.add"), icon=":material/add:", on_click=_add, args=(name, set_key))
            _show_said()


def was_used() -> bool:
    """Whether a question was just typed, so that the next one is expected."""
    return isinstance(st.session_state.get(_SAID), str)


def _show_said() -> None:
    said = st.session_state.get(_SAID)
    if isinstance(said, RagError):
        show_error(said)
    elif said:
        st.text(said, width="content")


def _add(name: str, set_key: str) -> None:
    """Put the question into the set, or say why it cannot be; then the fields keep what was typed."""
    question, answer = (str(st.session_state.get(key) or "").strip() for key in (QUESTION, ANSWER))
    answerable = bool(st.session_state.get(ANSWERABLE, True))
    if not question:
        return
    try:
        if answer and not answerable:
            raise InvalidInput(tell("lab_typed.both"), remedy=tell("lab_typed.both_remedy"))
        label = LabelledQuestion(given_id(question, ()), question, answerable, (answer,) if answer else ())
        recording.store().put_question(name, label)
    except RagError as error:
        st.session_state[_SAID] = error
        return
    st.session_state[_SAID] = tell("lab_typed.added", question=question, set=name)
    st.session_state[QUESTION] = st.session_state[ANSWER] = ""
    st.session_state[ANSWERABLE] = True
    state.session().choose(set_key, name)
