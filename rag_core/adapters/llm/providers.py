"""Language models of providers with protocols of their own (Anthropic, Azure, Bedrock, Vertex), by LiteLLM.

LiteLLM only translates: what it would send goes through the client of `http.py`, which bounds answers and follows no
redirect with a key, and the provider's own errors are passed on. Where it is and who asks, it takes from the variables
of the provider (`AWS_REGION_NAME`, `AZURE_API_BASE`, `GOOGLE_APPLICATION_CREDENTIALS`, ...).
"""

from __future__ import annotations

import json
import logging
import os
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpx
import httpx2

# Read while it is imported: it would fetch lists of prices, and copy a file `.env` into the environment.
os.environ |= {"LITELLM_OFFLINE_MODE": "true", "LITELLM_MODE": "PRODUCTION"}

import litellm
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from rag_core.adapters.llm.http import http_client
from rag_core.settings.endpoints import Endpoint

litellm.suppress_debug_info = True  # it prints advertisements at each error
logging.getLogger("LiteLLM").disabled = True  # its lines may quote prompts


@dataclass
class _Exchange:
    """One call of a provider: the client that it goes through, and what came of it."""

    http: httpx2.AsyncClient
    answer: httpx2.Response | None = None
    problem: httpx2.RequestError | None = None


_EXCHANGE: ContextVar[_Exchange] = ContextVar("exchange")


class _Sending(httpx.AsyncBaseTransport):
    """Sends what LiteLLM made of a request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _EXCHANGE.get()
        headers = [(name, value) for name, value in request.headers.multi_items() if name != "accept-encoding"]
        try:
            exchange.answer = await exchange.http.request(
                request.method, str(request.url), headers=headers, content=await request.aread()
            )
        except httpx2.RequestError as problem:
            exchange.problem = problem
            raise httpx.RequestError("Not sent.", request=request) from problem
        return httpx.Response(
            exchange.answer.status_code,
            headers=exchange.answer.headers.multi_items(),
            content=exchange.answer.content,
            request=request,
        )


_CLIENT = AsyncHTTPHandler(transport=_Sending(), follow_redirects=False)
litellm.aclient_session = httpx.AsyncClient(transport=_Sending(), follow_redirects=False)  # for Azure


class _Provider(httpx2.AsyncBaseTransport):
    """Answers a request of OpenAI's chat protocol by asking the provider of an endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._http, self._provider, self._key = http_client(endpoint), endpoint.host, endpoint.key or None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = _Exchange(self._http)
        _EXCHANGE.set(exchange)
        asked = json.loads(await request.aread()) | ({} if self._provider == "azure" else {"client": _CLIENT})
        try:
            answer = await litellm.acompletion(
                **asked, custom_llm_provider=self._provider, api_key=self._key, max_retries=0
            )
        except Exception as error:  # LiteLLM's own errors share no class, and say less than the provider
            return _turned_away(exchange, error)
        return httpx2.Response(200, json=answer.model_dump(mode="json"))

    async def aclose(self) -> None:
        await self._http.aclose()


def provider_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """A client for OpenAI's chat protocol, behind which the provider of an endpoint (`litellm://bedrock`) answers."""
    return httpx2.AsyncClient(transport=_Provider(endpoint), timeout=None)


def _turned_away(exchange: _Exchange, error: Exception) -> httpx2.Response:
    """The provider's own error in OpenAI's form, or LiteLLM's where nothing was sent; a failed connection is raised."""
    if exchange.problem is not None:
        raise exchange.problem
    answer = exchange.answer
    if answer is None:
        word = type(error.__cause__ or error.__context__ or error).__name__  # such as NoCredentialsError
        status = 400 if isinstance(error, litellm.BadRequestError) else 401
        return httpx2.Response(status, json={"error": {"message": str(error), "code": word}})
    if answer.status_code < 300:  # LiteLLM cannot read it
        return httpx2.Response(200)
    waits = {name: value for name, value in answer.headers.items() if name == "retry-after"}
    return httpx2.Response(answer.status_code, headers=waits, json={"error": _problem(answer)})


def _problem(answer: httpx2.Response) -> dict[str, Any]:
    """The provider's message and its word for what is wrong, which AWS puts into a header."""
    try:
        body = answer.json()
        said = body.get("error", body)
        word = said.get("code") or said.get("type")
    except (ValueError, AttributeError):
        said, word = {}, None
    word = answer.headers.get("x-amzn-errortype", "").partition(":")[0] or word
    return {"message": answer.text, "code": word, "status": said.get("status")}
