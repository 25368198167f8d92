"""One recorded question as it was decided: how it ended, its text or why there is none, and every check; two fit side
by side.
"""

from __future__ import annotations

import streamlit as st

from rag_core.domain.decision import Decision
from rag_core.errors import RagError
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.settings import Settings
from ui.app import state
from ui.app.texts import say, show_error, tell
from ui.ask.checks import measured, required, state_in_words
from ui.ask.missed import show_finding
from ui.ask.refusal import outcome_in_words


def show_label(question: LabelledQuestion) -> None:
    """The question and what its label says, as plain text."""
    st.text(question.question)
    parts = [tell("lab_compare.label_answerable" if question.answerable else "lab_compare.label_unanswerable")]
    if question.answers:
        parts.append(tell("lab_compare.label_answers", answers=" | ".join(question.answers)))
    if question.places:
        parts.append(
            tell(
                "lab_compare.label_places",
                places=", ".join(f"{place.document} {place.page or ''}" for place in question.places),
            )
        )
    with st.container(key="lab_label"):
        st.text("\n".join(parts))


def show_decision(decision: Decision, key: str) -> None:
    """How it ended, and the checks in their order; what comes from documents is shown as it is."""
    st.text(outcome_in_words(decision))
    if decision.answered:
        st.text(decision.answer)
    cited = [f"{number}. {one.document}, {one.page}" for number, one in enumerate(decision.citations, 1)]
    if cited:
        st.text("\n".join(cited))
    rows = [
        {
            "check": tell(f"checks.title_{check.stage}"),
            "state": state_in_words(check),
            "measured": measured(check),
            "required": required(check),
        }
        for check in decision.trace.checks
    ]
    if rows:
        columns = {name: st.column_config.TextColumn(say(f"lab_compare.check_{name}")) for name in rows[0]}
        st.dataframe(
            rows,
            hide_index=True,
            column_config=columns,
            key=f"checks_{key}",
            height="content",
            alt=say("lab_compare.checks_alt"),
        )


_WANTED = "lab_why"  # in the session: (id of the question, number of the place)


def show_why(question: LabelledQuestion, settings: Settings) -> None:
    """A button for each place of the label whose page is known, and what became of the page that was asked for.

    Args:
        question: with its places; without any nothing is shown.
        settings: under which the question is measured again.
    """
    places = [place for place in question.places if place.page]
    if not places:
        return
    st.caption(say("lab_compare.why_about"))
    wanted = st.session_state.get(_WANTED)
    for number, place in enumerate(places):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(tell("missed.page_of", name=place.document, page=place.page), width="content")
            key = f"lab_why_{question.id}_{number}"
            st.button(say("missed.look"), key=key, icon=":material/search:", on_click=_want, args=(question.id, number))
        if wanted == (question.id, number):
            _show_place(question, place, settings)


def _want(id: str, number: int) -> None:
    st.session_state[_WANTED] = (id, number)


def _show_place(question: LabelledQuestion, place: Place, settings: Settings) -> None:
    engine = state.engine()
    try:
        found = engine.library.snapshot.find(place.document)
        if not found:
            st.text(tell("lab_compare.why_no_document", name=place.document))
            return
        with st.spinner(say("missed.looking")):
            missed = engine.why_missed(question.question, settings, found[0].id, place.page, question.documents or None)
    except RagError as error:
        show_error(error)
        return
    with st.container(border=True, key="lab_why"):
        show_finding(missed)
