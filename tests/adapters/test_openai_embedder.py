"""Embedding by a server: the real client against a real HTTP server on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.embedding.openai_server import BATCH
from rag_core.domain.ports import Embedder
from rag_core.errors import ModelUnavailable

MODEL = "openai:text-embedding-3-large"
DIM = 3072


def vector(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    return [float(x) for x in np.random.default_rng(seed).standard_normal(DIM) * 3]


@dataclass
class Server:
    """Answers `/v1/embeddings`; `failing` statuses come first, `drop` vectors are left out of each answer."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    failing: list[int] = field(default_factory=list)
    drop: int = 0
    url: str = ""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append({**body, "path": self.path, "key": self.headers["authorization"]})
            code = state.failing.pop(0) if state.failing else 200
            texts = body["input"][: len(body["input"]) - state.drop]
            rows = [
                {"object": "embedding", "index": number, "embedding": vector(text)} for number, text in enumerate(texts)
            ]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            reply = (
                {"object": "list", "model": body["model"], "data": rows[::-1], "usage": usage}
                if code == 200
                else {"error": {}}
            )
            sent = json.dumps(reply).encode()
            self.send_response(code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", state.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def embedder(server: Server) -> Iterator[Embedder]:
    found = load_embedder(MODEL, "auto")
    yield found
    found._client.close()  # type: ignore[attr-defined]


def test_given_texts_when_embedded_then_they_are_unit_vectors_in_order_a_hundred_a_request(embedder, server):
    """S3-5: text-embedding-3-large, 3,072 dimensions, batches of 100."""
    texts = [f"text {number}" for number in range(BATCH + 5)]

    vectors = embedder.embed(texts)

    assert (vectors.shape, vectors.dtype) == ((BATCH + 5, DIM), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    wanted = np.array(vector(texts[-1]))
    assert vectors[-1] == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)
    assert BATCH == 100
    assert [len(request["input"]) for request in server.requests] == [BATCH, 5]
    assert {(request["model"], request["path"]) for request in server.requests} == {
        ("text-embedding-3-large", "/v1/embeddings")
    }


def test_given_no_text_or_an_empty_one_then_the_dimension_is_known_and_none_is_sent(embedder, server):
    assert embedder.embed([]).shape == (0, DIM)
    assert embedder.embed([""]).shape == (1, DIM)
    assert all(all(request["input"]) for request in server.requests)


def test_given_the_model_when_named_then_a_library_can_tell_it_from_others(embedder: Embedder) -> None:
    assert (embedder.name, embedder.max_tokens) == ("openai:text-embedding-3-large@float32", 8191)
    assert embedder.count_tokens(["a", "The notice period is 30 days."])[1] > 5
    assert len(embedder.tokenizer) == 12


def test_given_a_busy_server_when_embedded_then_it_is_asked_again(embedder: Embedder, server: Server) -> None:
    server.failing = [429, 503]

    assert embedder.embed(["a"]).shape == (1, DIM)
    assert len(server.requests) == 3


@pytest.mark.parametrize(("failing", "asked"), [([401], 1), ([500, 500, 500], 3)])
def test_given_a_server_that_refuses_then_the_error_names_the_status_and_no_key(embedder, server, failing, asked):
    server.failing = list(failing)

    with pytest.raises(ModelUnavailable, match=str(failing[0])) as found:
        embedder.embed(["a"])

    assert len(server.requests) == asked
    assert "sk-of-a-test" not in f"{found.value!r}{found.value}"


def test_given_a_server_that_leaves_vectors_out_when_embedded_then_nothing_is_guessed(embedder, server):
    server.drop = 1

    with pytest.raises(ModelUnavailable, match="3 texts came back as 2"):
        embedder.embed(["a", "b", "c"])


def test_given_no_key_when_loaded_then_the_remedy_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY"):
        load_embedder(MODEL, "auto")
