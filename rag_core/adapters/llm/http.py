"""Talks to a language model's server: an HTTP client with bounds, driven by one thread of its own.

The thread runs an event loop: a deadline or a cancelled question closes the socket at once, whatever the server does
meanwhile.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import wait
from functools import cache, lru_cache
from typing import Any, TypeVar

import httpx2

from rag_core.domain.llm_trace import Limits
from rag_core.errors import Cancelled
from rag_core.settings.endpoints import Endpoint
from rag_core.settings.request_context import REQUEST

MAX_BYTES = 1_000_000  # a longer answer of a server is refused; a draft has some thousand
CONNECT_SECONDS = 5.0  # a server that does not accept a connection by then counts as down; chosen
_POLL_SECONDS = 0.05  # how often a question is asked whether it was cancelled

_T = TypeVar("_T")
_starting = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []  # at most one


class AnswerTooLarge(httpx2.RequestError):
    """A server's answer is over `MAX_BYTES`, or packed so that its size cannot be known. Nothing more of it is read."""


def run(work: Callable[[], Coroutine[Any, Any, _T]], limits: Limits) -> _T:
    """The result of `work`, done on the thread of this module; not begun where the limits leave no time for it.

    Raises:
        TimeoutError: it was not there within the limits.
        Cancelled: the user stopped it. In both cases `work` was ended.
    """
    if limits.cancelled():
        raise _stopped()
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work(), limits.seconds), loop())
    try:
        while not wait([future], _POLL_SECONDS).done:
            if limits.cancelled():
                raise _stopped()
        return future.result()
    finally:
        future.cancel()


def _stopped() -> Cancelled:
    return Cancelled("The question was stopped while the language model was asked.", remedy="Ask again.")


def loop() -> asyncio.AbstractEventLoop:
    """The event loop on its thread, one in the process, started when it is first needed."""
    with _starting:
        if not _loops:
            made = asyncio.new_event_loop()
            try:
                threading.Thread(target=made.run_forever, name="language-model", daemon=True).start()
            except RuntimeError:  # the system gives no more threads: calls would wait for a loop that never runs
                made.close()
                raise
            _loops.append(made)
        return _loops[0]


def http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """A client for one server: it follows no redirect, so that a key goes nowhere else, and bounds what it reads.

    Proxies of the environment are used, except on the way to this machine itself.
    """
    return httpx2.AsyncClient(
        transport=httpx2.AsyncHTTPTransport(verify=_trusted())
        if endpoint.local
        else None,  # with one of our own, no proxy is looked up
        verify=_trusted(),
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),  # the whole call has a deadline instead
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [_traced], "response": [_bound]},
    )


@cache
def _trusted() -> ssl.SSLContext:
    """The certificate authorities that clients believe; reading them takes 35 ms of the processor."""
    return httpx2.create_ssl_context()


async def _traced(sent: httpx2.Request) -> None:
    """Have a server's own trace go on from the request that it is asked for."""
    if request := REQUEST.get():
        sent.headers["traceparent"] = request.traceparent


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise AnswerTooLarge("Too large.", request=response.request)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Bounded(response.stream, response.request)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, request: httpx2.Request) -> None:
        self._inner, self._request = inner, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._inner:
            read += len(part)
            if read > MAX_BYTES:
                raise AnswerTooLarge("Too large.", request=self._request)
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


MIN_CHARS = 8  # a shorter key ("none", "ollama") is a word that a document may hold, and guards nothing
# a part of a key that is taken out by itself; a shorter one may be a word, and tells little of the key
MIN_PART_CHARS = 16
HIDDEN = "[key]"


def without_key(text: str, key: str) -> str:
    """The text with `[key]` for the key, with or without its label ("sk-"), and for three quarters of it.

    Case and JSON's escapes do not matter. Other codings (spaces between, Base64) are not known.
    """
    return _pattern(key).sub(HIDDEN, text) if len(key) >= MIN_CHARS else text


@lru_cache(maxsize=8)
def _pattern(key: str) -> re.Pattern[str]:
    most = len(key) * 3 // 4
    label = max(key.rfind("-", 0, 12), key.rfind("_", 0, 12)) + 1
    parts = {part for part in (key[label:], key[:most], key[-most:]) if len(part) >= MIN_PART_CHARS}
    longest_first = [key, *sorted(parts, key=len, reverse=True)]
    return re.compile("|".join("".join(map(_letter, part)) for part in longest_first), re.IGNORECASE)


def _letter(letter: str) -> str:
    return rf"(?:\\?{re.escape(letter)}|\\u{ord(letter):04x})"
