"""The way in for strangers, and who is here, with the way out: people who signed in, and on a shared demo visitors, who
see what becomes of their documents and can end the visit.

What a person may do is decided in `visitor`.
"""

from __future__ import annotations

import streamlit as st

from rag_core.errors import InvalidSetting
from rag_core.service.people import Person, Right
from rag_core.service.visits import MAX_HOURS
from ui.app import state
from ui.app.elements import button
from ui.app.people import visitor
from ui.app.texts import say, show_error, tell

_LAST = "visit"  # in the session: the visit that it belongs to


def let_in() -> bool:
    """Whether the visitor may use the page; shows what is missing where not."""
    if visitor.visits():
        return _has_visit()
    if not visitor.must_sign_in():
        return True
    try:
        person = visitor.at_page()
    except InvalidSetting as error:
        _show_title()
        show_error(error)
        return False
    if person is not None and person.may_ask:
        return True
    _show_title()
    if person is None:
        st.write(say("sign_in.about"))
        if button("sign_in.enter", "sign_in", type="primary", icon="login"):
            st.login()
    else:
        st.warning(say("sign_in.no_role"), icon=":material/lock:")
        st.text(tell("sign_in.as", name=person.shown))
        _offer_exit()
    return False


def show_person() -> None:
    """Who signed in, or the visit, in a folded field with the way out; nothing where nobody has to sign in."""
    if visitor.visits():
        _show_visit()
    elif visitor.must_sign_in() and (person := visitor.at_page()) is not None:
        with st.popover(say("sign_in.account"), icon=":material/account_circle:", key="account"):
            _show_rights(person)
            _offer_exit()


def _show_title() -> None:
    st.title(say("sign_in.title"), anchor=False)


def _show_rights(person: Person) -> None:
    st.text(tell("sign_in.as", name=person.shown))
    st.text(tell("sign_in.roles", roles=", ".join(person.roles) or tell("sign_in.none")))
    st.caption(say("sign_in.rights"))
    rights = person.rights_in(state.session().collection)
    st.text("\n".join(tell(f"sign_in.right_{right}") for right in Right if right in rights))


def _offer_exit() -> None:
    if button("sign_in.leave", "sign_out", icon="logout"):
        st.logout()


def _has_visit() -> bool:
    """Whether this run's visitor has a visit. What a session held of an earlier visit is forgotten."""
    visit, before = visitor.visit_at_page(), st.session_state.get(_LAST)
    if before is not None and (visit is None or visit.collection != before):
        if state.SESSION in st.session_state:
            state.session().cancel()
        st.session_state.clear()
    if visit is not None:
        st.session_state[_LAST] = visit.collection
        return True
    _show_title()
    if before is not None or visitor.had_visit():
        st.info(say("visiting.over"), icon=":material/waving_hand:")
    else:
        st.info(say("visiting.no_room"), icon=":material/group:")
    # a button of Streamlit's would open another tab; the page's style sheet is not here
    st.html(say("visiting.again_link"))
    return False


def _show_visit() -> None:
    taken, visit = visitor.visits(), visitor.visit_at_page()
    if taken is None or visit is None:
        return
    with st.popover(say("visiting.account"), icon=":material/account_circle:", key="visit_about"):
        st.write(say("visiting.about"))
        st.caption(say("visiting.ends", minutes=round(taken.minutes), hours=round(MAX_HOURS)))
        if not visit.may_add:
            st.warning(say("visiting.full"), icon=":material/group:")
        if button("visiting.end", "end_visit", icon="delete", help="visiting.end_help"):
            taken.end(visit)
            st.rerun()
