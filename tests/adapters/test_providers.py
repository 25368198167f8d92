"""Models of providers through LiteLLM, over real HTTP: a server here speaks each provider's own protocol."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from model_kit import KEY, SOON, prompt

from rag_core.adapters.llm.openai_server import OpenAIModel
from rag_core.domain.llm_trace import Completion, Limits
from rag_core.errors import ModelUnavailable
from rag_core.settings.endpoints import PROVIDERS, Endpoint

pytestmark = [
    pytest.mark.litellm,
    pytest.mark.skipif(find_spec("litellm") is None, reason="the packages of `make litellm` are not installed"),
]

BLUE = '{"name": "blue"}'
ROOT = Path(__file__).resolve().parents[2]
MODELS = {"anthropic": "claude-sonnet-4-5", "azure": "drafts", "bedrock": "amazon.nova-lite-v1:0"}
MODELS["vertex_ai"] = "gemini-2.5-flash"
AWS = {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "secret-of-a-test", "AWS_REGION_NAME": "eu-central-1"}


class Cloud(ThreadingHTTPServer):
    """The four providers on one port. `fails` is what they answer instead: status, body, headers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.fails: tuple[int, dict[str, Any] | bytes, dict[str, str]] | None = None
        self.asked: list[dict[str, Any]] = []
        self.seen: list[dict[str, str]] = []
        self.google = RSAKey.generate_key(2048)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Cloud

    def log_message(self, *_: object) -> None: ...

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        path = unquote(urlsplit(self.path).path)
        if path == "/token":
            assertion = dict(part.split("=", 1) for part in body.decode().split("&"))["assertion"]
            jwt.decode(assertion, self.server.google)
            return self.answer(200, {"access_token": "of-google", "expires_in": 3600, "token_type": "Bearer"})
        asked = json.loads(body)
        self.server.asked.append(asked)
        self.server.seen.append({name.lower(): value for name, value in self.headers.items()})
        if self.server.fails is not None:
            return self.answer(*self.server.fails)
        for begin, provider in (
            ("/v1/messages", self.anthropic),
            ("/openai/deployments/drafts/chat/completions", self.azure),
            ("/model/amazon.nova-lite-v1:0/converse", self.bedrock),
            ("/v1/projects/tests/locations/europe-west4/publishers/google/models/gemini-2.5-flash", self.vertex),
        ):
            if path.startswith(begin):
                return self.answer(*provider(asked, body))
        return self.answer(404, {"error": {"type": "not_found_error", "message": path}})

    def anthropic(self, asked: dict[str, Any], _: bytes) -> tuple[int, dict[str, Any]]:
        if self.headers["x-api-key"] != KEY:
            return 401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
        if (
            not self.headers["anthropic-version"]
            or {"seed", "response_format"} & asked.keys()
            or not asked["max_tokens"]
        ):
            return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "Bad."}}
        assert [one["role"] for one in asked["messages"]] == ["user"]
        content = [{"type": "text", "text": BLUE}]
        usage = {"input_tokens": 5, "output_tokens": 3}
        return 200, {"type": "message", "role": "assistant", "model": "m", "id": "1", "content": content} | {
            "stop_reason": "end_turn",
            "usage": usage,
        }

    def azure(self, asked: dict[str, Any], _: bytes) -> tuple[int, dict[str, Any]]:
        if self.headers["api-key"] != KEY or "api-version=" not in self.path:
            return 401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key."}}
        message = {"role": "assistant", "content": BLUE}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
        return 200, {"id": "1", "object": "chat.completion", "created": 0, "model": "m"} | {
            "choices": choices,
            "usage": usage,
        }

    def bedrock(self, asked: dict[str, Any], body: bytes) -> tuple[int, dict[str, Any]]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        said = self.headers["authorization"]
        names = said.split("SignedHeaders=")[1].split(",")[0].split(";")
        request = AWSRequest("POST", f"{self.server.address}{self.path}", {}, body)
        for name in names:
            request.headers[name] = self.headers[name]
        request.context["timestamp"] = self.headers["x-amz-date"]
        signer = SigV4Auth(Credentials("AKIATEST", "secret-of-a-test"), "bedrock", "eu-central-1")
        canonical = signer.canonical_request(request)
        if said.split("Signature=")[1] != signer.signature(signer.string_to_sign(request, canonical), request):
            return 403, {"message": "The request signature we calculated does not match."}
        assert asked["system"][0]["text"] == "Rules."
        message = {"role": "assistant", "content": [{"text": BLUE}]}
        usage = {"inputTokens": 5, "outputTokens": 3, "totalTokens": 8}
        return 200, {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {}}

    def vertex(self, asked: dict[str, Any], _: bytes) -> tuple[int, dict[str, Any]]:
        if self.headers["authorization"] != "Bearer of-google":
            return 401, {"error": {"code": 401, "message": "No.", "status": "UNAUTHENTICATED"}}
        content = {"role": "model", "parts": [{"text": BLUE}]}
        usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
        return 200, {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}

    def answer(self, status: int, said: dict[str, Any] | bytes, headers: dict[str, str] | None = None) -> None:
        raw = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        defaults = {"content-type": "application/json", "content-length": str(len(raw))}
        for name, value in (defaults | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(raw)


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with Cloud() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def addresses(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where providers are, and who asks, in their own variables."""
    cloud.fails = None
    cloud.asked.clear()
    cloud.seen.clear()
    account = tmp_path / "account.json"
    known = {
        "type": "service_account",
        "project_id": "tests",
        "private_key": cloud.google.as_pem(private=True).decode(),
    }
    known |= {"client_email": "a@example.org", "private_key_id": "1", "token_uri": f"{cloud.address}/token"}
    account.write_text(json.dumps(known), encoding="utf-8")
    values = AWS | {"GOOGLE_APPLICATION_CREDENTIALS": str(account), "VERTEXAI_PROJECT": "tests"}
    for name in ("ANTHROPIC_API_BASE", "AZURE_API_BASE", "AWS_BEDROCK_RUNTIME_ENDPOINT", "VERTEXAI_API_BASE"):
        values[name] = cloud.address
    values["VERTEXAI_LOCATION"] = "europe-west4"
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def ask(provider: str, limits: Limits = SOON, key: str | None = None, model: str | None = None) -> Completion:
    keys = {"anthropic": KEY, "azure": KEY}
    endpoint = Endpoint(
        f"litellm://{provider}", keys.get(provider, "") if key is None else key, model or MODELS[provider]
    )
    asked = OpenAIModel(endpoint, jitter=lambda: 0.999)
    try:
        return asked.complete(prompt(), limits)
    finally:
        asked.close()


def test_given_a_provider_when_its_model_is_asked_then_its_own_protocol_is_spoken(cloud: Cloud) -> None:
    assert MODELS.keys() == set(PROVIDERS)
    for provider, model in MODELS.items():
        answer = ask(provider)

        assert (answer.text, answer.complete, answer.structured) == (BLUE, True, True), provider
        assert (answer.tokens_in, answer.tokens_out) == (5, 3), provider
        assert (answer.model, answer.endpoint) == (model, provider)
        assert cloud.seen[-1]["accept-encoding"] == "identity", provider
    assert len(cloud.asked) == 4


def test_given_a_provider_that_refuses_then_its_own_status_and_word_are_named(cloud: Cloud) -> None:
    cases: dict[tuple[str, int], tuple[dict[str, Any], dict[str, str], str]] = {
        ("anthropic", 404): (
            {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}},
            {},
            ", not_found_error",
        ),
        ("anthropic", 529): (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            {},
            ", overloaded_error",
        ),
        ("azure", 404): ({"error": {"code": "DeploymentNotFound", "message": "None."}}, {}, ", DeploymentNotFound"),
        ("azure", 400): ({"error": {"code": "content_filter", "message": "No."}}, {}, ", content_filter"),
        ("bedrock", 403): (
            {"message": "No."},
            {"x-amzn-errortype": "AccessDeniedException:http://a/"},
            ", AccessDeniedException",
        ),
        ("vertex_ai", 429): (
            {"error": {"code": 429, "message": "No.", "status": "RESOURCE_EXHAUSTED"}},
            {},
            ", RESOURCE_EXHAUSTED",
        ),
        ("azure", 500): ({}, {}, ""),
    }
    for (provider, status), (body, headers, word) in cases.items():
        cloud.fails = (status, body, {"retry-after": "0"} | headers)
        cloud.asked.clear()
        with pytest.raises(ModelUnavailable) as caught:
            ask(provider)

        assert f"({status}{word})" in caught.value.problem, provider
        assert status == 400 or len(cloud.asked) == (3 if status >= 429 else 1), provider


def test_given_a_wrong_key_or_none_then_that_is_said_and_nothing_is_sent_without_one(cloud, monkeypatch):
    with pytest.raises(ModelUnavailable, match=r"did not accept the key \(401, authentication_error\)"):
        ask("anthropic", key="sk-another-of-a-test-0123456789")
    cloud.asked.clear()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere.json")
    monkeypatch.setenv("VERTEXAI_PROJECT", "others")  # the tokens of a project are kept
    for provider, word in (
        ("bedrock", "NoCredentialsError"),
        ("vertex_ai", "DefaultCredentialsError"),
        ("anthropic", ""),
    ):
        with pytest.raises(ModelUnavailable, match=rf"did not accept the key \(401, \w*{word}"):
            ask(provider, key="")
    assert cloud.asked == []


def test_given_a_redirect_then_no_key_follows_it(cloud: Cloud) -> None:
    cloud.fails = (307, {}, {"location": f"{cloud.address}/elsewhere"})
    for provider in ("anthropic", "azure"):
        cloud.asked.clear()
        with pytest.raises(ModelUnavailable, match=r"points to another address \(307\)"):
            ask(provider)

        assert len(cloud.asked) == 1, provider


def test_given_an_answer_that_is_too_large_or_none_then_it_is_no_answer(cloud: Cloud) -> None:
    for said, problem in ((b"x" * 1_000_001, "sent more than an answer can be"), (b"{}", "no chat completion")):
        for provider in MODELS:
            cloud.fails = (200, said, {})
            with pytest.raises(ModelUnavailable, match=problem):
                ask(provider)


def test_given_no_server_or_no_time_then_that_is_said(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelUnavailable, match="did not answer within 0"):
        ask("anthropic", limits=Limits(0.0))
    for name in ("ANTHROPIC_API_BASE", "AZURE_API_BASE"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for provider in ("anthropic", "azure"):
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            ask(provider)


def test_nothing_is_fetched_read_from_a_file_of_variables_or_written_when_it_is_asked(cloud, tmp_path):
    """The audit hook of a process of its own sees each connection; LiteLLM fetches its list of prices by default."""
    (tmp_path / ".env").write_text("LEAKED=yes\n", encoding="utf-8")
    program = """
import os, sys
asked = []
sys.addaudithook(lambda event, given: event in ("socket.connect", "socket.getaddrinfo") and asked.append(given))
from model_kit import KEY, SOON, prompt
from rag_core.adapters.llm.openai_server import OpenAIModel
from rag_core.settings.endpoints import Endpoint
model = OpenAIModel(Endpoint("litellm://anthropic", KEY, "claude-sonnet-4-5"))
print(model.complete(prompt(), SOON).text, "LEAKED" in os.environ, {str(given[-1]) for given in asked})
try:
    OpenAIModel(Endpoint("litellm://anthropic", "sk-another-0123456789", "m")).complete(prompt(), SOON)
except Exception as error:
    print(type(error).__name__)
"""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests", ROOT / "tests" / "adapters")))},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.stdout.splitlines() == [f"{BLUE} False {{\"('127.0.0.1', {cloud.server_port})\"}}", "ModelUnavailable"]
    assert run.stderr == ""


def test_no_line_of_a_log_holds_a_key_or_a_passage(cloud: Cloud, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    cloud.fails = (400, {"error": {"type": "invalid_request_error", "message": f"{KEY} A colour?"}}, {})
    for provider in ("anthropic", "azure"):
        with pytest.raises(ModelUnavailable):
            ask(provider)

    assert KEY not in caplog.text
    assert "A colour?" not in caplog.text
