"""Takes a reader's feedback on a decision: right or wrong, in one click; then, if they like, why, and the page that
holds the answer.

It stores the decision as it stands on the page, also where questions are not kept, and can be taken back.
"""

from __future__ import annotations

import streamlit as st

from rag_core.domain.acts import Action
from rag_core.engine import Engine
from rag_core.records.stored import MAX_COMMENT_CHARS, FeedbackKind
from ui.app.asked import Asked, Given
from ui.app.elements import badge, button, kept_error, show_kept_error
from ui.app.people import recording, visitor
from ui.app.scope import choose_page
from ui.app.texts import say

_PROBLEM = "feedback_problem"


def show_feedback(engine: Engine, asked: Asked) -> None:
    """The two buttons, or thanks and the form for more; nothing where nothing is kept for the visitor."""
    if asked.measurements.answer or not visitor.may_do(Action.FEEDBACK):
        return
    with st.container(key="feedback", gap="small"):
        if asked.given is None:
            _show_buttons(asked)
        else:
            _show_thanks(engine, asked, asked.given)
        show_kept_error(_PROBLEM)


def _show_buttons(asked: Asked) -> None:
    answered, maybe = asked.decision.answered, asked.decision.may_be is not None
    wrong = FeedbackKind.WRONG_ANSWER if answered else FeedbackKind.WRONG_REFUSAL
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        ask = "answer" if answered else "maybe" if maybe else "refusal"
        st.caption(say(f"feedback.ask_{ask}"), width="content")
        right = "feedback.right_answer" if answered else "feedback.right_refusal"
        button(right, "feedback_right", _give, asked, FeedbackKind.HELPFUL, icon="thumb_up")
        button(
            "feedback.wrong_maybe" if maybe else f"feedback.{wrong}",
            "feedback_wrong",
            *(_give, asked, wrong),
            icon="thumb_down",
            help="feedback.wrong_help",
        )


def _show_thanks(engine: Engine, asked: Asked, given: Given) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        right = given.kind is FeedbackKind.HELPFUL
        badge(f"feedback.said_{given.kind}", *(("thumb_up", "green") if right else ("thumb_down", "orange")))
        st.caption(say("feedback.thanks_more" if given.said_more else "feedback.thanks"), width="content")
        button("feedback.take_back", "feedback_take_back", _take_back, asked, type="tertiary", icon="undo")
    if given.kept_for_it:
        st.caption(say("feedback.kept_for_it"))
    if not given.said_more:
        _show_form(engine, asked, given)


def _show_form(engine: Engine, asked: Asked, given: Given) -> None:
    with st.expander(
        say("feedback.more"),
        icon=":material/edit_note:",
        key="feedback_more",
        expanded=given.kind is not FeedbackKind.HELPFUL,
    ):
        comment = st.text_area(
            say("feedback.comment"),
            key=f"feedback_comment_{given.id}",
            max_chars=MAX_COMMENT_CHARS,
            help=say("feedback.comment_help"),
            height=90,
        )
        document, page = choose_page(engine.library.view.documents, f"feedback_{given.id}")
        button("feedback.send", "feedback_send", _say_more, asked, comment or "", document, page)


def _give(asked: Asked, kind: FeedbackKind) -> None:
    with kept_error(_PROBLEM):
        store, kept_for_it = recording.store(), asked.record is None and not recording.keeping()
        if asked.record is None:  # not kept when it was asked, or judged again since
            asked.record = recording.keep(asked, origin="feedback")
        asked.given = Given(store.add_feedback(asked.record, kind), kind, kept_for_it)


def _say_more(asked: Asked, comment: str, document: str, page: int) -> None:
    assert asked.given is not None
    with kept_error(_PROBLEM):
        recording.store().amend(asked.given.id, comment, document, page)
        asked.given.said_more = True


def _take_back(asked: Asked) -> None:
    assert asked.given is not None
    with kept_error(_PROBLEM):
        recording.store().take_back(asked.given.id)
        if asked.given.kept_for_it and asked.record is not None:
            recording.store().forget_decision(asked.record)
            asked.record = None
        asked.given = None
