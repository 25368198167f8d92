"""The way in for strangers, and who is here, with the way out.

What a person may do is decided in `visitor`.
"""

from __future__ import annotations

import streamlit as st

from rag_core.errors import InvalidSetting
from rag_core.service.people import Person, Right
from ui.app import state
from ui.app.elements import button
from ui.app.people import visitor
from ui.app.texts import say, show_error, tell


def let_in() -> bool:
    """Whether the visitor may use the page; shows what is missing where not."""
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
    """Who signed in, in a folded field with the way out; nothing where nobody has to sign in."""
    if visitor.must_sign_in() and (person := visitor.at_page()) is not None:
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
