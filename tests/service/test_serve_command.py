"""`serve` as a process: the page, the API and health from one port, what it refuses to listen on, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.responses import Response

from rag_core.entrypoints.cli import main, parser
from rag_core.entrypoints.commands import serve as serve_command
from rag_core.entrypoints.http.origin import LOCAL, Message, Receive, Send
from rag_core.service.tokens import Tokens

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_given_the_repository_then_page_and_api_answer_from_one_port_and_a_signal_ends_it(tmp_path, sample_library):
    """Where the home folder has a file of secrets that cannot be read: nobody asked for that one. Events are JSON."""
    library, port = Path(shutil.copytree(sample_library, tmp_path / "library")), free_port()
    (tmp_path / ".streamlit" / "secrets.toml").mkdir(parents=True)
    environment = os.environ | {"RAG_PRESET": "", "RAG_LOG": "json", "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "rag_core", "serve", "--port", str(port), "--library", str(library)]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        with httpx2.Client(base_url=address, timeout=60) as client:
            deadline = time.monotonic() + START_SECONDS
            while True:
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline
                try:
                    if client.get("/readyz").status_code == 200:
                        break
                except httpx2.TransportError:
                    pass
                time.sleep(0.1)
            page = client.get("/")
            assert page.status_code == 200
            assert "<html" in page.text.lower()
            assert "script-src 'self' 'unsafe-inline'" in page.headers["content-security-policy"]
            assert client.get("/_stcore/health").status_code == 200
            assert client.get("/_stcore/metrics").status_code == 404
            for path in ("/", "/_stcore/health", "/api/collections", "/healthz"):
                assert client.get(path, headers={"host": "evil.example"}).status_code == 421, path
                assert client.get(path, headers={"origin": "http://evil.example"}).status_code == 403, path
            found = client.post("/api/rag/query", json={"query": "How do I request vacation?"}).json()
            assert found["is_safe"], found["explanation"]
            with client.stream("GET", "/healthz"):
                process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, (tmp_path / "log").read_text()
    finally:
        process.kill()
        process.wait()
    said = (tmp_path / "log").read_text()
    assert f"Serving the page at {address}/" in said
    assert "Traceback" not in said
    assert [path.name for path in library.rglob("records.sqlite*")] == ["records.sqlite"], (
        "the log beside it was folded in"
    )
    assert "rag_core.decision" in {json.loads(line)["logger"] for line in said.splitlines() if line.startswith("{")}


def sign_in(monkeypatch: pytest.MonkeyPatch, file: Path, page: str) -> None:
    """People sign in on a page at this address."""
    monkeypatch.setenv("RAG_SECRETS", str(file))
    file.write_text(
        f'[auth]\nredirect_uri = "{page}/oauth2callback"\ncookie_secret = "{"0123456789abcdef" * 2}"\nclient_id = "a"\n'
        'client_secret = "b"\nserver_metadata_url = "https://id.example.org/"\n',
        encoding="utf-8",
    )


def refused(*arguments: str) -> bool:
    """Whether `serve` would not listen so."""
    return main(["serve", *arguments]) == 1


def test_given_an_address_of_others_when_nobody_said_so_or_there_is_no_token_then_it_does_not_listen(tmp_path, capsys):
    place = ("--library", str(tmp_path))
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", ""):
        assert refused(*place, "--host", host), host
        assert refused(*place, "--host", host, "--open-to-network"), host
    assert refused(*place, "--behind-proxy", "docs.example.org")
    Tokens(tmp_path).create("x", ["ask"], ["*"])
    assert refused(*place, "--host", "0.0.0.0")
    assert refused(*place, "--host", "0.0.0.0", "--open-to-network"), "nobody could call it by a name"
    assert "--open-to-network" in capsys.readouterr().err


def test_given_people_who_sign_in_elsewhere_then_it_does_not_listen(tmp_path, monkeypatch, capsys):
    place, secrets = ("--library", str(tmp_path)), tmp_path / "secrets.toml"
    sign_in(monkeypatch, secrets, "http://127.0.0.1:8501")
    Tokens(tmp_path).create("x", ["ask"], ["*"])
    sign_in(monkeypatch, secrets, "https://other.example.org")
    assert refused(*place, "--behind-proxy", "docs.example.org")
    assert "other.example.org" in capsys.readouterr().err
    secrets.write_text("[auth]", encoding="utf-8")
    assert main(["serve", *place, "--behind-proxy", "docs.example.org"]) != 0


def test_given_a_port_that_is_taken_when_served_then_it_says_so_before_anything_is_loaded(tmp_path, capsys):
    with serve_command.bound("127.0.0.1", 0) as taken:
        assert refused("--library", str(tmp_path), "--port", str(taken.getsockname()[1]))
        assert "cannot be listened on" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        refused("--port", "70000")
    with serve_command.bound("::1", 0) as other:
        assert other.getsockname()[0] == "::1"


def test_given_no_proxy_or_no_repository_when_assembled_then_the_api_is_alone(tmp_path, monkeypatch):
    Tokens(tmp_path).create("x", ["ask"], ["*"])
    network = ["--host", "0.0.0.0", "--open-to-network", "--allow-host", "docs.example.org"]
    args = parser().parse_args(["serve", "--library", str(tmp_path), *network])

    serve_command.refuse_unsafe(args, tmp_path)
    app, _ = serve_command.assembled(args, tmp_path, LOCAL)

    assert not app.has_page

    monkeypatch.setattr(serve_command, "ROOT", tmp_path)
    app, _ = serve_command.assembled(parser().parse_args(["serve", "--library", str(tmp_path)]), tmp_path, LOCAL)
    assert not app.has_page


def test_given_a_proxy_elsewhere_when_served_then_it_alone_is_let_in_and_says_who_calls(tmp_path: Path) -> None:
    """The page too; who names no service behind a proxy, or no address, is not served at all."""
    network = ["--host", "0.0.0.0", "--proxy-address", "10.0.0.0/24"]
    place = ["--library", str(tmp_path), "--behind-proxy", "docs.example.org"]
    assert refused(*place, *network), "without a token"
    Tokens(tmp_path).create("x", ["ask"], ["*"])
    assert refused(*place[:2], *network)
    assert refused(*place, "--host", "0.0.0.0", "--proxy-address", "proxy")
    args = parser().parse_args(["serve", *place, *network])
    serve_command.refuse_unsafe(args, tmp_path)
    assert serve_command.assembled(args, tmp_path, LOCAL)[0].has_page

    async def named(scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] != "lifespan"
        await Response(scope["client"][0])(scope, receive, send)

    app: Any = serve_command.configured(named, [*serve_command.LOOPBACK, *args.proxy_address]).app

    def asked(peer: str, **sent: str) -> tuple[int, str]:
        answer = asyncio.run(
            httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app, client=(peer, 1)), base_url="http://docs.example.org"
            ).get("/", headers=sent)
        )
        return answer.status_code, answer.text

    caller = {"x-forwarded-for": "192.0.2.7"}
    assert asked("10.0.0.9", **caller) == (200, "192.0.2.7")
    assert asked("127.0.0.1") == (200, "127.0.0.1"), "a check of health"
    assert asked("10.0.1.9", **caller)[0] == 403
    assert "--proxy-address" in asked("2001:db8::1")[1]
    sent: list[Message] = []
    socket_of = {"type": "websocket", "client": ("10.0.1.9", 1), "headers": []}

    async def keep(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(socket_of, keep, keep))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_given_any_other_command_when_it_starts_then_the_packages_of_the_service_are_not_imported() -> None:
    program = (
        "import rag_core.entrypoints.cli as c, sys; c.parser();"
        "print(sorted({'fastapi', 'starlette', 'uvicorn', 'mcp', 'streamlit', 'httpx2', 'rag_core.service'} & "
        "set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
