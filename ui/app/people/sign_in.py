"""The way to sign in, for strangers; and who signed in, with the way out.

What a person may do is decided in `visitor`.
"""

from __future__ import annotations

import streamlit as st
from starlette.requests import Request

from rag_core.domain.acts import Action, acting
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send
from rag_core.errors import InvalidSetting
from rag_core.service.people import Person, Right
from ui.app import media, state
from ui.app.people import visiting, visitor
from ui.app.texts import say, show_error, tell


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
    st.text(
        "\n".join(
            tell(f"sign_in.right_{right}") for right in Right if right in person.rights_in(state.session().collection)
        )
    )


def _offer_exit() -> None:
    if st.button(say("sign_in.leave"), key="sign_out", icon=":material/logout:"):
        st.logout()


MEDIA = "media"
FOLDERS = frozenset({MEDIA, "original"})  # pictures and downloads; a document's PDF
UPLOADS = "upload_file"  # in an address of Streamlit's own; settings and labels are uploaded too
STRANGER = 401  # HTTP status: not authenticated
REFUSED = b"Sign in on the page first, or open it anew: a visit that is over opens nothing."
SECURE = b"; Secure"


class SignedIn:
    """Passes on what the visitor may have; web sockets, and requests for nothing of a library, pass untouched."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not visitor.is_known_by_cookie():
            await self._app(scope, receive, send)
            return

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start" and scope.get("scheme") == "https":
                message["headers"] = [
                    (name, _secure(value) if name.lower() == b"set-cookie" else value)
                    for name, value in message["headers"]
                ]
            await send(message)

        parts = [part for part in scope["path"].split("/") if part]
        if not (FOLDERS & set(parts[:1])) and UPLOADS not in parts:
            await self._app(scope, receive, secured)
            return
        who = visitor.of_request(Request(scope).cookies)
        if not who.may_somewhere(Action.ASK) or (parts[0] == MEDIA and not media.is_theirs(parts[-1], who)):
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(REFUSED)).encode())]
            await send({"type": "http.response.start", "status": STRANGER, "headers": headers})
            await send({"type": "http.response.body", "body": REFUSED})
            return
        with acting(who):
            await self._app(scope, receive, secured)


def _secure(cookie: bytes) -> bytes:
    """A cookie that browsers send over TLS only."""
    return cookie if SECURE.lower() in cookie.lower() else cookie + SECURE
