"""Who is let in: the page itself and programs, under this machine's names; no page of another origin, no path that it
has no use for.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest
import uvicorn
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from rag_core.entrypoints.http import origin
from rag_core.entrypoints.http import origin as headers
from ui import serve
from ui.app.people import guard

HERE = ("127.0.0.1", 50000)
HOST = {"host": "127.0.0.1:8501"}
ELSEWHERE = ("192.0.2.7", "10.0.0.1", "2001:db8::1", "::ffff:192.0.2.7", "0.0.0.0", "localhost.evil.example", "")
OURS = {"origin": "http://127.0.0.1:8501"}
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}

HOSTS = {
    "127.0.0.1:8501": True,
    "localhost:8501": True,
    "LOCALHOST": True,
    "localhost.": True,
    "[::1]:8501": True,
    "localhost:9000": True,
    "evil.example": False,
    "evil.example:8501": False,
    "127.0.0.1.evil.example": False,
    "localhost.evil.example:8501": False,
    "127.0.0.2": False,
    "0.0.0.0:8501": False,
    "": False,
    "localhost:x": False,
    "localhost:850100": False,
    "localhost/": False,
    "evil@localhost": False,
    "[::1": False,
    "localhost evil": False,
}
ORIGINS = {
    "http://127.0.0.1:8501": True,
    "HTTP://127.0.0.1:8501": True,
    "http://127.0.0.1:9999": False,
    "http://localhost:8501": False,
    "http://localhost:9999": False,
    "https://127.0.0.1:8501": False,
    "http://127.0.0.1": False,
    "http://evil.example": False,
    "null": False,
    "file://": False,
    "": False,
    "http://127.0.0.1:8501/": False,
    "http://127.0.0.1:8501.evil.example": False,
    "http://evil.example@127.0.0.1:8501": False,
    "chrome-extension://abc": False,
}
SITES = (  # what a browser says of a request without an Origin, and whether it may pass
    ("GET", {}, True),  # a program, or an old browser
    ("GET", {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}, True),
    ("GET", {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, True),  # typed
    ("GET", LINK, True),
    ("GET", LINK | {"sec-fetch-site": "same-site"}, True),
    ("GET", LINK | {"sec-fetch-dest": "iframe"}, False),
    ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}, False),
    ("GET", {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}, False),
    ("POST", LINK, False),
    ("PUT", {"sec-fetch-site": "same-site"}, False),
)
PATHS = {
    "/": 200,
    "/documents": 200,
    "/_stcore/health": 200,
    "/_stcore/host-config": 200,
    "/_stcore/upload_file/a/b": 200,
    "/media/a.png": 200,
    "/static/js/a.js": 200,
    "/auth.png": 200,
    "/_stcore/metrics": 404,
    "/_stcore//metrics": 404,
    "/below/_stcore/metrics": 404,
    "/%5Fstcore/metrics": 404,
    "/_stcore/agent/interact": 404,
    "/_stcore/agent/mcp": 404,
    "/_stcore/script-health-check": 404,
    "/_stcore": 404,
    "/auth/login": 404,
    "/oauth2callback": 404,
    "/component/a/index.html": 404,
}


def own_address() -> str:
    """An address of this machine that is not its loopback, as Linux tells it; "" where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                told = fcntl.ioctl(probe, 0x8915, struct.pack("256s", name.encode()))  # SIOCGIFADDR
            except OSError:  # it has none
                continue
            if not origin.is_loopback(found := socket.inet_ntoa(told[20:24])):
                return found
    return ""


OWN_ADDRESS = own_address()


async def page(scope: guard.Message, receive: guard.Receive, send: guard.Send) -> None:
    """What lies behind: it takes everything."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 1000})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"page"})


@pytest.fixture
def client() -> TestClient:
    return TestClient(serve.SecurityHeaders(guard.OnlyThisPage(page)), base_url=OURS["origin"], client=HERE)


def opens(client: TestClient, **headers: str) -> bool:
    """Whether a web socket with these headers is accepted."""
    try:
        with client.websocket_connect("ws://127.0.0.1:8501/_stcore/stream", headers=HOST | headers):
            return True
    except WebSocketDisconnect as closed:
        return closed.code != guard.POLICY_VIOLATION


def test_given_hosts_or_origins_when_the_page_is_asked_for_under_them_then_only_its_own_names_are_answered(
    client: TestClient,
) -> None:
    for host, allowed in HOSTS.items():
        answer = client.get("/", headers={"host": host})

        assert answer.status_code == (200 if allowed else 421), host
        assert answer.headers["content-security-policy"] == headers.PAGE_POLICY, host
        assert opens(client, host=host) is allowed, host

    for given, allowed in ORIGINS.items():
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
            status = client.request(method, "/_stcore/upload_file/a/b", headers=HOST | {"origin": given}).status_code

            assert status == (200 if allowed else 403), (method, given)
        assert opens(client, origin=given) is allowed, given

    assert client.get("/", headers=[("host", "localhost"), ("host", "localhost")]).status_code == 421
    twice = [("host", HOST["host"]), *OURS.items(), *OURS.items()]
    assert client.get("/", headers=twice).status_code == 403


def test_given_a_request_without_an_origin_when_another_site_had_it_sent_then_it_is_refused_unless_a_link_was_followed(
    client: TestClient,
) -> None:
    for method, said, allowed in SITES:
        assert client.request(method, "/", headers=HOST | said).status_code == (200 if allowed else 403), (method, said)
    assert opens(client)
    assert not opens(client, **LINK)


def test_given_another_machine_or_an_unspoken_proxy_when_it_calls_then_it_is_refused_for_its_own_address(
    client: TestClient,
) -> None:
    """A Host header is the sender's to choose. Web sockets are refused too."""
    for address in ELSEWHERE:
        remote = TestClient(guard.OnlyThisPage(page), base_url=OURS["origin"], client=(address, 50000))
        answer = remote.get("/", headers=HOST)
        assert (answer.status_code, "only this machine" in answer.text) == (403, True), address
        assert remote.head("/", headers=HOST).text == ""
        assert not opens(remote), address
    for address in ("127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"):
        assert (
            TestClient(guard.OnlyThisPage(page), base_url=OURS["origin"], client=(address, 50000)).get("/").status_code
            == 200
        ), address

    for header in ("Forwarded", "Via", "X-Forwarded-For", "X-Real-IP", "x-forwarded-host"):
        assert client.get("/", headers=HOST | {header: "127.0.0.1"}).status_code == 403, header
        assert not opens(client, **{header: "127.0.0.1"}), header


def test_given_others_who_are_let_in_when_they_connect_then_names_and_origins_are_still_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a proxy, as whoever runs the page said in words; or because people sign in."""
    remote = TestClient(guard.OnlyThisPage(page, proxied=True), base_url=OURS["origin"], client=("192.0.2.7", 50000))
    for _ in range(2):
        assert remote.get("/", headers=HOST).status_code == 200
        assert remote.get("/", headers={"host": "evil.example"}).status_code == 421
        assert remote.get("/", headers=HOST | {"origin": "http://evil.example"}).status_code == 403
        monkeypatch.setattr(guard.visitor, "must_sign_in", lambda: True)
        remote = TestClient(guard.OnlyThisPage(page), base_url=OURS["origin"], client=("192.0.2.7", 50000))


@pytest.mark.skipif(not OWN_ADDRESS, reason="this machine has no address but its own")
def test_given_a_real_server_on_every_address_when_another_address_is_called_by_then_nothing_is_served() -> None:
    config = uvicorn.Config(guard.OnlyThisPage(page), host="0.0.0.0", port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        # a connection to an address of this machine comes from that address; in a process of its own, since tests use
        # no network
        program = (
            "import http.client, sys\nfor address in sys.argv[2:]:\n"
            "    c = http.client.HTTPConnection(address, int(sys.argv[1]), timeout=20)\n"
            "    c.request('GET', '/', headers={'Host': f'127.0.0.1:{sys.argv[1]}'})\n    "
            "print(c.getresponse().status)\n"
        )
        command = [sys.executable, "-c", program, str(port), "127.0.0.1", OWN_ADDRESS]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    finally:
        server.should_exit = True
        thread.join(10)
    assert said.split() == ["200", "403"]


def test_given_a_page_behind_a_secure_proxy_when_called_then_its_secure_origin_is_its_own() -> None:
    client = TestClient(guard.OnlyThisPage(page), base_url="https://localhost", client=HERE)

    assert client.post("/", headers={"origin": "https://localhost"}).status_code == 200
    assert client.post("/", headers={"origin": "https://localhost:443"}).status_code == 200
    assert client.post("/", headers={"origin": "http://localhost"}).status_code == 403


def test_given_a_path_of_streamlit_when_the_page_has_no_use_for_it_then_it_is_not_there(client: TestClient) -> None:
    for path, status in PATHS.items():
        assert client.get(path, headers=HOST).status_code == status, path
    assert guard.is_closed("//_stcore/metrics")
    assert client.head("/_stcore/metrics", headers=HOST).text == ""


def test_given_names_in_the_configuration_when_the_page_is_asked_for_under_them_then_these_are_its_names() -> None:
    assert origin.is_allowed("a.example.org:80", ["*.example.org"])
    assert not origin.is_allowed("example.org.evil.example", ["*.example.org"])
    assert origin.is_allowed("anything", ["*"])
    assert not origin.is_allowed("localhost", ["plumbline.example.org"])


def test_given_a_request_that_is_let_in_when_handled_then_what_it_sends_and_receives_is_not_touched() -> None:
    passed: list[tuple[object, object]] = []

    async def behind(scope: guard.Message, receive: guard.Receive, send: guard.Send) -> None:
        passed.append((receive, send))

    async def receive() -> guard.Message:
        raise AssertionError

    async def send(message: guard.Message) -> None:
        raise AssertionError

    for kind in ("http", "websocket", "lifespan"):
        scope = {
            "type": kind,
            "method": "PUT",
            "scheme": "http",
            "path": "/_stcore/upload_file/a/b",
            "headers": [(b"host", b"localhost")],
            "client": HERE,
        }
        asyncio.run(guard.OnlyThisPage(behind)(scope, receive, send))

    assert passed == [(receive, send)] * 3
