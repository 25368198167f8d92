"""A page of another port of this machine, in a real Chromium: nothing of ours answers it, and our own page speaks to
nobody else.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import WAIT_MS, free_port, require_only_this_page, served
from playwright.sync_api import Browser, expect

from ui.app.texts import say

AS_STREAMLIT = ("streamlit", "run", "app.py", "--server.port")
# every way for a page to reach another origin that needs no permission; what came back, by way
REACH = """async address => {
    const socket = (path, name) => new Promise(done => {
        const opened = new WebSocket(address.replace('http', 'ws') + path, name);
        opened.onopen = () => done('open'); opened.onerror = () => done('refused');
    });
    const loaded = (tag, path) => new Promise(done => {
        const made = document.createElement(tag);
        made.onload = () => done('loaded'); made.onerror = () => done('refused');
        made.src = address + path; document.body.append(made);
    });
    const asked = (path, how) => fetch(address + path, how).then(answer => answer.type + answer.status, () => 'refused');
    const body = new FormData(); body.append('file', new Blob(['%PDF-1.7']), 'a.pdf');
    return {
        socket: await socket('_stcore/stream'), named: await socket('_stcore/stream', ['streamlit']),
        read: await asked('_stcore/health', {}), sent: await asked('_stcore/upload_file/a/b', {method: 'PUT', body}),
        cookie: await asked('_stcore/health', {credentials: 'include'}),
        image: await loaded('img', 'static/favicon.png'), script: await loaded('script', '_stcore/health'),
        blind: await asked('_stcore/agent/interact', {method: 'POST', mode: 'no-cors', body: '{}'}),
    };
}"""


class Elsewhere(BaseHTTPRequestHandler):
    """An empty page, for any path; a web socket is none of its business, but that one was wanted is remembered."""

    wanted: list[str] = []

    def do_GET(self) -> None:
        self.wanted.append(self.path)
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body></body>")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another page on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", free_port()), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="module")
def server(library: Path) -> Iterator[str]:
    """The address of the page, started by `streamlit run`; the other browser tests start it as `make app` does."""
    with served(library, library.with_name("log"), by=AS_STREAMLIT) as address:
        yield address


def test_given_a_program_when_it_asks_then_only_what_the_page_needs_is_there_under_its_own_name(server: str) -> None:
    require_only_this_page(server)


def test_given_a_page_of_another_port_when_it_tries_all_ways_then_it_reaches_nothing(
    chromium: Browser, server: str, elsewhere: int
) -> None:
    port = urlsplit(server).port
    for name in ("localhost", "127.0.0.1"):
        for ours in (server, f"http://localhost:{port}/"):
            context = chromium.new_context()
            page = context.new_page()
            page.goto(f"http://{name}:{elsewhere}/")

            assert set(page.evaluate(REACH, ours).values()) == {"refused"}
            with page.expect_response(ours) as framed:
                page.evaluate(
                    "address => { const made = document.createElement('iframe'); made.src = address; "
                    "document.body.append(made); }",
                    ours,
                )
            assert framed.value.status == 403
            with page.expect_response(ours) as posted:
                page.evaluate(
                    """address => { const made = document.createElement('form'); made.method = 'post'; made.action = address;
                    document.body.append(made); made.submit(); }""",
                    ours,
                )
            assert posted.value.status == 403
            context.close()


def test_given_a_link_on_another_page_when_followed_then_ours_opens_apart_from_it_and_speaks_to_nobody_else(
    chromium: Browser, server: str, elsewhere: int
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{elsewhere}/")

    with context.expect_page() as opened:
        page.evaluate("address => { window.ours = window.open(address + '?top_k=5'); }", server)

    ours = opened.value
    expect(ours.get_by_role("slider", name=say("knobs.top_k"))).to_have_value("5", timeout=WAIT_MS)
    assert ours.evaluate("window.opener") is None
    # the other page holds a window that is gone, and cannot send ours messages
    assert page.evaluate("window.ours.closed")
    before = len(Elsewhere.wanted)
    refused = ours.evaluate(
        """async address => {
            const found = [];
            document.addEventListener('securitypolicyviolation', event => found.push(event.effectiveDirective));
            try { new WebSocket(address.replace('http', 'ws')); } catch { }
            await fetch(address).catch(() => null);
            navigator.sendBeacon(address, 'x');
            await new Promise(done => setTimeout(done, 200));
            return found;
        }""",
        f"http://127.0.0.1:{elsewhere}/leak",
    )
    assert refused == ["connect-src"] * 3
    assert Elsewhere.wanted[before:] == []
    context.close()
