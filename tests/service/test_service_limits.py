"""What the service refuses: foreign names and pages, large and broken bodies, callers who come too often, more work
than it takes.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPResponse
from typing import Any

import pytest
from folding import each
from service_kit import SECRET, WARRANTY, Server, service_of
from starlette.testclient import TestClient

from rag_core.domain.acts import Action, Actor, acting
from rag_core.entrypoints.cli import main, parser
from rag_core.entrypoints.commands import serve as serve_command
from rag_core.entrypoints.http import guards as bodies
from rag_core.entrypoints.http.app import MAX_BODY_BYTES, MAX_FORM_BYTES, api, guarded
from rag_core.entrypoints.http.origin import LOCAL
from rag_core.entrypoints.mcp.server import http_routes, mcp_server
from rag_core.errors import LibraryDamaged, LimitExceeded, QuotaExceeded
from rag_core.library.library import AddReport
from rag_core.service.jobs import MAX_EACH, MAX_JOBS, Jobs
from rag_core.service.limits import Lane, Rate
from rag_core.service.principal import Overloaded, Principal, Scope, ShareTaken, TooOften
from rag_core.service.service import Service
from rag_core.settings.request_context import REQUEST, RequestContext
from rag_core.wiring import make_collection
from rag_core.work import runner as page_runner
from rag_core.work.jobs import Job
from rag_core.work.runner import MAX_UNFINISHED, Runner

MEDIA = "application/problem+json"
HERE = ("127.0.0.1", 50000)
CALLS: list[tuple[dict[str, str], tuple[str, int], int]] = [
    ({}, HERE, 200),
    ({"host": "localhost:8501"}, HERE, 200),
    ({"host": "[::1]"}, ("::1", 50000), 200),
    ({"host": "evil.example"}, HERE, 421),
    ({"host": "127.0.0.1.evil.example"}, HERE, 421),
    ({"host": ""}, HERE, 421),
    ({}, ("192.0.2.1", 50000), 401),
    ({"x-forwarded-for": "192.0.2.1"}, HERE, 401),
    ({"x-forwarded-proto": "https"}, HERE, 401),
    ({"forwarded": "for=192.0.2.1"}, HERE, 401),
    ({"via": "1.1 proxy"}, HERE, 401),
    ({"authorization": "Bearer sk-any"}, HERE, 200),
    ({"authorization": "Bearer sk-any"}, ("192.0.2.1", 50000), 401),
    ({"authorization": "Bearer sk-any", "x-forwarded-for": "192.0.2.1"}, HERE, 401),
    ({"origin": "http://127.0.0.1:8501"}, HERE, 200),
    ({"origin": "http://127.0.0.1:9999"}, HERE, 403),
    ({"origin": "http://evil.example"}, HERE, 403),
    ({"origin": "null"}, HERE, 403),
    ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, HERE, 403),
    ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, HERE, 403),
    ({"sec-fetch-site": "same-origin"}, HERE, 200),
]


def app_of(service: Service) -> Any:
    mcp = mcp_server(service)
    return guarded(api(service, http_routes(mcp)), LOCAL, service)


@each(("headers", "client", "status"), CALLS)
def test_given_no_token_then_this_machine_alone_is_served_and_no_foreign_page(tmp_path, headers, client, status):
    called = TestClient(app_of(service_of(tmp_path)), client=client, base_url="http://127.0.0.1:8501")

    answer = called.get("/api/collections", headers=headers)

    assert answer.status_code == status, headers
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["cache-control"] == "no-store"
    if status != 200:
        assert answer.headers["content-type"] == MEDIA
        assert answer.json()["remedy"]


def test_given_a_token_was_ever_made_then_this_machine_needs_one_too(tmp_path):
    """Revoked, damaged or emptied: a service that had tokens never takes itself for one without."""
    service = service_of(tmp_path)
    client = TestClient(app_of(service), client=HERE, base_url="http://127.0.0.1:8501", raise_server_exceptions=False)
    token, _ = service.tokens.create("x", ["ask"], ["*"])
    service.tokens.revoke(token.id)
    assert client.get("/api/collections").status_code == 401
    for damaged in (
        "",
        "{",
        "[]",
        '{"schema_version": 1}',
        '{"schema_version": 1, "tokens": [{}]}',
        '{"schema_version": 2, "tokens": []}',
    ):
        (tmp_path / "tokens.json").write_text(damaged, encoding="utf-8")
        with pytest.raises(LibraryDamaged):
            service.tokens.all()
        assert client.get("/api/collections").status_code == 500, damaged
    (tmp_path / "tokens.json").unlink()  # gone, for the service that runs and for one that is started then
    for one in (service, service_of(tmp_path)):
        client = TestClient(app_of(one), client=HERE, base_url="http://127.0.0.1:8501", raise_server_exceptions=False)
        assert client.get("/api/collections").status_code == 500
        assert client.get("/api/collections", headers={"authorization": "Bearer plb_x"}).status_code == 500
        assert client.post("/mcp", json={}).status_code == 500
    with pytest.raises(LibraryDamaged, match="is gone") as gone:
        serve_command.refuse_unsafe(parser().parse_args(["serve"]), tmp_path)
    assert "Delete" not in gone.value.remedy, "deleting the file was the way to open the service"
    _, text = service.tokens.create("new", ["ask"], ["*"])  # the remedy
    assert client.get("/api/collections").status_code == 401
    assert client.get("/api/collections", headers={"authorization": f"Bearer {text}"}).status_code == 200
    assert service_of(tmp_path, local=False)._local is False


def test_given_a_service_behind_a_proxy_then_no_caller_is_taken_for_this_machine(tmp_path):
    service = service_of(tmp_path, local=False)
    client = TestClient(app_of(service), client=HERE, base_url="http://127.0.0.1:8501")
    assert client.get("/api/collections").status_code == 401
    _, text = service.tokens.create("x", ["ask"], ["*"])
    named = guarded(api(service), (*LOCAL, "docs.example.org"), service)
    outside = TestClient(
        named, client=("192.0.2.1", 5), base_url="https://docs.example.org", headers={"authorization": f"Bearer {text}"}
    )
    for origin, status in (
        ("https://docs.example.org", 200),
        ("http://docs.example.org", 403),
        ("https://example.org", 403),
    ):
        assert outside.get("/api/collections", headers={"origin": origin}).status_code == status, origin


JSON = {"content-type": "application/json"}
DEEP = b'{"query": ' + b"[" * 100_000
BODIES: list[tuple[str, bytes, dict[str, str], tuple[int, ...]]] = [
    ("/api/rag/query", b"", JSON, (422,)),
    ("/api/rag/query", b"{", JSON, (400,)),
    ("/api/rag/query", b"\xff\xfe{}", JSON, (400, 422)),
    ("/api/rag/query", b"[]", JSON, (422,)),
    ("/api/rag/query", b"null", JSON, (422,)),
    ("/api/rag/query", DEEP, JSON, (400, 422)),
    ("/api/rag/index", DEEP, JSON, (400, 422)),
    ("/api/rag/index", b"{", JSON, (400,)),
    ("/api/rag/index", b"{}", {"content-type": "text/xml"}, (415,)),
    ("/api/rag/index", b"{}", {}, (415,)),
    ("/api/rag/index", b"--x\r\n", {"content-type": "multipart/form-data"}, (400,)),
    ("/api/rag/index", b"junk", {"content-type": "multipart/form-data; boundary=x"}, (400, 422)),
    ("/api/rag/query", json.dumps({"query": "x", "top_k": "many"}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": "x", "topk": 3}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": "x" * 2001}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": ["x"]}).encode(), JSON, (422,)),
    ("/api/rag/query", b'{"query": "x", "settings": {"min_correctness": NaN}}', JSON, (400, 422)),
    ("/api/rag/query", b'{"query": "x", "settings": {"min_correctness": 1e999}}', JSON, (400, 422)),
    ("/api/rag/query", json.dumps({"query": "x", "settings": {"model": "mine"}}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": "x", "settings": {"embedding_model": "/etc"}}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": "x", "settings": {"reranker": "../x"}}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": "x", "settings": {"chunk_tokens": 10}}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": "x", "preset": "../../x"}).encode(), JSON, (422,)),
    ("/api/rag/query", json.dumps({"query": "x", "preset": "\x00"}).encode(), JSON, (422,)),
    ("/api/rag/decide", json.dumps({"question": "x", "passages": [{"text": ""}]}).encode(), JSON, (422,)),
    ("/api/rag/decide", json.dumps({"question": "x", "passages": [{"text": "x", "page": 0}]}).encode(), JSON, (422,)),
    ("/api/rag/decide", json.dumps({"question": "x", "passages": ["x"] * 201}).encode(), JSON, (422,)),
]


@each(("path", "body", "headers", "statuses"), BODIES)
def test_given_a_body_that_cannot_be_used_then_the_problem_says_what_to_do(server, path, body, headers, statuses):
    with server.client("admin") as client:
        answer = client.post(path, content=body, headers=headers)

    assert answer.status_code in statuses, answer.text
    assert answer.headers["content-type"] == MEDIA
    told = answer.json()
    assert told["status"] == answer.status_code
    assert told["remedy"]
    assert told["kind"]
    assert "/etc" not in answer.text
    assert "Traceback" not in answer.text


def test_given_a_question_of_odd_characters_when_asked_then_it_is_refused_or_answered_and_never_a_fault(server):
    odd = ["\x00", "a\x00b", "\ud800", "‮abc", "🧪" * 500, "Jak dlouhá je záruka? \x07", "वारंटी कितनी है?", "{{7*7}}"]
    with server.client("alpha") as client:
        for question in (*odd, "'; DROP TABLE decisions; --"):
            body = json.dumps({"query": question, "namespace": "alpha"})
            answer = client.post("/api/rag/query", content=body, headers=JSON)
            assert answer.status_code in (200, 400, 422), (question, answer.text)


def raw(server: Server, *parts: bytes, holder: str = "admin") -> HTTPResponse:
    """What comes back over a bare socket."""
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        for part in parts:
            connection.sendall(part.replace(b"TOKEN", server.tokens[holder].encode()))
        found = HTTPResponse(connection)
        found.begin()
        return found


HEAD = (
    b"POST /api/rag/query HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
    b"TOKEN\r\nContent-Type: application/json\r\n"
)


def test_given_a_body_that_is_too_large_then_it_is_refused_by_its_stated_length_or_as_soon_as_it_is(server):
    stated = f"Content-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode()
    block = b"10000\r\n" + b" " * 0x10000 + b"\r\n"  # 64 KiB a chunk
    index = HEAD.replace(b"query", b"index")
    form = index.replace(b"application/json", b"multipart/form-data; boundary=x")
    for parts in (
        [HEAD + stated],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[block] * (MAX_BODY_BYTES // 0x10000 + 1)],
        [index + stated],
        [form + f"Content-Length: {MAX_FORM_BYTES + 1}\r\n\r\n".encode()],
    ):
        answer = raw(server, *parts)
        assert (answer.status, answer.headers["content-type"]) == (413, MEDIA)


def test_given_a_caller_who_may_not_index_when_they_send_files_then_they_are_refused_before_a_byte_is_taken(server):
    """The body never comes; the answer does."""
    head = HEAD.replace(b"query", b"index").replace(b"application/json", b"multipart/form-data; boundary=x")
    assert raw(server, head + b"Content-Length: 900000000\r\n\r\n", holder="reader").status == 403


def test_given_callers_who_come_too_often_then_they_wait_and_others_do_not(tmp_path):
    now = [0.0]
    rate = Rate(60, clock=lambda: now[0])
    for _ in range(15):
        rate.take("a")
    with pytest.raises(TooOften) as refused:
        rate.take("a")
    rate.take("b")
    assert refused.value.retry_after == 1
    now[0] += 1
    rate.take("a")
    with pytest.raises(TooOften):
        rate.take("a")

    service = service_of(tmp_path, per_minute=4)
    client = TestClient(app_of(service), client=HERE, base_url="http://127.0.0.1:8501")
    answers = [client.get("/api/collections") for _ in range(2)]
    service.tokens.create("x", ["ask"], ["*"])
    guesses = [client.get("/api/collections", headers={"authorization": "Bearer guess"}).status_code for _ in range(2)]

    assert [one.status_code for one in answers] == [200, 429]
    assert int(answers[1].headers["retry-after"]) >= 1
    assert guesses == [401, 429]


def test_given_a_token_of_twenty_people_then_they_are_not_one_and_others_find_a_place(tmp_path, monkeypatch):
    monkeypatch.setenv("RAG_QUESTIONS", "3")
    monkeypatch.setenv("RAG_QUESTIONS_WAITING", "27")
    arguments = ["token", "create", "front", "--scope", "ask", "--collection", "*", "--people", "20"]
    assert main([*arguments, "--library", str(tmp_path)]) == 0
    service = service_of(tmp_path)
    (front,) = service.tokens.all()
    rate = Rate(120, lambda: 0.0, people=service.tokens.people)
    for caller, at_once, wait in ((front.id, 600, 1), ("1a2b3c4d", 30, 1)):  # of each of them 30
        for _ in range(at_once):
            rate.take(caller)
        with pytest.raises(TooOften) as refused:
            rate.take(caller)
        assert refused.value.retry_after == wait
    for places, own, most in ((service.questions.places, 20, 30), (service.streams, 10, 50), (service.uploads, 2, 6)):
        for _ in range(own):
            places.take("1a2b3c4d")
        with pytest.raises(ShareTaken):
            places.take("1a2b3c4d")
        for _ in range(most - own):
            places.take(front.id)
        with pytest.raises(Overloaded):
            places.take("5e6f7a8b")
        for _ in range(own):
            places.free("1a2b3c4d")
        for _ in range(own - 1):
            places.take(front.id)
        with pytest.raises(ShareTaken):
            places.take(front.id)
        places.take("5e6f7a8b")  # one place stays for others


def test_given_a_lane_when_it_is_full_or_a_caller_has_their_share_then_they_are_told_to_come_again():
    go = threading.Event()

    async def crowd(lane: Lane, callers: str) -> list[Any]:
        async def call(who: str) -> Any:
            REQUEST.set(RequestContext("", "", "", caller=who))
            return await lane.run(go.wait)

        tasks = [asyncio.ensure_future(call(who)) for who in callers]
        await asyncio.sleep(0.01)  # the loop is free while a thread works
        tasks[2].cancel()  # one that waits: its place is free again
        await asyncio.sleep(0)
        go.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        while lane.places.taken:
            await asyncio.sleep(0.001)
        lane.close()
        with pytest.raises(Overloaded):
            await lane.run(go.wait)
        return [type(one) for one in found]

    ended = [bool, bool, asyncio.CancelledError]
    assert asyncio.run(crowd(Lane("full", 1, 2), "abcde")) == [*ended, Overloaded, Overloaded]
    go.clear()
    assert asyncio.run(crowd(Lane("shared", 1, 5), "aaaaaab")) == [*ended, bool, ShareTaken, ShareTaken, bool]


def test_given_a_full_queue_when_asked_over_http_then_the_reply_is_503_and_health_still_answers(server: Server) -> None:
    lane = server.service.questions
    others = [f"other {number}" for number in range(lane.places.most)]
    for other in others:
        lane.places.take(other)
    try:
        with server.client("alpha") as client:
            answer = client.post("/api/rag/query", json={"query": "x", "namespace": "alpha"})
            assert client.get("/healthz").status_code == 200
            assert client.get("/api/collections").status_code == 200, "short calls have a lane of their own"
    finally:
        for other in others:
            lane.places.free(other)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_given_a_caller_with_a_burst_then_their_share_is_refused_beyond_and_others_are_served(server: Server) -> None:
    """From each entry: a call, a stream, documents, MCP. A token never takes all places."""
    service = server.service
    alpha = server.tokens["alpha"].split("_")[1]
    body = {"query": WARRANTY, "namespace": "alpha"}
    tool = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": {"question": "x", "collection": "alpha"}},
    }
    media = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    with server.client("alpha") as client, server.client("beta") as other:
        for places, call in (
            (service.questions.places, lambda: client.post("/api/rag/query", json=body)),
            (service.streams, lambda: client.post("/api/rag/query/events", json=body)),
            (
                service.uploads,
                lambda: client.post("/api/rag/index", json={"namespace": "alpha", "documents": [{"content": "x"}]}),
            ),
        ):
            with ExitStack() as held:
                for _ in range(places.each):
                    held.enter_context(places.held(alpha))
                refused = call()
                assert (refused.status_code, refused.json()["kind"]) == (429, "ShareTaken")
                assert int(refused.headers["retry-after"]) > 0
                if places is service.questions.places:
                    assert "at once" in client.post("/mcp", json=tool, headers=media).text
                served = other.post("/api/rag/query", json={"query": SECRET, "namespace": "beta"})
                assert served.status_code == 200
        stream = client.post("/api/rag/query/events", json=body)
        assert stream.status_code == 200
        deadline = time.monotonic() + 10
        while service.streams.taken:  # given back however it ends
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_given_jobs_of_one_caller_then_they_leave_room_for_others() -> None:
    jobs, go, runner = Jobs(Runner()), threading.Event(), Runner()
    one, two = (Principal(name, frozenset(Scope)) for name in ("one", "two"))

    def work(*_: object) -> AddReport:
        assert go.wait(30)
        return AddReport()

    def start(who: Principal) -> Job:
        return jobs.start(who, ("", "a"), "Adding", work, 1)

    started = [start(one) for _ in range(MAX_EACH)]
    with pytest.raises(ShareTaken):
        start(one)
    started += [start(two) for _ in range(MAX_JOBS - MAX_EACH)]
    with pytest.raises(Overloaded):
        start(Principal("three", frozenset(Scope)))
    paged = [runner.start("Adding", work, 1) for _ in range(MAX_UNFINISHED)]
    # the page's own jobs are bounded too; one too many ends with an error that says so
    late = runner.start("Adding", work, 1)
    assert late.wait(10)
    assert isinstance(late.error, LimitExceeded)
    with acting(Actor("user:eda", frozenset({Action.INDEX}))):
        mine = Runner()
        paged += [mine.start("Adding", work, 1) for _ in range(page_runner.MAX_EACH)]
        late = mine.start("Adding", work, 1)
    assert late.wait(10)
    assert late.error is not None
    go.set()
    assert all(job.wait(30) for job in [*paged, *(job for job in started)])


def test_given_a_token_that_makes_more_collections_than_may_be_then_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("RAG_QUOTA_COLLECTIONS", "2")
    service = service_of(tmp_path)
    _, text = service.tokens.create("x", ["index"], ["*"])
    client = TestClient(
        app_of(service), client=HERE, base_url="http://127.0.0.1:8501", headers={"authorization": f"Bearer {text}"}
    )
    made = [client.put(f"/api/collections/{name}") for name in ("one", "two", "three", "two")]
    assert [one.status_code for one in made] == [201, 201, 409, 201]
    assert "RAG_QUOTA_COLLECTIONS" in made[2].json()["remedy"]
    sent = {"namespace": "four", "documents": [{"content": "x"}]}
    assert client.post("/api/rag/index", json=sent).json()["kind"] == "QuotaExceeded"
    principal = service.tokens.principal(text)
    with ThreadPoolExecutor(8) as pool:  # nor do many at once find room for one
        monkeypatch.setenv("RAG_QUOTA_COLLECTIONS", "3")
        tries = [pool.submit(service.create, principal, f"at-once-{number}") for number in range(8)]
        assert sum(one.exception(60) is None for one in tries) == 1
    with pytest.raises(QuotaExceeded):
        make_collection(tmp_path, "of-the-page")
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} >= {"one", "two"}
    assert len(service.collections(principal)) == 4, "with the one that is there from the beginning"


@each(
    ("block", "pause", "count", "whole", "status"),
    [
        (b"x", 0.01, 10_000, 0.1, 408),  # each part comes in time; all of them together do not
        (b"x" * (64 << 10), 0.01, 20, 0.1, 200),  # 6 MB a second: longer than the floor, and served
        (b"x", 3600.0, 2, 3600.0, 408),  # it stops coming
    ],
)
def test_given_a_body_that_drips_or_stops_then_it_holds_its_place_for_a_while_only(block, pause, count, whole, status):
    left, sent = [count], list[int]()

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(pause)
        left[0] -= 1
        return {"type": "http.request", "body": block, "more_body": left[0] > 0}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.request":
            await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        if "status" in message:
            sent.append(message["status"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "WHOLE_SECONDS", whole)
        patch.setattr(bodies, "PART_SECONDS", 0.05)
        asyncio.run(bodies.BodyLimit(app, lambda _: 1 << 30)({"type": "http", "headers": []}, receive, send))
    assert sent == [status]
