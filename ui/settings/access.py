"""Who may enter, for whoever may change it: the tokens of programs, made and revoked here, and the roles of people as
`access.yaml` gives them.

Names are untrusted: they are shown in cells, in options and as text, which Streamlit does not interpret.
"""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from rag_core.library.stored.named import collections
from rag_core.service.people import People, Right, Role, access_file
from rag_core.service.principal import EVERY, Scope
from rag_core.service.tokens import MAX_NAME_CHARS, Token, Tokens
from ui.app import state, tables
from ui.app.elements import kept_error, offer_deletion, remember, select, show_kept_error, shown_error, submit
from ui.app.people import visitor
from ui.app.texts import say, tell

MAX_DAYS, DAYS, MAX_PEOPLE = 3650, 90, 10_000  # ten years; a quarter, as docs/operate.md has it; a large company
IN_VIEW = 8  # rows of a table; a longer one scrolls
_MADE, _PROBLEM, _REVOKING = "token_made", "token_problem", "token_revoking"  # in the session


def show() -> None:
    """Tokens and roles, folded; nothing for whoever may not make tokens for all collections."""
    if not visitor.may_in(Right.TOKENS, ""):
        return
    with st.expander(say("access.title"), icon=":material/key:", key="access"):
        with shown_error():
            _show_tokens(Tokens(state.library_folder()))
        with shown_error():
            _show_roles()


def _show_tokens(tokens: Tokens) -> None:
    st.caption(say("access.about"))
    known, now = tokens.all(), datetime.now(UTC)
    if known:
        rows = [
            {
                "name": token.name,
                "id": token.id,
                "scopes": ", ".join(token.scopes),
                "collections": tell("access.every") if EVERY in token.collections else ", ".join(token.collections),
                "used": _minute(tokens.last_used(token.id)) or tell("access.never"),
                "expires": _minute(token.expires) or tell("access.never"),
                "state": tell(f"access.state_{token.state(now)}"),
            }
            for token in known
        ]
        tables.show(rows, "access.column_", "tokens", in_view=IN_VIEW, alt="access.tokens")
    else:
        st.caption(say("access.none"))
    if made := st.session_state.pop(_MADE, ""):
        st.caption(say("access.made"))
        st.code(made, language=None)
    _offer_creation(tokens)
    _offer_revocation(tokens, [token for token in known if token.is_valid(now)])
    show_kept_error(_PROBLEM)


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _offer_creation(tokens: Tokens) -> None:
    names = [EVERY, *sorted({state.session().collection, *collections(state.library_folder())})]
    with st.form(key="token", border=False, clear_on_submit=True):
        name = st.text_input(say("access.name"), key="token_name", max_chars=MAX_NAME_CHARS)
        scopes = st.multiselect(
            say("access.column_scopes"),
            [scope.value for scope in Scope],
            [Scope.ASK.value],
            format_func=lambda scope: say(f"access.scope_{scope}"),
            key="token_scopes",
        )
        within = st.multiselect(
            say("access.column_collections"),
            names,
            [state.session().collection],
            format_func=lambda name: say("access.every") if name == EVERY else name,
            key="token_collections",
        )
        days = st.number_input(say("access.days"), 0, MAX_DAYS, DAYS, key="token_days", help=say("access.days_help"))
        people = st.number_input(
            say("access.people"), 1, MAX_PEOPLE, 1, key="token_people", help=say("access.people_help")
        )
        if submit("access.create", "key"):
            with shown_error():
                st.session_state[_MADE] = tokens.create(name or "", scopes, within, int(days), int(people))[1]
                st.rerun()


def _offer_revocation(tokens: Tokens, valid: list[Token]) -> None:
    if not valid:
        return
    token = select("access.revoked", valid, "token_to_revoke", lambda one: f"{one.name} ({one.id})")
    warning = tell("access.revoke_warning", name=token.name)
    offer_deletion("access.revoke", f"{_REVOKING}_{token.id}", warning, "access.revoke_keep", _revoke, tokens, token.id)


def _revoke(tokens: Tokens, id: str) -> None:
    remember(f"{_REVOKING}_{id}", False)
    with kept_error(_PROBLEM):
        tokens.revoke(id)


def _show_roles() -> None:
    rules = People(access_file(state.library_folder())).rules()
    if not rules.roles:
        return
    st.caption(say("access.roles_about"))
    rows = [
        {
            "role": name,
            "may": ", ".join(right for right in Right if right in role.may),
            "whose": ", ".join([*sorted(role.addresses), *_claims(role)]),
            "collections": ", ".join(sorted(role.collections)) if role.collections else tell("access.every"),
        }
        for name, role in rules.roles.items()
    ]
    tables.show(rows, "access.column_", "roles", in_view=IN_VIEW, alt="access.roles")
    st.caption(say(f"access.others_{rules.others}"))


def _claims(role: Role) -> list[str]:
    return [f"{name}: {value}" for name, values in role.claims.items() for value in sorted(values)]
