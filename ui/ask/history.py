"""The questions of this session, with how each ended; any of them comes back with a click, decided and not asked again."""

from __future__ import annotations

import streamlit as st

from rag_core.domain.decision import Decision
from ui.app.asked import Asked
from ui.app.state import session
from ui.app.texts import say, tell
from ui.ask import turns
from ui.ask.decision.how_sure import sure_in_words, unsure
from ui.ask.decision.refusal import why_refused
from ui.ask.leaving import all_asked

SHOWN = 10  # newest first; the session keeps more


def show_history() -> None:
    """The questions, newest first; nothing while there is only the one on the page, or one is on its way."""
    asked = [one for one in session().history if one.collection == session().collection]
    if len(asked) < 2 or session().pending is not None:
        return
    with st.expander(say("history.title", n=len(asked)), icon=":material/history:", key="history"):
        for one in reversed(asked[-SHOWN:]):
            _show(one)
        if len(asked) > SHOWN:
            st.caption(say("history.older", n=len(asked) - SHOWN))
        all_asked.offer(asked)


def _show(asked: Asked) -> None:
    question, outcome, again = st.columns([6, 3, 1], vertical_alignment="center")
    with question:
        st.text(asked.question)
    with outcome:
        st.text(outcome_in_words(asked.decision))
    with again:
        current = session().asked is not None and session().asked.number == asked.number  # type: ignore[union-attr]
        st.button(
            say("history.show"), key=f"history_{asked.number}", type="tertiary", disabled=current, on_click=turns.bring_back, args=(asked,)
        )


def outcome_in_words(decision: Decision) -> str:
    """How a question ended, in one line: how sure its answer is, or in a sentence why there is none."""
    if not decision.answered:
        return tell("history.refused", why=why_refused(decision))
    if not decision.citations:
        return tell("history.own")
    probability = decision.scores["correctness"]
    if not probability:  # no calibration fits, so there is none
        return tell("history.answered")
    return tell("history.unsure" if unsure(decision, probability) else "history.sure", sure=sure_in_words(probability))
