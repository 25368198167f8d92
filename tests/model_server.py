"""A language model made for tests: a real HTTP server on this machine that speaks the chat protocol and says what its
script tells it.

    with ModelServer(honest) as server:                 # or ModelServer([{"answerable": ...}, Status(503), "plain
    text", Hang()])
        ...                                             # OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=anything
        assert server.calls == 1 and server.requests[0]["temperature"] == 0

A script is one reply, replies in order (the last one is said again and again), or a function from `Asked` to a reply. A
reply is a dict (sent as JSON text, as a structured answer comes), a string (sent as it is), a function from `Asked`, or
one of the classes below. `server.play(script)` starts over with another script: nothing recorded, no schema refused.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

Schemas = Literal["honour", "ignore", "refuse"]  # what the server does with `response_format`


@dataclass(frozen=True)
class Asked:
    """One request for a completion: its parsed body, its headers, and what the server says of schemas."""

    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    schemas: Schemas = "honour"

    @property
    def system(self) -> str:
        return "\n".join(
            message["content"] for message in self.body["messages"] if message["role"] in {"system", "developer"}
        )

    @property
    def user(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"] if message["role"] == "user")

    @property
    def schema(self) -> str:
        """The name of the schema that was sent, "" without one."""
        return str((self.body.get("response_format") or {}).get("json_schema", {}).get("name", ""))

    @property
    def structured(self) -> bool:
        """Whether this server answers in the schema."""
        return bool(self.schema) and self.schemas == "honour"


@dataclass(frozen=True)
class Said:
    """A completion in full: why it ended, a refusal in its own field, what it counts as tokens."""

    content: str | dict[str, Any] | None
    finish: str = "stop"
    refusal: str | None = None
    tokens: tuple[int, int] | None = None  # None: counted by words


@dataclass(frozen=True)
class Status:
    """An HTTP error, or a redirect with a `location` header."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "scripted"
    word: str | None = None  # the server's own word for what is wrong, such as context_length_exceeded


@dataclass(frozen=True)
class Body:
    """Any body with any content type under status 200: not JSON, not a completion, a stream that nobody asked for."""

    text: str
    content_type: str = "application/json"


@dataclass(frozen=True)
class Hang:
    """Nothing at all, or the headers and then nothing, until `server.release()` or until the client leaves."""

    headers_first: bool = False


@dataclass(frozen=True)
class Drop:
    """Half of a reply, then the connection closes."""

    reply: Any = "This answer will never be whole."


@dataclass(frozen=True)
class Drip:
    """A reply in pieces of `size` bytes, one every `every` seconds."""

    reply: Any = "This answer comes one byte now and then."
    every: float = 0.05
    size: int = 1


@dataclass(frozen=True)
class Huge:
    """A completion whose text has this many bytes."""

    size: int = 10_000_000


@dataclass(frozen=True)
class Slow:
    """A reply that takes the model `seconds` to think of."""

    reply: Any
    seconds: float


Reply = Any  # dict | str | Said | Status | Body | Hang | Drop | Drip | Huge | Slow | Callable[[Asked], Reply]
Script = Reply | Sequence[Reply]


class ModelServer:
    """The server, from `with` to the end of it.

    Args:
        script: what it says.
        schemas: `honour` and answer in the schema that was sent, `ignore` it (`honest` then writes plain text), or
            `refuse` it with a 400.
        key: the only API key that it lets in; any where None.
        model: its name in `/v1/models`; every name is answered.
    """

    def __init__(
        self, script: Script = "", schemas: Schemas = "honour", key: str | None = None, model: str = "scripted"
    ) -> None:
        self.key, self.model = key, model
        self.refused = 0  # requests turned away for their schema; they count as calls too
        self.left = threading.Event()  # set once a client has gone while the server hung
        self._lock = threading.Lock()
        self.play(script, schemas)

    def play(self, script: Script, schemas: Schemas = "honour") -> None:
        """Start over with this script."""
        with self._lock:
            self.script, self.schemas = script, schemas
            self.asked: list[Asked] = []
            self.refused = 0
            self._said = 0
            self._released = threading.Event()
            self.left.clear()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The parsed bodies of all requests for a completion, in order."""
        return [asked.body for asked in self.asked]

    @property
    def calls(self) -> int:
        return len(self.asked)

    def release(self) -> None:
        """Let a hanging answer end."""
        self._released.set()

    def __enter__(self) -> ModelServer:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        self.port: int = listener.getsockname()[1]
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # an answer that drops half-way is meant
        routes = [
            Route("/v1/chat/completions", _Completions(self), methods=["POST"]),
            Route("/v1/models", self._models, methods=["GET"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            loop="asyncio",
            http="h11",
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="model-server", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._released.set()
        self._server.should_exit = True
        self._thread.join(10)
        if self._thread.is_alive():
            raise RuntimeError("The model server did not stop within 10 seconds.")

    def next_reply(self, asked: Asked) -> Reply:
        """Record the request and take the next reply of the script."""
        with self._lock:
            self.asked.append(asked)
            if self.schemas == "refuse" and asked.schema:
                self.refused += 1
                return Status(400, message="response_format of type json_schema is not supported by this server")
            reply = self.script
            if isinstance(reply, Sequence) and not isinstance(reply, str):
                reply = reply[min(self._said, len(reply) - 1)]
                self._said += 1
        while callable(reply):
            reply = reply(asked)
        return reply

    def closed(self, request: Request) -> Response | None:
        """An error where the key is not the one."""
        if self.key is None or request.headers.get("authorization") == f"Bearer {self.key}":
            return None
        return _error(Status(401, message="Incorrect API key provided."))

    async def _models(self, request: Request) -> Response:
        found = {"object": "list", "data": [{"id": self.model, "object": "model", "created": 0, "owned_by": "tests"}]}
        return self.closed(request) or JSONResponse(found)

    async def hang(self, request: Request) -> None:
        """Wait until released, or until the client has gone."""
        released = self._released
        while not released.is_set():
            if await request.is_disconnected():
                self.left.set()
                return
            await asyncio.sleep(0.01)


class _Completions:
    """The end point as a bare ASGI application, so that an answer can also be cut off."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        response = self.server.closed(request)
        if response is None:
            asked = Asked(await request.json(), dict(request.headers), self.server.schemas)
            response = await self._response(self.server.next_reply(asked), asked, request)
        if response is not None:
            await response(scope, receive, send)

    async def _response(self, reply: Reply, asked: Asked, request: Request) -> Response | None:
        while isinstance(reply, Slow):
            await asyncio.sleep(reply.seconds)
            reply = reply.reply
            while callable(reply):
                reply = reply(asked)
        match reply:
            case Status():
                return _error(reply)
            case Body():
                return Response(reply.text.encode("utf-8", "surrogatepass"), media_type=reply.content_type)
            case Hang(headers_first=False):
                await self.server.hang(request)
                return _completion("", asked)
            case Hang():
                return StreamingResponse(self._nothing(request), media_type="application/json")
            case Drop():
                whole = bytes(_completion(reply.reply, asked).body)
                return _Cut(whole[: len(whole) // 2], len(whole))
            case Drip():
                whole = bytes(_completion(reply.reply, asked).body)
                return StreamingResponse(_drip(whole, reply, request), media_type="application/json")
            case Huge():
                return _completion("x" * reply.size, asked)
            case _:
                return _completion(reply, asked)

    async def _nothing(self, request: Request) -> AsyncIterator[bytes]:
        yield b" "
        await self.server.hang(request)


class _Cut(Response):
    """The first bytes of a longer body; without the rest uvicorn closes the connection."""

    def __init__(self, body: bytes, whole: int) -> None:
        self.beginning, self.whole = body, whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = [(b"content-type", b"application/json"), (b"content-length", str(self.whole).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": self.beginning, "more_body": True})


async def _drip(whole: bytes, reply: Drip, request: Request) -> AsyncIterator[bytes]:
    for start in range(0, len(whole), reply.size):
        if await request.is_disconnected():
            return
        yield whole[start : start + reply.size]
        await asyncio.sleep(reply.every)


def _error(status: Status) -> Response:
    body = {"error": {"message": status.message, "type": "scripted", "param": None, "code": status.word}}
    return JSONResponse(body, status.code, headers=dict(status.headers))


def _completion(reply: Reply, asked: Asked) -> Response:
    said = reply if isinstance(reply, Said) else Said(reply)
    if not isinstance(said.content, str | dict | None):
        raise TypeError(f"{type(said.content)} is no reply; was it imported from another copy of this module?")
    content = json.dumps(said.content, ensure_ascii=False) if isinstance(said.content, dict) else said.content
    tokens_in, tokens_out = said.tokens or (
        len((asked.system + " " + asked.user).split()),
        len((content or "").split()),
    )
    message = {"role": "assistant", "content": content, "refusal": said.refusal}
    body = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish, "logprobs": None}],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out},
    }
    # escaped, so that half a surrogate pair can be said too
    return Response(json.dumps(body), media_type="application/json")
