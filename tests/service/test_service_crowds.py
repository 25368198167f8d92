"""One address cannot end the service for all: idle connections, slow heads, web sockets and calls, by real sockets."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from urllib.error import HTTPError

import httpx2
import pytest
from service_kit import Server, listening
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from rag_core.entrypoints.commands import serve
from rag_core.entrypoints.http import crowds
from rag_core.entrypoints.http.app import MAX_BODY_BYTES
from rag_core.entrypoints.http.crowds import Crowds
from rag_core.entrypoints.http.origin import Message, Receive, Send

HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"  # both are this machine's
HEAD, END = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"\r\n"


@contextmanager
def connected(address: str, count: int, said: bytes = b"", source: str = HERE) -> Iterator[list[socket.socket]]:
    """So many connections, each of which has said this much."""
    host, port = address.removeprefix("http://").split(":")
    with ExitStack() as closing:
        found = []
        for _ in range(count):
            one = socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0))
            found.append(closing.enter_context(one))
            one.sendall(said)
        yield found


def is_open(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def still_open(found: list[socket.socket], most: int) -> int:
    """How many are open, once they are `most` at the latest."""
    deadline = time.monotonic() + 10
    while (left := sum(map(is_open, found))) > most and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


@pytest.mark.parametrize("said", [b"", HEAD + b"X-A: "])
def test_given_many_connections_without_a_request_then_the_oldest_give_way(server, monkeypatch, said):
    """Of the address that has most of them: others keep theirs."""
    monkeypatch.setattr(crowds, "MAX_WAITING", 20)
    with connected(server.address, 1, HEAD, ELSEWHERE) as (other,), connected(server.address, 120, said) as many:
        assert httpx2.get(f"{server.address}/healthz").status_code == 200
        assert 10 < still_open(many, 19) < 20
        assert not any(map(is_open, many[:50]))
        other.setblocking(True)
        other.sendall(END)
        assert other.recv(100).startswith(b"HTTP/1.1 200 ")


def test_given_a_head_that_drips_then_the_connection_is_closed_also_the_second_one_of_a_connection(monkeypatch):
    monkeypatch.setattr(serve, "KEEP_ALIVE_SECONDS", 0.5)

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lives(receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    with listening(app) as address, connected(address, 1) as (fresh,), connected(address, 1, HEAD + END) as (used,):
        assert used.recv(1000).startswith(b"HTTP/1.1 200 ")
        began = time.monotonic()
        for one in (fresh, used):
            one.sendall(HEAD)
        while {one for one in (fresh, used) if is_open(one)} and time.monotonic() < began + 10:
            for one in (fresh, used):
                with suppress(OSError):
                    one.send(b"x")
            time.sleep(0.05)
    assert time.monotonic() < began + 5


async def lives(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a page whose address may hold two web sockets and two calls, of three in all; `/held` waits."""
    for name, value in (("MAX_SOCKETS", 3), ("SOCKETS_EACH", 2), ("MAX_CALLS", 3), ("CALLS_EACH", 2)):
        monkeypatch.setattr(crowds, name, value)
    go = threading.Event()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lives(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await receive()
        else:
            while scope["path"] == "/held" and not go.is_set():
                await asyncio.sleep(0.01)
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

    with listening(Crowds(app)) as address:
        yield address
        go.set()


def test_given_an_address_with_its_share_of_pages_when_it_opens_more_then_they_are_refused_and_nothing_else_is(page):
    def opened(source: str) -> ClientConnection:
        return connect(page.replace("http", "ws"), source_address=(source, 0), proxy=None)

    with opened(HERE) as first, opened(HERE):
        with pytest.raises(InvalidStatus, match="403"), opened(HERE):
            pass
        assert httpx2.get(page).status_code == 200
        # in all there are three
        with opened(ELSEWHERE), pytest.raises(InvalidStatus, match="403"), opened("127.0.0.3"):
            pass
        first.close()
        deadline, again = time.monotonic() + 10, False
        while not again and time.monotonic() < deadline:
            with suppress(InvalidStatus), opened(HERE):
                again = True
    assert again, "a closed one frees its place"


def test_given_an_address_with_its_share_of_calls_when_it_makes_more_then_they_are_problems_and_others_are_served(page):
    held = b"GET /held HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

    def asked(source: str) -> Any:
        with httpx2.Client(transport=httpx2.HTTPTransport(local_address=source)) as client:
            return client.get(page)

    with connected(page, 2, held):
        deadline = time.monotonic() + 10
        while (refused := asked(HERE)).status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (refused.status_code, refused.json()["kind"]) == (429, "ShareTaken")
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) > 0
        assert asked(ELSEWHERE).status_code == 200
        with connected(page, 1, held, ELSEWHERE):
            while (full := asked("127.0.0.3")).status_code == 200 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert full.status_code == 503


def test_given_a_network_of_one_customer_then_its_addresses_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowds, "CALLS_EACH", 1)
    said: list[int] = []

    async def send(message: Message) -> None:
        said.extend([message["status"]] if "status" in message else [])

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await guarded({**scope, "client": ("2001:db8::2", 1)}, receive, send)
        await guarded({**scope, "client": ("2001:db8:1::2", 1), "path": "/other"}, receive, send)

    async def outer(scope: Message, receive: Receive, send: Send) -> None:
        await (send({"type": "http.response.start", "status": 200}) if "path" in scope else app(scope, receive, send))

    guarded = Crowds(outer)
    asyncio.run(guarded({"type": "http", "headers": [], "client": ("2001:db8::1", 1)}, None, send))  # type: ignore[arg-type]
    assert said == [429, 200]


def test_given_a_body_of_25_mib_when_a_client_sends_all_of_it_then_it_reads_why_it_was_refused(server: Server) -> None:
    with server.client("admin") as client:
        for path in ("/api/rag/query", "/api/rag/index", "/v1/chat/completions", "/mcp"):
            answer = client.post(path, content=b" " * (25 << 20), headers={"content-type": "application/json"})
            assert (answer.status_code, answer.json()["title"]) == (413, "Request Entity Too Large"), path
            assert f"{MAX_BODY_BYTES:,}" in answer.json()["detail"]
    # a client that reads nothing before it has sent everything
    headers = {"authorization": f"Bearer {server.tokens['admin']}", "content-type": "application/json"}
    asked = urllib.request.Request(f"{server.address}/api/rag/query", b" " * (25 << 20), headers)
    with pytest.raises(HTTPError) as refused:
        urllib.request.urlopen(asked, timeout=60)
    assert json.load(refused.value)["status"] == 413


def test_given_an_address_with_its_share_then_it_is_refused_before_it_is_asked_who_calls(server, monkeypatch):
    monkeypatch.setattr(crowds, "CALLS_EACH", 0)
    from rag_core.entrypoints.http.app import api, guarded

    with listening(guarded(api(server.service), ("127.0.0.1",), server.service)) as address:
        refused = httpx2.get(f"{address}/api/collections")
    assert (refused.status_code, refused.headers["x-frame-options"]) == (429, "DENY")
