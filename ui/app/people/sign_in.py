"""The way to sign in, for strangers; and who signed in, with the way out. What a person may do is decided in `visitor`."""

from __future__ import annotations

import streamlit as st

from rag_core.errors import InvalidSetting
from rag_core.service.callers.people import Person, Right
from ui.app import state
from ui.app.people import visiting, visitor
from ui.app.problems import show_error
from ui.app.texts import say, tell


def let_in() -> bool:
    """Whether the visitor may use the page; shows what is missing where not."""
    if visitor.visits():
        return visiting.let_in()
    if not visitor.must_sign_in():
        return True
    try:
        person = visitor.at_page()
    except InvalidSetting as error:
        st.title(say("sign_in.title"), anchor=False)
        show_error(error)
        return False
    if person is None:
        _show_door()
        return False
    if not person.may_ask:
        st.title(say("sign_in.title"), anchor=False)
        st.warning(say("sign_in.no_role"), icon=":material/lock:")
        st.text(tell("sign_in.as", name=person.shown))
        _offer_exit()
        return False
    return True


def show_person() -> None:
    """Who signed in, in a folded field with the way out; nothing where nobody has to."""
    if not visitor.must_sign_in():
        return
    person = visitor.at_page()
    if person is not None:
        with st.popover(say("sign_in.account"), icon=":material/account_circle:", key="account"):
            _show_rights(person)
            _offer_exit()


def _show_door() -> None:
    st.title(say("sign_in.title"), anchor=False)
    st.write(say("sign_in.about"))
    if st.button(say("sign_in.enter"), key="sign_in", type="primary", icon=":material/login:"):
        st.login()


def _show_rights(person: Person) -> None:
    st.text(tell("sign_in.as", name=person.shown))
    st.text(tell("sign_in.roles", roles=", ".join(person.roles) or tell("sign_in.none")))
    st.caption(say("sign_in.rights"))
    st.text("\n".join(tell(f"sign_in.right_{right}") for right in Right if right in person.rights_in(state.session().collection)))


def _offer_exit() -> None:
    if st.button(say("sign_in.leave"), key="sign_out", icon=":material/logout:"):
        st.logout()
