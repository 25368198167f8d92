"""What a server of a language model may do to its client: fail, hang, drip, break off, flood, send elsewhere.

Over real HTTP.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from held_clock import HeldClock, held
from model_kit import SOON, openai_model, prompt
from model_server import Drip, Drop, Hang, Huge, ModelServer, Slow, Status

from rag_core.adapters.llm import http as model_http
from rag_core.adapters.llm.openai_server import OpenAIModel, _retry_after
from rag_core.domain.llm_trace import Limits
from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.settings.endpoints import Endpoint


@pytest.fixture
def clock() -> Iterator[HeldClock]:
    with held() as clock:
        yield clock


@pytest.fixture
def model(server: ModelServer, clock: HeldClock) -> Iterator[OpenAIModel]:
    server.play("blue")
    model = openai_model(server, pause=clock.pause)
    yield model
    model.close()
    gc.collect()  # a socket or a transport that was left open would warn here


def fails(model: OpenAIModel, limits: Limits = SOON) -> str:
    """What the error says."""
    with pytest.raises(ModelUnavailable) as caught:
        model.complete(prompt(), limits)
    assert caught.value.remedy
    assert len(str(caught.value)) < 300
    return str(caught.value)


def test_given_an_error_that_stays_then_it_is_not_tried_again_and_the_remedy_fits(server, model):
    for status, says in (
        (401, "did not accept the key"),
        (403, "does not allow this key"),
        (404, "RAG_MODEL and the base URL"),
        (413, "too long"),
        (501, "not accept"),
    ):
        server.play(Status(status))

        assert says in fails(model), status
        assert server.calls == 1, status


def test_given_an_error_that_may_pass_then_it_is_tried_twice_more_with_growing_pauses(server, model, clock):
    for status in (408, 409, 429, 500, 502, 503, 504, 529):
        server.play(Status(status))
        clock.pauses.clear()

        assert str(status) in fails(model)
        assert server.calls == 3, status
        assert clock.pauses == pytest.approx([0.25 * 0.75, 0.5 * 0.75], rel=0.01), status
        server.play([Status(status, {"retry-after": "0"}), Status(status, {"retry-after": "0"}), "blue"])
        assert model.complete(prompt(), SOON).text == "blue", status


def test_given_a_pause_then_it_is_one_of_the_event_loop(server: ModelServer, clock: HeldClock) -> None:
    server.play([Status(429, {"retry-after": "7"}), "blue"])
    model = openai_model(server)

    assert model.complete(prompt(), Limits(20.0, clock.ticking(server, 1.0))).text == "blue"
    assert clock.passed >= 7.0
    model.close()


def test_given_a_server_that_wants_more_time_than_there_is_then_nobody_waits_for_it(server, model, clock):
    for after in ("60", "1e9", "Wed, 21 Oct 2099 07:28:00 GMT"):
        server.play(Status(429, {"retry-after": after}))

        assert "turns requests away" in fails(model, Limits(10.0)), after
        assert server.calls == 1, after
    assert clock.pauses == []


def test_given_any_retry_after_then_it_is_read_or_our_own_pause_stands() -> None:
    for header, seconds in (
        ("", 0.3),
        ("2", 2.0),
        ("0.5", 0.5),
        ("-5", 0.0),
        ("nan", 0.3),
        ("inf", float("inf")),
        ("soon", 0.3),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 99 Oct 2015", 0.3),
        ("Wed, 21 Oct 2015 07:28:00", 0.3),
    ):
        assert _retry_after(header, 0.3) == seconds, header
    date = format_datetime(datetime.now(UTC) + timedelta(hours=30), usegmt=True)
    assert 28 * 3600 < _retry_after(date, 0.3) <= 30 * 3600


NEVER = [Hang(), Hang(headers_first=True), Drip("a byte now and then, never all" * 100), Slow("late", 300)]


@pytest.mark.parametrize("script", NEVER, ids=["hang", "hang in the body", "drip", "slow"])
def test_given_a_server_that_never_comes_to_an_end_then_the_deadline_holds_for_everything(server, model, clock, script):
    server.play(script)
    says = fails(model, Limits(6.0, clock.ticking(server, 1.5)))

    assert "did not answer within 6 seconds. Raise `model_seconds`" in says
    assert clock.passed >= 6.0
    assert _idle()


def test_given_a_server_that_is_always_busy_then_the_deadline_holds_for_the_pauses_too(server, model, clock):
    server.play(Status(503, {"retry-after": "4"}))

    assert "failed (503)" in fails(model, Limits(6.0))
    assert (clock.pauses, server.calls) == ([4.0], 2)
    assert _idle()


@pytest.mark.parametrize(
    "script", [*NEVER, Status(503, {"retry-after": "10"})], ids=["hang", "hang in the body", "drip", "slow", "busy"]
)
def test_given_a_question_that_is_stopped_then_it_ends_at_once_and_leaves_nothing(server, clock, script):
    server.play(script)
    model = openai_model(server)
    looked, before = [], threading.active_count()

    def stopped() -> bool:
        looked.append(server.calls > 0)
        return looked[-4:] == [True] * 4  # a while after the server was asked

    with pytest.raises(Cancelled):
        model.complete(prompt(), Limits(20.0, stopped))
    assert looked.count(True) == 4, "it ended when it first heard of it"
    assert clock.passed == 0.0
    assert _idle()
    assert threading.active_count() <= before
    model.close()


def test_given_an_answer_that_breaks_off_then_it_is_tried_again(server: ModelServer, model: OpenAIModel) -> None:
    server.play([Drop(), "blue"])
    assert model.complete(prompt(), SOON).text == "blue"

    server.play(Drop())
    assert "broke off its answer" in fails(model)
    assert server.calls == 3


def test_given_ten_megabytes_then_they_are_not_read_nor_asked_for_again(server, model):
    server.play(Huge(10_000_000))

    assert "sent more than an answer can be" in fails(model)
    assert server.calls == 1
    server.play(Huge(model_http.MAX_BYTES - 1000))
    assert len(model.complete(prompt(), SOON).text) == model_http.MAX_BYTES - 1000


def test_given_a_flood_without_a_length_then_only_the_beginning_is_read() -> None:
    with _Raw(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b" " * 0x10000 + b"\r\n", 400
    ) as raw:
        model = OpenAIModel(Endpoint(raw.base_url, "", "m"))

        assert "sent more than an answer can be" in fails(model)
        assert raw.sent < 200 * 0x10000
        model.close()


def test_given_a_packed_answer_that_was_not_asked_for_then_it_is_not_unpacked() -> None:
    packed = gzip.compress(b" " * 50_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    with _Raw(head, packed, 1) as raw:
        model = OpenAIModel(Endpoint(raw.base_url, "", "m"))

        assert "sent more than an answer can be" in fails(model)
        assert b"accept-encoding: identity" in raw.request.lower()
        model.close()


def test_given_a_redirect_then_it_is_not_followed_so_that_the_key_goes_nowhere_else(server, model):
    with ModelServer("stolen") as other:
        for status in (301, 302, 303, 307, 308):
            server.play(Status(status, {"location": f"{other.base_url}/chat/completions"}))

            assert f"points to another address ({status})" in fails(model)
            assert (server.calls, other.calls) == (1, 0), status


def test_given_a_proxy_in_the_environment_then_the_way_to_this_machine_does_not_lead_over_it(server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    server.play("blue")
    model, elsewhere = openai_model(server), OpenAIModel(Endpoint("http://model.example/v1", "k", "m"))

    assert model.complete(prompt(), SOON).text == "blue"
    # the proxy of the environment is not there
    with pytest.raises(ModelUnavailable, match=r"m at model\.example cannot be reached"):
        elsewhere.complete(prompt(), SOON)
    model.close()
    elsewhere.close()


def test_given_nobody_at_the_address_or_one_that_leads_nowhere_then_the_error_says_so_soon(clock):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        for url in (
            f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            "http://no-such-host.example/v1",
            "https://127.0.0.1:1/v1",
            f"http://{'a' * 70}.example/v1",
            "http://127.0.0.1:1/%zz",
        ):
            model = OpenAIModel(Endpoint(url, "k", "m"), pause=clock.pause)
            says = fails(model)
            model.close()

            assert "cannot be reached" in says, url
            assert "cannot be reached in time" not in says, url


def test_given_a_server_without_tls_or_an_unknown_certificate_then_nothing_is_sent_to_it(server, clock):
    model = OpenAIModel(Endpoint(server.base_url.replace("http:", "https:"), "k", "m"), pause=clock.pause)
    server.play("blue")

    assert "cannot be reached. Check the base URL and its certificate" in fails(model)
    assert server.calls == 0
    model.close()


def test_given_a_server_that_was_started_again_then_a_connection_that_was_kept_does_not_matter() -> None:
    with ModelServer("one") as first:
        model, port = openai_model(first), first.port
        assert model.complete(prompt(), SOON).text == "one"
    assert f"127.0.0.1:{port} cannot be reached" in fails(model)
    model.close()


class _Raw:
    """A server that sends bytes as they are: `head` once, `part` so many times."""

    def __init__(self, head: bytes, part: bytes, times: int) -> None:
        self._head, self._part, self._times = head, part, times
        self.sent, self.request = 0, b""

    def __enter__(self) -> _Raw:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(10)
        self._listener.close()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            self.request = connection.recv(100_000)
            try:
                connection.sendall(self._head)
                for _ in range(self._times):
                    connection.sendall(self._part)
                    self.sent += len(self._part)
            except OSError:
                pass  # the client has gone


def _idle() -> bool:
    """Whether nothing is left to be done on the models' thread, within a second."""
    for _ in range(100):
        if not asyncio.all_tasks(model_http.loop()):
            return True
        time.sleep(0.01)
    return False


def test_given_no_more_threads_when_a_model_is_first_asked_then_the_next_call_finds_a_loop_that_runs(monkeypatch):
    monkeypatch.setattr(model_http, "_loops", [])
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError):
            model_http.loop()
    made = model_http.loop()
    assert asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "it runs"), made).result(60) == "it runs"
    made.call_soon_threadsafe(made.stop)
    while made.is_running():
        threading.Event().wait(0.01)
    made.close()
