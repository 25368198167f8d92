"""The clients: each call of `calls` is a method of both. All methods raise `ServiceError` where the service does not do it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx2

from rag_core.client import calls
from rag_core.client.call import Call
from rag_core.client.sending import ServiceError, event, failure, options, stage, unreachable, wait_seconds
from rag_core.service.messages import models

T = TypeVar("T")
P = ParamSpec("P")
RETRIES = 3  # calls that are sent again where the service is busy
SUCCESS = range(200, 300)  # HTTP statuses


def _now(make: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    def sent(self: Client, /, *given: P.args, **named: P.kwargs) -> T:
        return self.send(make(*given, **named))

    sent.__doc__ = make.__doc__
    return sent


def _later(make: Callable[P, Call[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    async def sent(self: AsyncClient, /, *given: P.args, **named: P.kwargs) -> T:
        return await self.send(make(*given, **named))

    sent.__doc__ = make.__doc__
    return sent


class Client:
    """Calls the service and waits for it. Safe to share between threads.

    Args:
        address: such as "http://127.0.0.1:8501".
        token: as `token create` printed it; None on the machine of a service without tokens.
        retries: how often a call is sent again where the service is busy.
        visit: as `begin_visit` told it, for a visitor of a shared demo, who has no token.
    """

    def __init__(self, address: str, token: str | None = None, *, retries: int = RETRIES, visit: str | None = None) -> None:
        self._http, self._retries = httpx2.Client(**options(address, token, visit)), retries

    index = _now(calls.index)
    index_files = _now(calls.index_files)
    query = _now(calls.query)
    decide = _now(calls.decide)
    judge = _now(calls.judge)
    confidence = _now(calls.confidence)
    collections = _now(calls.collections)
    create, drop = _now(calls.create), _now(calls.drop)
    begin_visit, end_visit = _now(calls.begin_visit), _now(calls.end_visit)
    quota, set_quota = _now(calls.quota), _now(calls.set_quota)
    documents = _now(calls.documents)
    document = _now(calls.document)
    describe = _now(calls.describe)
    delete, erase = _now(calls.delete), _now(calls.erase)
    page = _now(calls.page)
    page_image = _now(calls.page_image)
    decisions = _now(calls.decisions)
    decision = _now(calls.decision)
    replay = _now(calls.replay)
    evidence = _now(calls.evidence)
    feedback = _now(calls.feedback)
    open_feedback = _now(calls.open_feedback)
    run = _now(calls.run)
    report = _now(calls.report)
    runs = _now(calls.runs)
    resume = _now(calls.resume)
    export_run = _now(calls.export_run)
    certify = _now(calls.certify)
    certificates = _now(calls.certificates)
    labels = _now(calls.labels)
    export = _now(calls.export)
    jobs = _now(calls.jobs)
    job = _now(calls.job)
    stop = _now(calls.stop)
    profiles = _now(calls.profiles)
    domain = _now(calls.domain)
    record_execution = _now(calls.record_execution)
    metrics = _now(calls.metrics)

    def send(self, call: Call[T]) -> T:
        """Send a call and read its reply."""
        for left in range(self._retries, -1, -1):
            try:
                response = self._http.request(call.method, call.path, **_sent(call))
            except httpx2.HTTPError as error:
                raise unreachable(error) from error
            wait = wait_seconds(response, left)
            if wait is None:
                break
            time.sleep(wait)
        return _read(call, response)

    def events(self, job: str) -> Iterator[models.Job]:
        """Follow a job to its end."""
        call = calls.job(job)
        try:
            with self._http.stream("GET", f"{call.path}/events") as stream:
                if stream.status_code not in SUCCESS:
                    stream.read()
                    raise failure(stream)
                yield from filter(None, map(event, stream.iter_lines()))
        except httpx2.HTTPError as error:
            raise unreachable(error) from error

    def stages(self, question: str, collection: str = "default", **options: Any) -> Iterator[str | models.Decision]:
        """Ask, and follow it: the name of each stage, at the end the decision. Options as of `query`."""
        call, name = calls.query(question, collection, **options), ""
        try:
            with self._http.stream(call.method, f"{call.path}/events", json=call.json) as stream:
                if stream.status_code not in SUCCESS:
                    stream.read()
                    raise failure(stream)
                for line in stream.iter_lines():
                    name, found = stage(line, name)
                    if found is not None:
                        yield found
        except httpx2.HTTPError as error:
            raise unreachable(error) from error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncClient:
    """Calls the service without holding the event loop; arguments as of `Client`."""

    def __init__(self, address: str, token: str | None = None, *, retries: int = RETRIES, visit: str | None = None) -> None:
        self._http, self._retries = httpx2.AsyncClient(**options(address, token, visit)), retries

    index = _later(calls.index)
    index_files = _later(calls.index_files)
    query = _later(calls.query)
    decide = _later(calls.decide)
    judge = _later(calls.judge)
    confidence = _later(calls.confidence)
    collections = _later(calls.collections)
    create, drop = _later(calls.create), _later(calls.drop)
    begin_visit, end_visit = _later(calls.begin_visit), _later(calls.end_visit)
    quota, set_quota = _later(calls.quota), _later(calls.set_quota)
    documents = _later(calls.documents)
    document = _later(calls.document)
    describe = _later(calls.describe)
    delete, erase = _later(calls.delete), _later(calls.erase)
    page = _later(calls.page)
    page_image = _later(calls.page_image)
    decisions = _later(calls.decisions)
    decision = _later(calls.decision)
    replay = _later(calls.replay)
    evidence = _later(calls.evidence)
    feedback = _later(calls.feedback)
    open_feedback = _later(calls.open_feedback)
    run = _later(calls.run)
    report = _later(calls.report)
    runs = _later(calls.runs)
    resume = _later(calls.resume)
    export_run = _later(calls.export_run)
    certify = _later(calls.certify)
    certificates = _later(calls.certificates)
    labels = _later(calls.labels)
    export = _later(calls.export)
    jobs = _later(calls.jobs)
    job = _later(calls.job)
    stop = _later(calls.stop)
    profiles = _later(calls.profiles)
    domain = _later(calls.domain)
    record_execution = _later(calls.record_execution)
    metrics = _later(calls.metrics)

    async def send(self, call: Call[T]) -> T:
        """Send a call and read its reply."""
        for left in range(self._retries, -1, -1):
            try:
                response = await self._http.request(call.method, call.path, **_sent(call))
            except httpx2.HTTPError as error:
                raise unreachable(error) from error
            wait = wait_seconds(response, left)
            if wait is None:
                break
            await asyncio.sleep(wait)
        return _read(call, response)

    async def events(self, job: str) -> AsyncIterator[models.Job]:
        """Follow a job to its end."""
        call = calls.job(job)
        try:
            async with self._http.stream("GET", f"{call.path}/events") as stream:
                if stream.status_code not in SUCCESS:
                    await stream.aread()
                    raise failure(stream)
                async for line in stream.aiter_lines():
                    found = event(line)
                    if found is not None:
                        yield found
        except httpx2.HTTPError as error:
            raise unreachable(error) from error

    async def stages(self, question: str, collection: str = "default", **options: Any) -> AsyncIterator[str | models.Decision]:
        """Ask, and follow it: the name of each stage, at the end the decision. Options as of `query`."""
        call, name = calls.query(question, collection, **options), ""
        try:
            async with self._http.stream(call.method, f"{call.path}/events", json=call.json) as stream:
                if stream.status_code not in SUCCESS:
                    await stream.aread()
                    raise failure(stream)
                async for line in stream.aiter_lines():
                    name, found = stage(line, name)
                    if found is not None:
                        yield found
        except httpx2.HTTPError as error:
            raise unreachable(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


def _sent(call: Call[Any]) -> dict[str, Any]:
    """A call as the HTTP library takes it."""
    body: dict[str, Any] = {"data": dict(call.form), "files": [("files", one) for one in call.files]} if call.files else {"json": call.json}
    return {"params": dict(call.params), "headers": dict(call.headers), **body}


def _read(call: Call[T], response: httpx2.Response) -> T:
    if response.status_code not in SUCCESS:
        raise failure(response)
    try:
        return call.read(response.content)
    except ValueError as error:
        raise unreachable(error) from error


__all__ = ["AsyncClient", "Client", "ServiceError"]
