"""How the page is served and opened: headers on every response, the library opened beside the page, texts in one
place.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path

import pytest
from page_kit import JOB_SECONDS, field, settle, texts
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from rag_core.entrypoints.http.crowds import Crowds
from rag_core.errors import InvalidInput, ModelUnavailable
from rag_core.library.library import AddReport
from rag_core.work import loading
from ui import serve
from ui.app import first_run, state
from ui.app.people import guard
from ui.app.texts import say, screen, tell


def test_given_the_server_when_any_address_is_asked_for_then_the_answer_lets_the_browser_load_nothing_foreign() -> None:
    async def page(scope: guard.Message, receive: guard.Receive, send: guard.Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"kept")]})
        await send({"type": "http.response.body", "body": b"page"})

    answer = TestClient(serve.SecurityHeaders(page)).get("/anything")

    assert answer.text == "page"
    assert answer.headers["x-own"] == "kept"
    policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert all("http" not in sources and "*" not in sources for sources in policy.values())
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_given_a_server_that_was_just_started_then_it_begins_with_the_samples_before_any_page_is_opened(
    empty_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    monkeypatch.setattr(first_run, "index_samples", lambda *_: begun.set() or AddReport())

    async def start() -> None:
        async with serve.warm(None):
            assert begun.wait(JOB_SECONDS)

    asyncio.run(start())

    assert len(state.runner().shared) == 1


def test_given_a_server_that_has_begun_then_no_collection_of_garbage_looks_at_what_it_has_opened(library: Path) -> None:
    serve._begin()

    engine = loading.engine(library, first_run.start_collection(library), state.base_settings())
    assert gc.is_tracked(engine)
    assert id(engine) not in {id(one) for one in gc.get_objects()}  # has none that are kept for good


def test_given_an_address_that_other_machines_reach_when_nobody_signs_in_then_the_page_is_not_served(
    empty_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start() -> None:
        async with serve.alone(None):
            pass

    for address in ("0.0.0.0", "::", "192.0.2.1", "", None):
        monkeypatch.setattr(serve.st, "get_option", lambda name, address=address: address)
        with pytest.raises(InvalidInput, match="other machines"):
            asyncio.run(start())
    monkeypatch.setattr(serve, "_begin", lambda: None)
    for address in ("127.0.0.1", "::1", "localhost"):
        monkeypatch.setattr(serve.st, "get_option", lambda name, address=address: address)
        asyncio.run(start())


def test_given_a_library_that_takes_long_to_open_when_the_page_is_opened_then_it_says_so_and_then_goes_on(
    library: Path, app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_open, build = threading.Event(), loading.open_engine

    def slow(*given: object, apart: bool) -> Engine:
        may_open.wait(JOB_SECONDS)
        return build(*given, apart=apart)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "open_engine", slow)
    monkeypatch.setattr(loading, "PATIENCE_SECONDS", 0.0)

    app.run()

    assert [note.value for note in app.info] == [say("frame.opening")]
    assert app.chat_input == []
    assert field(app, "knob_top_k").value == 10  # settings can be looked at meanwhile
    may_open.set()
    monkeypatch.setattr(loading, "PATIENCE_SECONDS", JOB_SECONDS)
    settle(app)
    assert app.chat_input(key="question").disabled is False


def test_given_a_library_that_cannot_be_opened_when_tried_again_then_it_is_opened_anew(
    library: Path, app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = loading.open_engine

    def broken(*_: object, apart: bool) -> Engine:
        raise ModelUnavailable("The model is away.", remedy="Bring it back.")

    monkeypatch.setattr(loading, "open_engine", broken)
    serve._begin()  # which leaves it to the page to say
    app.run()
    assert "The model is away." in texts(app)
    assert "What to do: Bring it back." in texts(app)

    monkeypatch.setattr(loading, "open_engine", build)
    app.button(key="try_again").click().run()

    assert "The model is away." not in texts(app)
    assert app.chat_input(key="question").disabled is False


def test_given_many_collections_when_opened_then_only_the_latest_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built = []
    monkeypatch.setattr(loading, "open_engine", lambda folder, collection, settings, apart: built.append(collection))
    loading.forget()

    for number in (*range(loading.MAX_COUNT + 1), 0):
        assert loading.opening(tmp_path, f"n{number}", None).wait(JOB_SECONDS)  # type: ignore[arg-type]

    assert built == [*(f"n{number}" for number in range(loading.MAX_COUNT + 1)), "n0"]
    loading.forget()


def test_given_texts_of_the_screens_then_each_says_something_and_takes_numbers_only() -> None:
    with pytest.raises(TypeError, match="must be a number"):
        say("turns.older", n="[x](http://203.0.113.9)")  # type: ignore[arg-type]

    assert tell("turns.older", n=3) == say("turns.older", n=3)

    assert len(screen()) > 10
    assert [key for key, text in screen().items() if not isinstance(text, str) or not text.strip()] == []


def test_given_any_mode_when_the_page_is_served_then_its_addresses_are_counted() -> None:
    """Before anything reads who comes, and behind what gives a refusal its headers."""
    for proxied in (False, True):
        assert [one.cls for one in serve.guards(proxied=proxied)].index(Crowds) == 1
