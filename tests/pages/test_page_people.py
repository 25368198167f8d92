"""People who sign in on the page: what each role may do, tried by the page's own calls and not by its buttons alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from folding import each
from page_kit import another, ask, captions, keys_of_containers, submit, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.acts import Action, Actor, acting, actor
from rag_core.errors import NotAllowed, RagError
from rag_core.library.stored.sources import Source
from rag_core.records.stored import FeedbackKind, FeedbackState, SavedPreset
from rag_core.service.people import ACTS, Person, Right
from rag_core.service.principal import Unauthenticated
from rag_core.service.tokens import Tokens
from rag_core.wiring import act_log, make_collection, noting, records
from rag_core.work import loading
from ui.app import downloads, first_run, state
from ui.app.people import visitor
from ui.app.people.guard import SignedIn
from ui.app.texts import say
from ui.documents import original

SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:8501/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "plumbline"
client_secret = "a secret"
server_metadata_url = "http://127.0.0.1:9/.well-known/openid-configuration"
"""
UPLOAD = say("jobs.add")
ACCESS = """
others: ask
roles:
  editors: {may: [ask, upload, delete], addresses: [eda@example.org]}
  keepers: {may: [ask, upload, delete, thresholds, records], claims: {groups: [keepers]}}
"""


def claims(address: str, **more: Any) -> dict[str, Any]:
    """What an identity token says of somebody who signed in just now."""
    now = time.time()
    return {
        "is_logged_in": True,
        "sub": f"id-{address}",
        "aud": "plumbline",
        "iat": now,
        "email": address,
        "email_verified": True,
        **more,
    }


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page as one that people sign in to."""
    secrets, access = tmp_path / "secrets.toml", tmp_path / "access.yaml"
    secrets.write_text(SECRETS, encoding="utf-8")
    access.write_text(ACCESS, encoding="utf-8")
    monkeypatch.setenv("RAG_SECRETS", str(secrets))
    monkeypatch.setenv("RAG_ACCESS", str(access))
    visitor.configured.cache_clear()
    yield
    monkeypatch.undo()
    visitor.configured.cache_clear()


@pytest.fixture
def opened(login: None, library: Path, app: AppTest) -> Callable[..., AppTest]:
    """Opens the page as somebody."""

    def by(**user: Any) -> AppTest:
        app.user = user
        return app.run()

    return by


def in_role(*rights: Right) -> Any:
    """Within the block somebody with these rights acts."""
    return acting(Person("user:bea@example.org", "", (), frozenset(rights)).actor)


def test_given_nobody_signed_in_when_the_page_is_opened_then_it_shows_the_way_in_and_nothing_else(
    opened: Any, library: Path
) -> None:
    for user in (
        {},
        claims("a@example.org", is_logged_in=False),
        claims("a@example.org", aud="another"),
        claims("a@x.org", iat=1.0),
    ):
        page = opened(**user)

        assert [button.key for button in page.button] == ["sign_in"], user
        assert not page.chat_input
        assert not page.selectbox
        assert not page.sidebar.slider


def test_given_a_visitor_without_a_role_when_they_ask_then_it_is_answered_and_kept_under_their_name(
    opened: Any, library: Path
) -> None:
    page = opened(**claims("ann@example.org"))

    ask(page, "What is the rated pressure of the FM-200?")

    kept = records(library, "default").decisions(1)[0]
    assert kept.origin == "user:ann@example.org"
    assert [(entry.who, entry.action) for entry in act_log(library).entries()][-2:] == [
        (kept.origin, "ask"),
        (kept.origin, "keep"),
    ]
    assert page.button(key="sign_out")
    assert UPLOAD not in [field.label for field in page.file_uploader]


def test_given_no_rule_for_others_when_somebody_without_a_role_comes_then_they_may_do_nothing(
    opened: Any, tmp_path: Path, library: Path
) -> None:
    (tmp_path / "access.yaml").unlink()
    page = opened(**claims("ann@example.org"))

    assert [button.key for button in page.button] == ["sign_out"]
    assert say("sign_in.no_role") in [warning.value for warning in page.warning]

    (tmp_path / "access.yaml").write_text("roles: [", encoding="utf-8")
    page = opened(**claims("eda@example.org"))

    assert not page.chat_input
    assert "cannot be used" in texts(page)


def test_given_a_role_when_the_page_is_drawn_then_it_offers_what_the_role_may_do(opened: Any) -> None:
    page = opened(**claims("eda@example.org"))
    assert UPLOAD in [field.label for field in page.file_uploader]
    page.switch_page("pages/documents.py").run()
    assert any(button.label == say("documents.delete") for button in page.button)

    page = opened(**claims("ann@example.org"))
    page.switch_page("pages/documents.py").run()
    assert not any(button.label == say("documents.delete") for button in page.button)
    assert UPLOAD not in [field.label for field in page.file_uploader]


def test_given_files_that_have_the_names_of_samples_or_no_right_to_ask_then_no_question_about_the_samples_is_offered(
    monkeypatch: pytest.MonkeyPatch, page: AppTest
) -> None:
    """They were told apart by their names alone."""

    def offered() -> list[str]:
        return [button.key for button in page.run().button if str(button.key).startswith("example_")]

    assert offered()
    others = dict.fromkeys(first_run.sample_ids(), "sha256:0")
    with monkeypatch.context() as patch:
        patch.setattr("ui.app.first_run.sample_ids", lambda: others)
        assert offered() == []
    monkeypatch.setattr(visitor, "may", lambda right: right is not Right.ASK)
    assert offered() == []


def test_given_a_role_without_a_right_when_a_button_s_call_is_made_all_the_same_then_nothing_is_done(
    login: None, library: Path, page: AppTest
) -> None:
    engine = loading.engine(library, "default", state.base_settings())
    document, store = engine.library.snapshot.documents[0], records(library, "default")
    with acting("somebody else"):
        other = store.keep(
            engine.measure("What is the rated pressure of the FM-200?", state.base_settings()),
            origin="user:ann@example.org",
        )
        word = store.add_feedback(other, FeedbackKind.WRONG_ANSWER, "no")
    preset = SavedPreset("mine", {}, None, "2026-11-23T00:00:00+00:00")
    lines = len(list(act_log(library).entries()))
    tried: dict[Right, tuple[Callable[[], object], ...]] = {
        Right.ASK: (lambda: engine.ask("What is the rated pressure?", state.base_settings()),),
        Right.UPLOAD: (
            lambda: engine.library.add(
                [Source("a.txt", b"A text of its own, long enough.", "text")], state.base_settings()
            ),
            lambda: engine.library.set_metadata(document.id, document.metadata),
            lambda: engine.library.reread([document.id], state.base_settings()),
        ),
        Right.DELETE: (lambda: engine.library.delete(document.id), lambda: engine.library.erase(document.id)),
        Right.THRESHOLDS: (
            lambda: store.save_preset(preset),
            lambda: store.delete_preset("mine"),
            lambda: store.set_keeping(False),
            store.move_aside,
        ),
        Right.RECORDS: (
            lambda: store.decisions(5),
            lambda: store.stored(other),
            lambda: store.measurements(other),
            lambda: store.feedback(),
            lambda: store.forget_decision(other),
            lambda: store.amend(word, "yes"),
            lambda: store.take_back(word),
            lambda: store.settle(word, FeedbackState.DISMISSED),
            lambda: store.add_feedback(other, FeedbackKind.HELPFUL),
            store.sets,
            store.runs,
            lambda: store.write_set("a", ()),
            lambda: store.delete_run(1),
            store.executions,
        ),
    }
    for right, calls in tried.items():
        for number, call in enumerate(calls):
            try:
                with in_role(*(one for one in Right if one is not right)):
                    call()
            except NotAllowed:
                continue
            pytest.fail(f"{right}, call {number}, was made")

    assert len(list(act_log(library).entries())) == lines
    assert document.id in {one.id for one in engine.library.snapshot.documents}
    assert store.presets() == ()
    assert store.keeping() is None
    assert [said.comment for said in store.feedback()] == ["no"]
    with in_role(Right.RECORDS, Right.ASK):
        assert store.measurements(other).question
        store.forget_decision(other)


def test_given_the_right_to_tokens_when_the_settings_are_opened_then_one_is_made_shown_once_used_and_revoked(
    opened: Any, tmp_path: Path, library: Path
) -> None:
    (tmp_path / "access.yaml").write_text(
        ACCESS + "  guards: {may: [ask, tokens], addresses: [gus@example.org]}\n"
        "  few: {may: [ask, tokens], addresses: [fay@example.org], collections: [default]}\n",
        encoding="utf-8",
    )
    for address in ("eda@example.org", "fay@example.org"):
        page = opened(**claims(address, groups=["keepers"]))
        page.switch_page("pages/settings.py").run()
        assert "access" not in keys_of_containers(page), address
    with in_role(*(right for right in Right if right is not Right.TOKENS)), pytest.raises(NotAllowed):
        Tokens(library).create("reports", ["ask"], ["*"])

    page = opened(**claims("gus@example.org"))
    page.switch_page("pages/settings.py").run()
    assert say("access.none") in captions(page)
    page.text_input(key="token_name").set_value("**Chat** [front](http://end)")
    page.multiselect(key="token_collections").set_value(["*"])
    page.number_input(key="token_people").set_value(20)
    submit(page, "token")
    text = page.code[0].value
    token, *others = Tokens(library).all()
    assert (others, token.people, token.scopes, token.collections) == ([], 20, ("ask",), ("*",))
    assert datetime.fromisoformat(token.expires) > datetime.now(UTC) + timedelta(days=89)
    row = table(page, "used").iloc[0]
    assert (row["name"], row["used"], row["state"]) == ("**Chat** [front](http://end)", "never", "valid")

    assert Tokens(library).principal(text).id == token.id
    page.run()
    assert not page.code
    assert table(page, "used").iloc[0]["used"] == Tokens(library).last_used(token.id)[:16].replace("T", " ")
    roles = table(page, "whose").set_index("role")
    assert roles.loc["keepers"].to_list() == [
        "ask, upload, delete, thresholds, records",
        "groups: keepers",
        "all collections",
    ]
    assert roles.loc["few", "collections"] == "default"

    page.button(key=f"ask_token_revoking_{token.id}").click().run()
    assert Tokens(library).principal(text)
    page.button(key=f"sure_token_revoking_{token.id}").click().run()
    with pytest.raises(Unauthenticated):
        Tokens(library).principal(text)
    assert table(page, "used").iloc[0]["state"] == "revoked"
    done = [(entry.who, entry.action, entry.object) for entry in act_log(library).entries()]
    assert done[-2:] == [("user:gus@example.org", f"{act}_token", token.id) for act in ("create", "revoke")]

    submit(page, "token")
    assert "cannot name a token" in texts(page)
    (library / "tokens.json").write_text("{", encoding="utf-8")
    assert "The file of tokens cannot be read" in texts(page.run())


def table(page: AppTest, column: str) -> Any:
    return next(one.value for one in page.dataframe if column in one.value.columns)


def apart(tmp_path: Path) -> None:
    """Ann has the collection `default`, and Bea `beta`; each may do everything there."""
    roles = "".join(
        f"  {name}: {{may: [ask, upload, delete, thresholds, records], addresses: [{name}@example.org], collections: "
        f"[{collection}]}}\n"
        for name, collection in (("ann", "default"), ("bea", "beta"))
    )
    (tmp_path / "access.yaml").write_text(f"roles:\n{roles}", encoding="utf-8")


def test_given_a_role_that_names_its_collection_when_the_page_is_opened_then_no_other_is_shown_or_opened(
    opened: Any, tmp_path: Path, library: Path
) -> None:
    apart(tmp_path)
    make_collection(library, "beta")
    page = opened(**claims("bea@example.org"))
    chosen = next(field for field in page.selectbox if field.label == say("collections.label"))
    assert (list(chosen.options), chosen.value) == (["beta"], "beta")
    assert UPLOAD in [field.label for field in page.file_uploader]
    assert "FM-200" not in texts(page)
    for parameters in ({"collection": "default"}, {"collection": "default", "decision": "1"}, {"decision": "1"}):
        page = another()
        page.user = claims("bea@example.org")
        page.query_params.update(parameters)
        page.run()
        assert page.session_state.plumbline.collection == "beta", parameters
        assert "FM-200" not in texts(page)
    page.session_state.plumbline.collection = (
        "default"  # however it came to be so: the next run moves it, and opens nothing
    )
    page.run()
    assert page.session_state.plumbline.collection == "beta"
    page = opened(**claims("ann@example.org"))
    assert page.session_state.plumbline.collection == "default"


def test_given_two_persons_with_a_collection_each_when_one_calls_for_the_other_s_then_nothing_is_read_or_done(
    login: None, tmp_path: Path, library: Path, page: AppTest
) -> None:
    """By the calls of the page, its lab, its links and its addresses, with what another has opened already."""
    apart(tmp_path)
    base = state.base_settings()
    with acting("somebody else"):
        make_collection(library, "beta")
        loading.engine(library, "beta", base).library.add(
            [Source("b.txt", b"The secret ingredient of the sauce is juniper.", "text")], base
        )
        held = {name: (loading.engine(library, name, base), records(library, name)) for name in ("default", "beta")}
        for engine, store in held.values():
            store.keep(engine.measure("What is the secret ingredient?", base), origin="user:ann@example.org")
    people = visitor._people(str(tmp_path / "access.yaml"))
    for name, own, other in (("ann", "default", "beta"), ("bea", "beta", "default")):
        who = people.person(claims(f"{name}@example.org"), "plumbline")
        engine, store = held[other]
        document = engine.library.snapshot.documents[0].id
        calls: tuple[Callable[[], object], ...] = (
            lambda other=other: loading.engine(library, other, base),
            lambda other=other: loading.opening(library, other, base),
            lambda other=other: records(library, other),
            lambda: make_collection(library, "gamma"),
            lambda engine=engine: engine.ask("What is the secret ingredient?", base),
            lambda engine=engine, document=document: engine.library.delete(document),
            lambda engine=engine, document=document: engine.library.erase(document),
            lambda engine=engine: engine.library.add(
                [Source("c.txt", b"A text of its own, long enough.", "text")], base
            ),
            lambda store=store: store.decisions(5),
            lambda store=store: store.stored(1),
            lambda store=store: store.measurements(1),
            store.feedback,
            store.sets,
            store.runs,
            store.executions,
            lambda store=store: store.set_keeping(False),
            store.move_aside,
            lambda store=store: store.add_feedback(1, FeedbackKind.HELPFUL),
            lambda other=other: noting(library, other)(Action.EXPORT, ("all",)),
        )
        with acting(who.actor):
            for number, call in enumerate(calls):
                try:
                    call()
                except NotAllowed:
                    continue
                pytest.fail(f"{name}, call {number}, was made")
            assert loading.known(library, other) is None
            assert original._read(other, document).status_code == 404
            assert records(library, own).decisions(5)
            assert loading.engine(library, own, base).ask("What is the rated pressure?", base)
        assert document in {one.id for one in engine.library.snapshot.documents}


def test_given_one_s_own_question_when_it_is_read_judged_or_taken_back_then_no_other_right_is_needed(
    login: None, library: Path, page: AppTest
) -> None:
    engine, store = loading.engine(library, "default", state.base_settings()), records(library, "default")
    measured = engine.measure("What is the rated pressure of the FM-200?", state.base_settings())
    with in_role(Right.ASK):
        own = store.keep(measured, origin=actor().name)
        word = store.add_feedback(own, FeedbackKind.WRONG_ANSWER)
        store.amend(word, "page 3")
        assert store.measurements(own).question == measured.question
        store.take_back(word)
        store.forget_decision(own)
        with pytest.raises(RagError, match="There is no stored question"):
            store.measurements(own)


def test_every_act_of_the_page_belongs_to_a_right() -> None:
    assert set(Action) == frozenset().union(*ACTS.values())


def test_given_a_login_that_cannot_be_read_when_the_page_is_opened_then_nobody_may_enter(
    login: None, library: Path, app: AppTest, tmp_path: Path
) -> None:
    (tmp_path / "secrets.toml").write_text("[auth", encoding="utf-8")
    visitor.configured.cache_clear()
    app.user = claims("eda@example.org")
    app.run()

    assert not app.chat_input
    assert "cannot be read" in texts(app)
    assert visitor.of_request({}).may == frozenset()


@each(
    ("scheme", "cookie", "sent"),
    [
        ("https", b"user=a; HttpOnly", b"user=a; HttpOnly; Secure"),
        ("https", b"user=a; secure; HttpOnly", b"user=a; secure; HttpOnly"),
        ("http", b"user=a; HttpOnly", b"user=a; HttpOnly"),  # on one machine, where a browser would not send it back
    ],
)
def test_given_people_who_sign_in_when_a_cookie_is_set_over_tls_then_browsers_send_it_over_tls_only(
    scheme: str, cookie: bytes, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitor, "must_sign_in", lambda: True)
    monkeypatch.setattr(visitor, "of_request", lambda cookies: Actor("user:eda@example.org"))
    monkeypatch.setitem(downloads._collections, ("a", "user:eda@example.org"), "default")
    for path in ("/oauth2callback", "/media/a.pdf"):
        messages: list[dict[str, Any]] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"Set-Cookie", cookie), (b"x-other", b"a")]}
            )
            await send({"type": "http.response.body", "body": b""})

        async def send(message: dict[str, Any], to: list[dict[str, Any]] = messages) -> None:
            to.append(message)

        asyncio.run(SignedIn(app)({"type": "http", "scheme": scheme, "path": path, "headers": []}, None, send))  # type: ignore[arg-type]

        assert messages[0]["headers"] == [(b"Set-Cookie", sent), (b"x-other", b"a")], path
