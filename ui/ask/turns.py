"""The questions of a session as a thread: each with how it ended, the one on the page in full, what was typed, and a
way to edit it.

The address names the turns that are kept, `?turns=3.4.7`, so that they survive a reload of the page; each is judged
from its record and not asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.rows import CELL
from rag_core.engine import Engine
from rag_core.errors import RagError
from ui.app import state
from ui.app.asked import Asked
from ui.app.elements import button, submit
from ui.app.texts import say, tell
from ui.ask import export
from ui.ask.refusal import outcome_in_words

SHOWN = 10  # turns before or after the one on the page; the session keeps more
YOU, DOCUMENTS = ":material/person:", ":material/menu_book:"  # who speaks
MAX_CHARS = 240  # that are shown of an answer in a turn that is not on the page


def around(asked: Asked) -> tuple[list[Asked], list[Asked]]:
    """The other turns of its collection, before and after it, oldest first."""
    others = [one for one in state.session().history if one.collection == asked.collection]
    return [one for one in others if one.number < asked.number], [one for one in others if one.number > asked.number]


def show_others(others: Sequence[Asked]) -> None:
    """Turns in short, each with a button that puts it on the page, decided and not asked again."""
    if len(others) > SHOWN:
        st.caption(say("turns.older", n=len(others) - SHOWN))
    for one in others[-SHOWN:]:
        with st.container(key=f"turn_{one.number}", gap=None):
            with st.chat_message("user", avatar=YOU):
                st.text(one.typed or one.question)
            with (
                st.chat_message("assistant", avatar=DOCUMENTS),
                st.container(horizontal=True, wrap=False, vertical_alignment="center"),
            ):
                decision = one.decision
                maybe = "" if decision.may_be is None else decision.places[0].excerpt
                said = (decision.answer if decision.answered else maybe).replace(CELL, " · ")
                shown = f"{said[:MAX_CHARS]}…" if len(said) > MAX_CHARS else said
                st.text("\n".join(filter(None, (shown, outcome_in_words(decision)))), width="stretch")
                button("turns.show", f"show_turn_{one.number}", bring_back, one, type="tertiary")


def show_question(asked: Asked) -> None:
    """The question as it was typed and, where it was rewritten, as it was asked, to edit; so can be one that nobody was
    sure of.
    """
    with st.chat_message("user", avatar=YOU), st.container(key="asked", gap="xsmall"):
        st.text(asked.typed or asked.question)
        if asked.typed:
            with st.container(horizontal=True, vertical_alignment="center", key="asked_as"):
                st.text(tell("turns.asked_as", question=asked.question), width="content")
                with st.popover(say("turns.edit"), icon=":material/edit:", type="tertiary", key="edit_question"):
                    _edit(asked, asked.question)
    if asked.suggestion:
        with st.container(border=True, key="suggestion"):
            st.caption(say("turns.unsure"))
            _edit(asked, asked.suggestion)


def resume(engine: Engine) -> None:
    """Take up the turns that the address names, once in the life of a tab; one that is gone is left out."""
    session, found = state.session(), []
    numbers, session.resuming = session.resuming, ()
    for number in numbers:
        with suppress(RagError):  # deleted since
            found.append(export.read(engine, number))
    for asked in found:
        session.show(asked)


def bring_back(asked: Asked) -> None:
    """Put a question of the session on the page again, as it was last decided."""
    asked.before = None
    state.session().asked = asked


def _edit(asked: Asked, text: str) -> None:
    key = f"whole_{asked.number}"
    with st.form(f"edit_{asked.number}", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(say("turns.whole"), text, key=key, max_chars=MAX_QUESTION_CHARS, label_visibility="collapsed")
            submit("turns.ask", "send", _ask, key, asked.typed or asked.question)


def _ask(key: str, typed: str) -> None:
    if whole := str(st.session_state.get(key, "")).strip():
        state.session().hold(whole, typed=typed)
