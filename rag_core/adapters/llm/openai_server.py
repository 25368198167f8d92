"""A language model behind any server that speaks OpenAI's chat protocol: OpenAI, Ollama, llama.cpp, vLLM, LiteLLM.

The answer comes back as text, whatever it is; the core reads and judges it. What `chat.completions.parse` sends for a
schema is sent here too, but nothing is parsed by the client, which would lose an answer that does not fit the schema.
"""

from __future__ import annotations

import asyncio
import json
import random
import weakref
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Literal

import httpx2
import openai
import regex
from pydantic import BaseModel

from rag_core.adapters.llm import http as model_http
from rag_core.adapters.llm.http import AnswerTooLarge, without_key
from rag_core.adapters.optional import require
from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.errors import ModelUnavailable
from rag_core.settings.endpoints import LITELLM, OPENAI, Endpoint

RETRIES = 2  # after the first try, where it may help
SEED = 1  # any one: the same question is to be answered in the same words
_PAUSE_SECONDS = 0.25  # before the second try; twice as long before each further one
_AGAIN = frozenset({408, 409, 429})  # and 5xx but 501: the same request may be answered later
_UNKNOWN = frozenset({400, 404, 422, 501})  # how servers turn away a request that they do not understand
_SCHEMA_WORDS = ("response_format", "json_schema", "json schema", "structured output", "grammar", "guided")
_BOUND_WORDS = ("maxitems", "maxlength")  # how a server turns them away that takes schemas without
_BOUNDS = frozenset({"maxItems", "maxLength"})
# a server's word for what is wrong, such as context_length_exceeded or DeploymentNotFound
_CODE = regex.compile(r"[A-Za-z][A-Za-z_]{2,40}")
# by HTTP status: what it says, and what to do
_REASONS = {
    401: ("did not accept the key", "Check the key of this endpoint."),
    403: ("does not allow this key to use the model", "Check what the key may do, or use another model."),
    404: ("does not know the model, or not this address", "Check RAG_MODEL and the base URL; mostly /v1."),
    429: ("turns requests away for now", "Wait, or raise the limits of the account."),
}

Structured = Literal["auto", "always", "never"]
Feature = Literal["bounds", "schema", "max_tokens", "temperature", "seed"]  # what a server may not know


class OpenAIModel:
    """The model of one endpoint. Safe to share between threads; connections are kept open between calls.

    What a server turns away (the bounds of a schema or all of it, `max_tokens`, a temperature, a seed) it is not sent
    again in this process. OpenAI's own is sent no bounds: its strict mode does not promise to take them. `jitter`, in
    [0, 1), makes a pause up to a quarter shorter, so that clients do not come back all at once.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        structured: Structured = "auto",
        jitter: Callable[[], float] = random.random,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint, self._structured, self._jitter, self._wait = endpoint, structured, jitter, pause
        self._unknown: frozenset[Feature] = frozenset({"schema"}) if structured == "never" else frozenset()
        if endpoint.base_url == OPENAI:
            self._unknown |= {"bounds"}
        self._schema_known = False  # whether the server has answered by a schema
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key or "none",
            max_retries=0,
            http_client=_http_client(endpoint),
        )
        if endpoint.base_url != OPENAI:  # names of the environment's account are nobody else's business
            self._client.organization = self._client.project = None
        self._create = self._client.chat.completions.with_raw_response.create
        self._closed = weakref.finalize(self, _close, self._client)

    @property
    def name(self) -> str:
        """The model, as it is asked for."""
        return self._endpoint.model

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Host and port of its server."""
        return (self._endpoint.host,)

    def complete(self, prompt: Prompt, limits: Limits) -> Completion:
        """The answer to a prompt, after at most `RETRIES` new tries.

        Raises:
            ModelUnavailable: there is none within the limits; names endpoint and cause, and nothing that the server
                wrote.
            Cancelled: the user stopped it.
        """
        try:
            return model_http.run(lambda: self._complete(prompt, limits.seconds), limits)
        except TimeoutError:
            raise self._unavailable(
                f"did not answer within {max(limits.seconds, 0.0):.3g} seconds",
                "Raise `model_seconds`, or use a smaller model.",
            ) from None
        except openai.APIStatusError as error:
            raise self._turned_away(error) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
            raise self._unreachable(error) from None

    def close(self) -> None:
        """Close the connections; for a model that is not needed any more."""
        self._closed()

    async def _complete(self, prompt: Prompt, seconds: float) -> Completion:
        clock = asyncio.get_running_loop().time  # the one that deadlines go by
        started = clock()
        unknown = self._unknown
        while True:
            try:
                body = await self._post(self._request(prompt, unknown), started + seconds)
                break
            except openai.APIStatusError as error:
                feature = self._not_understood(error, unknown)
                if feature is None:
                    raise
                unknown |= {feature}
        structured = "schema" not in unknown
        self._unknown |= unknown
        self._schema_known |= structured
        ms = (clock() - started) * 1000
        try:
            return _completion(body, prompt.schema, structured, self._endpoint, ms)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            raise self._unavailable(
                "answered with something that is no chat completion",
                "Check that the base URL is that of an OpenAI-compatible server; mostly it ends with /v1.",
            ) from None

    def _request(self, prompt: Prompt, unknown: frozenset[Feature]) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [
                {"role": "system", "content": _whole(prompt.system)},
                {"role": "user", "content": _whole(prompt.user)},
            ],
            "max_completion_tokens" if "max_tokens" in unknown else "max_tokens": prompt.max_tokens,
        }
        if "schema" not in unknown:
            request["response_format"] = _response_format(prompt.schema, bounded="bounds" not in unknown)
        if "temperature" not in unknown:
            request["temperature"] = prompt.temperature
        if "seed" not in unknown:
            request["seed"] = SEED
        return request

    async def _post(self, request: dict[str, Any], deadline: float) -> bytes:
        """The body of the answer; tried again where that may help and the deadline leaves time for it."""
        for tried in range(RETRIES + 1):
            try:
                body: bytes = (await self._create(**request)).content
                return body
            except (openai.APIConnectionError, openai.APIStatusError) as error:
                pause = self._pause(error, tried)
                if pause is None or tried == RETRIES or asyncio.get_running_loop().time() + pause >= deadline:
                    raise
            await self._wait(pause)
        raise AssertionError("the last try returns or raises")

    def _pause(self, error: openai.APIConnectionError | openai.APIStatusError, tried: int) -> float | None:
        """Seconds until the next try: what the server asks for, else doubling; None where no try will help."""
        own = _PAUSE_SECONDS * 2**tried * (1 - self._jitter() / 4)
        if isinstance(error, openai.APIConnectionError):
            return None if isinstance(error.__cause__, AnswerTooLarge | httpx2.ConnectTimeout) else own
        if error.status_code in _AGAIN or (error.status_code >= 500 and error.status_code not in _UNKNOWN):
            return _retry_after(error.response.headers.get("retry-after", ""), own)
        return None

    def _not_understood(self, error: openai.APIStatusError, unknown: frozenset[Feature]) -> Feature | None:
        """The part of the request that the server does not know, by its own words, or None."""
        if error.status_code not in _UNKNOWN:
            return None
        said = f"{error.param} {error.message}".casefold()
        named: list[Feature] = (
            ["bounds"] if "schema" not in unknown and any(word in said for word in _BOUND_WORDS) else []
        )
        named += ["schema"] if any(word in said for word in _SCHEMA_WORDS) else []
        parameters: tuple[Feature, ...] = ("max_tokens", "temperature", "seed")
        named += [name for name in parameters if name in said]
        if not named and error.status_code == 400 and not self._schema_known:
            named = ["schema"]  # some say only that the request is bad
        if self._structured == "always":
            named = [feature for feature in named if feature != "schema"]
        return next((feature for feature in named if feature not in unknown), None)

    def _turned_away(self, error: openai.APIStatusError) -> ModelUnavailable:
        status = error.status_code
        if status in _REASONS:
            what, remedy = _REASONS[status]
        elif status >= 500 and status not in _UNKNOWN:
            what, remedy = "failed", "Try again; if it stays, look into the server's log."
        elif 300 <= status < 400:
            what, remedy = "points to another address", "Set the base URL to that address if you trust it."
        else:
            what = "did not accept the request"
            remedy = "Look into the server's log; mostly the prompt is too long for it."
        return self._unavailable(f"{what} ({', '.join(filter(None, (str(status), self._word(error))))})", remedy)

    def _word(self, error: openai.APIStatusError) -> str:
        """The server's own word for what is wrong, where it is one, and no key."""
        key = self._endpoint.key
        status = error.body.get("status") if isinstance(error.body, dict) else None  # Google's; its code is a number
        words = (one for one in (error.code, status) if isinstance(one, str) and _CODE.fullmatch(one))
        return next((one for one in words if one != key and without_key(one, key) == one), "")

    def _unreachable(self, error: Exception) -> ModelUnavailable:
        if isinstance(error.__cause__, AnswerTooLarge):
            return self._unavailable(
                "sent more than an answer can be", "Check that the base URL is that of an OpenAI-compatible server."
            )
        if isinstance(error.__cause__, httpx2.ConnectTimeout):
            return self._unavailable("cannot be reached in time", "Check the base URL, and that the server runs.")
        if isinstance(error.__cause__, httpx2.ConnectError):
            return self._unavailable(
                "cannot be reached", "Check the base URL and its certificate, and that the server runs."
            )
        return self._unavailable("broke off its answer", "Try again; if it stays, look into the server's log.")

    def _unavailable(self, what: str, remedy: str) -> ModelUnavailable:
        return ModelUnavailable(f"The language model {self.name} at {self._endpoint.host} {what}.", remedy=remedy)


def _http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """The client for a server, or for a provider that LiteLLM translates for; MissingDependency without it."""
    if not endpoint.base_url.startswith(f"{LITELLM}:"):
        return model_http.http_client(endpoint)
    require("litellm", "A language model of a provider")
    from rag_core.adapters.llm.providers import provider_client  # takes four seconds and 150 MB to import

    return provider_client(endpoint)


def _close(client: openai.AsyncOpenAI) -> None:
    asyncio.run_coroutine_threadsafe(client.close(), model_http.loop())


@cache
def _response_format(schema: type[BaseModel], *, bounded: bool = True) -> dict[str, Any]:
    strict: Any = openai.pydantic_function_tool(schema)["function"]["parameters"]
    strict = strict if bounded else _without_bounds(strict)
    return {"type": "json_schema", "json_schema": {"name": schema.__name__, "schema": strict, "strict": True}}


def _without_bounds(part: Any) -> Any:
    """A schema without how long its lists and texts may be."""
    if isinstance(part, dict):
        return {key: _without_bounds(value) for key, value in part.items() if key not in _BOUNDS}
    return [_without_bounds(one) for one in part] if isinstance(part, list) else part


def _completion(body: bytes, schema: type[BaseModel], structured: bool, endpoint: Endpoint, ms: float) -> Completion:
    """The text of a server's answer, without the key that it was sent.

    Raises:
        LookupError, TypeError, ValueError, AttributeError, RecursionError: it is no chat completion.
    """
    answer = json.loads(body)
    choice = answer["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason")
    text, refusal = message.get("content") or "", message.get("refusal")
    if finish == "content_filter" and not refusal:
        refusal = "The content filter of the model's server withheld the answer."
    if refusal:
        text = _refused(str(refusal), schema)
    if not isinstance(text, str):
        raise TypeError("the content is no text")
    usage = answer.get("usage") or {}
    return Completion(
        text=without_key(_whole(text), endpoint.key),
        structured=structured,
        model=endpoint.model,
        endpoint=endpoint.host,
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        ms=ms,
        complete=finish != "length",
    )


def _refused(reason: str, schema: type[BaseModel]) -> str:
    """A refusal in the schema's own words, where it has words for one."""
    if {"answerable", "reason", "claims"} <= schema.model_fields.keys():
        return json.dumps({"answerable": False, "reason": reason, "claims": []})
    return reason


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0


def _whole(text: str) -> str:
    """The text with a question mark for each half of a character, which can be neither sent nor stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _retry_after(header: str, default: float) -> float:
    """Seconds that a `Retry-After` header asks for, as a number or a date, or `default`."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return default
    return max(seconds, 0.0) if seconds == seconds else default
