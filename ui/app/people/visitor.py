"""Whoever is at the page: this machine, as long as nobody can sign in; else a person who signed in, with the rights of
their roles.

It is asked wherever something is read or done (`rag_core.domain.acts.permit`), so that no button has to remember it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from rag_core.domain.acts import Action, Actor, actor, acts_by_default
from rag_core.errors import InvalidSetting
from rag_core.service.people import ACTS, People, Person, Right, access_file
from rag_core.settings.login import CALLBACK, Login, login
from ui.app import state

PAGE = Actor("page")  # everybody at this machine, and the program itself
NOBODY = Actor("nobody", frozenset())


@cache
def configured() -> Login | None:
    """How people sign in, as it was when the page was started; None where they cannot, and this machine alone may
    connect.

    Raises:
        InvalidSetting: what is configured cannot be used. Nobody may enter then.
    """
    return login(os.environ)


def can_sign_in() -> bool:
    """Whether the page has a login that can be used."""
    try:
        return configured() is not None
    except InvalidSetting:
        return False


def for_streamlit() -> dict[str, Any] | None:
    """The login as Streamlit takes it; None where there is none that can be used."""
    known = configured() if can_sign_in() else None
    return {"auth": dict(known.section)} if known else None


def must_sign_in() -> bool:
    """Whether a visitor has to: also where the login cannot be used, and so nobody can."""
    try:
        return configured() is not None
    except InvalidSetting:
        return True


def person(claims: Mapping[str, Any]) -> Person | None:
    """Whoever signed in with these claims; None for nobody.

    Raises:
        InvalidSetting: the login or the roles cannot be read.
    """
    known = configured()
    if known is None or claims.get("is_logged_in") is not True:
        return None
    return _people(str(access_file(state.library_folder()))).person(claims, known.client_id)


def at_page() -> Person | None:
    """The person of this run of the page; raises as `person`."""
    context = get_script_run_ctx()
    return person(context.user_info) if context is not None else None


def who() -> Actor:
    """Who acts where nobody else says so: in a run of the page its visitor, elsewhere the program itself."""
    try:
        if get_script_run_ctx(suppress_warning=True) is None:  # a thread of the service, in each of its calls
            return PAGE
        return PAGE if configured() is None else _actor_of(at_page())
    except InvalidSetting:
        return NOBODY


def may(right: Right) -> bool:
    """Whether a right is the visitor's: for what the page offers. What it does is looked at where it is done."""
    return may_in(right, state.session().collection)


def may_in(right: Right, collection: str) -> bool:
    """Whether a right is the visitor's in a collection."""
    who = actor()
    return all(who.is_open(action, collection) for action in ACTS[right])


def may_do(action: Action) -> bool:
    """Whether an act is the visitor's in the collection on the page."""
    return actor().is_open(action, state.session().collection)


def origin(place: str) -> str:
    """The name beside a kept question: its asker's where people sign in, else the place of the page."""
    return place if actor().may is None else actor().name


def of_request(cookies: Mapping[str, str]) -> Actor:
    """Who sends a request beside the page's web socket, by the cookie that the login left.

    Streamlit signs it; its origin is the one that the provider sends people back to.
    """
    try:
        known = configured()
        if known is None:
            return PAGE
        raw = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
        claims = json.loads(raw) if raw else {}
        ours = isinstance(claims, dict) and claims.get("origin") == known.redirect_uri.removesuffix(CALLBACK)
        return _actor_of(person(claims) if ours else None)
    except (InvalidSetting, ValueError):
        return NOBODY


def _actor_of(found: Person | None) -> Actor:
    return found.actor if found else NOBODY


@cache
def _people(path: str) -> People:
    return People(Path(path))


acts_by_default(who)  # in a process that serves the page
