"""A link to one kept decision, `?decision=7`: whoever can open the collection sees it as it was decided, and nobody
else.

Documents may have changed since: the question is judged from its record and not asked again. Texts of deleted documents
are gone.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st

from rag_core.decision.decide import decide
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.work.recording import passage_of
from ui.app import state
from ui.app.asked import Asked
from ui.app.people import recording
from ui.app.scope import Scope
from ui.app.texts import say, show_error
from ui.ask import export
from ui.settings.sharing import address

MAX_DIGITS = 15  # a decision's number counts from 1
_PROBLEM, _SHOWN = "link_problem", "link_shown"


def open_linked(engine: Engine) -> None:
    """Put the decision that the address names on the page, once, under its own settings; what cannot be shown says
    why.
    """
    session = state.session()
    this = (session.collection, session.linked)
    if session.linked and st.session_state.get(_SHOWN) != this:
        st.session_state[_SHOWN] = this
        try:
            asked = read(engine, session.linked)
        except RagError as error:
            st.session_state[_PROBLEM] = error
            session.leave_link()
        else:
            session.show(asked)
            session.taking = asked.settings
            st.rerun()
    problem = st.session_state.pop(_PROBLEM, None)
    if problem is not None:
        show_error(problem)


def read(engine: Engine, number: str) -> Asked:
    """A kept decision of this collection, judged as it was.

    Raises:
        RagError: there is none with this number, or it cannot be read.
    """
    if not (number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
        raise InvalidInput("The address names no decision.", remedy="Ask for the link again.")
    snapshot = engine.library.view
    measurements = recording.store().measurements(int(number), snapshot.page_text, passage_of(snapshot))
    collection = state.session().collection
    return Asked(
        measurements.question,
        Scope(),
        measurements,
        decide(measurements),
        measurements.settings,
        collection=collection,
        record=int(number),
        kept=True,
        turn=int(number),
    )


def show_share(engine: Engine, asked: Asked) -> None:
    """A button that opens the decision's link, once it is kept, and its files."""
    with st.popover(say("export.link"), icon=":material/share:", type="tertiary", key="share"):
        export.offer(engine, asked)
        if asked.record is None:
            st.button(say("export.link_make"), key="make_link", icon=":material/link:", on_click=_keep, args=(asked,))
        else:
            st.caption(say("export.link_about"))
            page = st.context.url or ""
            st.code(address(page, asked.collection, asked.record), language=None, wrap_lines=True)
            if only_here(page):
                st.caption(say("export.link_local"))
        session = state.session()
        if len(every := [one for one in session.history if one.collection == session.collection]) > 1:
            export.offer_all(every)


def only_here(page: str) -> bool:
    """Whether the page's own address leads to the computer that opens it, whoever that is."""
    host = urlsplit(page).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost" or host.endswith(".localhost")


def _keep(asked: Asked) -> None:
    try:
        asked.record = recording.keep(asked, origin="link")
    except RagError as error:
        st.session_state[_PROBLEM] = error
