"""Takes a reader's feedback on a decision: right or wrong, in one click; then, if they like, why, and the page that holds the answer.

It stores the decision as it stands on the page, also where questions are not kept, and can be taken back.
"""

from __future__ import annotations

import streamlit as st

from rag_core.domain.acts import Action
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.records.stored import MAX_COMMENT_CHARS, FeedbackKind
from ui.app.asked import Asked, Given
from ui.app.naming import unique_names
from ui.app.people import recording, visitor
from ui.app.texts import say, show_error
from ui.ask.leaving import labelling

_PROBLEM = "feedback_problem"


def show_feedback(engine: Engine, asked: Asked) -> None:
    """The two buttons, or thanks and the form for more; nothing under a greeting, or where nothing is kept for the visitor."""
    if asked.measurements.answer or not visitor.may_do(Action.FEEDBACK):
        return
    with st.container(key="feedback", gap="small"):
        if asked.given is None:
            _show_buttons(asked)
        else:
            _show_thanks(engine, asked, asked.given)
        problem = st.session_state.pop(_PROBLEM, None)
        if problem is not None:
            show_error(problem)
        labelling.show(engine, asked)


def _show_buttons(asked: Asked) -> None:
    answered = asked.decision.answered
    wrong = FeedbackKind.WRONG_ANSWER if answered else FeedbackKind.WRONG_REFUSAL
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(say("feedback.ask_answer" if answered else "feedback.ask_refusal"), width="content")
        st.button(
            say("feedback.right_answer" if answered else "feedback.right_refusal"), key="feedback_right", icon=":material/thumb_up:",
            on_click=_give, args=(asked, FeedbackKind.HELPFUL), width="content",
        )  # fmt: skip
        st.button(
            say(f"feedback.{wrong}"), key="feedback_wrong", icon=":material/thumb_down:", on_click=_give, args=(asked, wrong),
            help=say("feedback.wrong_help"), width="content",
        )  # fmt: skip
        labelling.offer(asked)


def _show_thanks(engine: Engine, asked: Asked, given: Given) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        right = given.kind is FeedbackKind.HELPFUL
        icon = ":material/thumb_up:" if right else ":material/thumb_down:"
        st.badge(say(f"feedback.said_{given.kind}"), icon=icon, color="green" if right else "orange")
        st.caption(say("feedback.thanks_more" if given.said_more else "feedback.thanks"), width="content")
        st.button(
            say("feedback.take_back"), key="feedback_take_back", type="tertiary", icon=":material/undo:",
            on_click=_take_back, args=(asked,), width="content",
        )  # fmt: skip
        labelling.offer(asked)
    if given.kept_for_it:
        st.caption(say("feedback.kept_for_it"))
    if not given.said_more:
        _show_form(engine, asked, given)


def _show_form(engine: Engine, asked: Asked, given: Given) -> None:
    with st.expander(
        say("feedback.more"), icon=":material/edit_note:", key="feedback_more", expanded=given.kind is not FeedbackKind.HELPFUL
    ):
        comment = st.text_area(
            say("feedback.comment"), key=f"feedback_comment_{given.id}", max_chars=MAX_COMMENT_CHARS, help=say("feedback.comment_help"),
            height=90,
        )  # fmt: skip
        document, page = _choose_page(engine, given)
        st.button(say("feedback.send"), key="feedback_send", on_click=_say_more, args=(asked, comment or "", document, page))


def _choose_page(engine: Engine, given: Given) -> tuple[str, int]:
    """The document and the page that hold the answer, if the reader says so; ("", 0) otherwise."""
    documents = engine.library.view.documents
    names = unique_names(documents)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        document = st.selectbox(
            say("feedback.document"), ["", *names], format_func=lambda id: names.get(id, say("feedback.no_document")),
            key=f"feedback_document_{given.id}",
        )  # fmt: skip
        count = next((one.page_count for one in documents if one.id == document), 0)
        if not document or not count:
            return "", 0
        page = st.number_input(say("feedback.page", n=count), 1, count, step=1, key=f"feedback_page_{given.id}_{document}", width=160)
    return document, page


def _give(asked: Asked, kind: FeedbackKind) -> None:
    try:
        store, kept_for_it = recording.store(), asked.record is None and not recording.keeping()
        if asked.record is None:  # not kept when it was asked, or judged again since
            asked.record = recording.keep(asked, origin="feedback")
        asked.given = Given(store.add_feedback(asked.record, kind), kind, kept_for_it)
    except RagError as error:
        st.session_state[_PROBLEM] = error


def _say_more(asked: Asked, comment: str, document: str, page: int) -> None:
    assert asked.given is not None
    try:
        recording.store().amend(asked.given.id, comment, document, page)
        asked.given.said_more = True
    except RagError as error:
        st.session_state[_PROBLEM] = error


def _take_back(asked: Asked) -> None:
    assert asked.given is not None
    try:
        recording.store().take_back(asked.given.id)
        if asked.given.kept_for_it and asked.record is not None:
            recording.store().forget_decision(asked.record)
            asked.record = None
        asked.given = None
    except RagError as error:
        st.session_state[_PROBLEM] = error
