"""One recorded question as it was decided: how it ended, its text or why there is none, and every check; two fit side by side."""

from __future__ import annotations

import streamlit as st

from rag_core.domain.decision import Decision
from rag_core.evaluation.labelled import LabelledQuestion
from ui.app.texts import say, tell
from ui.ask.decision.checks import measured, required, state_in_words
from ui.ask.decision.refusal import outcome_in_words


def show_label(question: LabelledQuestion) -> None:
    """The question and what its label says, as plain text."""
    st.text(question.question)
    parts = [tell("lab_compare.label_answerable" if question.answerable else "lab_compare.label_unanswerable")]
    if question.answers:
        parts.append(tell("lab_compare.label_answers", answers=" | ".join(question.answers)))
    if question.places:
        parts.append(
            tell("lab_compare.label_places", places=", ".join(f"{place.document} {place.page or ''}" for place in question.places))
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
        st.dataframe(rows, hide_index=True, column_config=columns, key=f"checks_{key}", height="content", alt=say("lab_compare.checks_alt"))
