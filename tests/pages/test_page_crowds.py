"""What comes before the page: a visit's cookie, which nobody else can leave, and the shares of addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core.entrypoints.http.crowds import Crowds
from rag_core.entrypoints.http.origin import Message, Receive, Send
from rag_core.service.visits import Visits
from ui.app.people import visitor
from ui.app.people.guard import NewVisits
from ui.serve import guards

TLS, PLAIN = "https", "http"


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Visits]:
    """The visits of a shared demo."""
    found = Visits(tmp_path, "samples")
    visitor.take_visitors(found)
    yield found
    visitor.take_visitors(None)


async def _page(scope: Message, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b""})


def opened(scheme: str, cookie: str = "") -> str:
    """The cookie that a browser gets that opens the page; "" for none."""
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    headers = [(b"accept", b"text/html"), *([(b"cookie", cookie.encode())] if cookie else [])]
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "scheme": scheme,
        "headers": headers,
        "client": ("192.0.2.1", 1),
    }
    asyncio.run(NewVisits(_page)(scope, None, send))  # type: ignore[arg-type]
    return next((value.decode() for name, value in said[0]["headers"] if name == b"set-cookie"), "")


def test_given_tls_when_a_browser_comes_then_its_cookie_has_a_name_that_only_this_host_can_leave(
    visits: Visits,
) -> None:
    safe, plain = opened(TLS), opened(PLAIN)

    assert safe.startswith("__Host-plumbline_visit=")
    assert "; Secure" in safe
    assert "; Path=/;" in safe
    assert "Domain" not in safe
    assert plain.startswith("plumbline_visit=")
    assert "Secure" not in plain
    assert opened(TLS, safe.partition(";")[0]) == opened(PLAIN, plain.partition(";")[0]) == ""


def test_given_a_visit_that_somebody_else_began_or_an_odd_cookie_when_it_comes_then_it_opens_nothing(
    visits: Visits,
) -> None:
    token = opened(TLS).partition("=")[2].partition(";")[0]
    program = visits.begin("192.0.2.9")[1]

    for planted in (token, program):
        cookie = f"plumbline_visit={planted}"
        assert visitor.visit_of({"plumbline_visit": planted}) is None
        assert opened(TLS, cookie).startswith("__Host-"), "they get a visit of their own"
    assert visitor.visit_of({"__Host-plumbline_visit": program}) is None
    own = visitor.visit_of({"plumbline_visit": program, "__Host-plumbline_visit": token})
    assert own is not None
    assert own == visits.find(token)

    for odd in ("", "x", "a" * 10_000, "\udcff", "a\x00b", '"', "visit-" + "0" * 32):
        assert visitor.visit_of({"plumbline_visit": odd, "__Host-plumbline_visit": odd}) is None


def test_given_any_mode_when_the_page_is_served_then_its_addresses_are_counted() -> None:
    """Before anything reads who comes, and behind what gives a refusal its headers."""
    for proxied in (False, True):
        assert [one.cls for one in guards(proxied=proxied)].index(Crowds) == 1
