"""Visits of a shared demo on the page: a browser gets its cookie, a visitor sees what becomes of their documents and
can end the visit.
"""

from __future__ import annotations

import streamlit as st
from starlette.requests import Request

from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send, client_of, headers
from rag_core.errors import RagError
from rag_core.service.visits import MAX_HOURS
from ui.app import state
from ui.app.people import visitor
from ui.app.texts import say

_LAST = "visit"  # in the session: the visit that it belongs to
HTML = "text/html"
OK, UNCHANGED = 200, 304  # HTTP statuses


class NewVisits:
    """Begins a visit for a browser that opens the page without one, and leaves it its token in a cookie that no script
    can read.
    """

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        taken = visitor.visits()
        if (
            taken is None
            or scope["type"] != "http"
            or scope["method"] != "GET"
            or visitor.visit_of(Request(scope).cookies)
        ):
            await self._app(scope, receive, send)
            return

        browses = any(HTML in one for one in headers(scope, b"accept"))

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message, browses=browses):
                secure = scope.get("scheme") == "https"
                name = visitor.SAFE_COOKIE if secure else visitor.COOKIE
                try:
                    _, token = taken.begin(client_of(scope), name)
                except RagError:
                    pass  # no room: the page says so to whoever has no visit
                else:
                    cookie = (
                        f"{name}={token}; Path=/; HttpOnly; SameSite=Lax; "
                        f"Max-Age={MAX_HOURS * 3600:.0f}{'; Secure' if secure else ''}"
                    )
                    kept = [(name, value) for name, value in message["headers"] if name.lower() != b"cache-control"]
                    message["headers"] = [
                        *kept,
                        (b"cache-control", b"no-store"),
                        (b"set-cookie", cookie.encode("ascii")),
                    ]
            await send(message)

        await self._app(scope, receive, with_cookie)


def _is_page(message: Message, *, browses: bool) -> bool:
    """Whether a response is the page's own; a browser that has it already is told so by a status, without a type."""
    found = any(one.startswith(HTML) for one in headers(message, b"content-type"))
    return (message["status"] == OK and found) or (message["status"] == UNCHANGED and browses)


def let_in() -> bool:
    """Whether this run's visitor has a visit; says that it is over where not.

    What a session held of an earlier visit is forgotten.
    """
    visit = visitor.visit_at_page()
    before = st.session_state.get(_LAST)
    if before is not None and (visit is None or visit.collection != before):
        if state.SESSION in st.session_state:
            state.session().cancel()
        st.session_state.clear()
    if visit is None:
        _show_end(knew=before is not None or visitor.had_visit())
        return False
    st.session_state[_LAST] = visit.collection
    return True


def show() -> None:
    """Show a folded field: it says when the visitor's documents are deleted, and ends the visit."""
    taken, visit = visitor.visits(), visitor.visit_at_page()
    if taken is None or visit is None:
        return
    with st.popover(say("visiting.account"), icon=":material/account_circle:", key="visit_about"):
        st.write(say("visiting.about"))
        st.caption(say("visiting.ends", minutes=round(taken.minutes), hours=round(MAX_HOURS)))
        if not visit.may_add:
            st.warning(say("visiting.full"), icon=":material/group:")
        if st.button(say("visiting.end"), key="end_visit", icon=":material/delete:", help=say("visiting.end_help")):
            taken.end(visit)
            st.rerun()


def _show_end(*, knew: bool) -> None:
    """Say that a visit is over, or that none could be begun."""
    st.title(say("sign_in.title"), anchor=False)
    if knew:
        st.info(say("visiting.over"), icon=":material/waving_hand:")
    else:
        st.info(say("visiting.no_room"), icon=":material/group:")
    # a button of Streamlit's would open another tab; the page's style sheet is not here
    st.html(say("visiting.again_link"))
