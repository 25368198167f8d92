"""The typed client against a real server: every call of both forms, errors, and a service that is busy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from service_kit import SECRET, WARRANTY, Server

from rag_core.client import AsyncClient, Client, ServiceError, calls
from rag_core.client.call import Call

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "samples" / "company-policies.pdf"
NAMES = [name for name, made in vars(calls).items() if name[0].islower() and getattr(made, "__module__", "") == calls.__name__]


def test_given_the_calls_then_both_clients_have_each_of_them() -> None:
    assert len(NAMES) > 20
    for name in NAMES:
        for client in (Client, AsyncClient):
            assert getattr(client, name).__doc__ == getattr(calls, name).__doc__, name


def work_through(call: Callable[[Call[Any]], Any], address: str) -> dict[str, Any]:
    """A program's day: index, ask, look, describe, judge, run, delete."""
    collection = address
    made = call(calls.create(collection)).items
    first = call(
        calls.index([{"content": "The warranty period is 24 months from delivery.", "metadata": {"title": "Terms"}}], collection, key="1")
    )
    files = call(calls.index_files([("zásady.pdf", SAMPLE.read_bytes())], collection, metadata='{"class": "10"}'))
    asked = call(calls.query(WARRANTY, collection, top_k=5))
    pictured = call(calls.query("How do I request vacation?", collection))
    document = first.documents[0].id
    job = call(calls.run("own", [{"id": "1", "question": WARRANTY, "answerable": True}], collection))
    found = {
        "made": made, "indexed": (first.indexed, files.indexed), "answer": asked.answer,
        "confidence": call(calls.confidence(WARRANTY, collection)).confidenceLevel,
        "collections": collection in call(calls.collections()).items,
        "documents": call(calls.documents(collection)).total,
        "document": call(calls.document(document, collection)).title,
        "described": call(calls.describe(document, {"title": "New terms"}, collection)).title,
        "page": call(calls.page(document, 1, collection)).text,
        "image": call(calls.page_image(files.documents[0].id, 1, collection))[:4],
        "together": call(calls.query(WARRANTY, [collection])).answer == asked.answer,
        "kept": call(calls.decisions(collection)).items[-1].question,
        "decision": call(calls.decision(asked.id, collection)).answer,
        "replayed": call(calls.replay(asked.id, collection, settings={"min_correctness": 1.0})).is_refusal,
        "evidence": call(calls.evidence(pictured.id, 1, collection))[:4],
        "said": call(calls.feedback(asked.id, "helpful", collection)).id > 0,
        "feedback": call(calls.open_feedback(collection)).items[0].kind,
        "judged": call(calls.judge("It is red.", "It is red.")).supported,
        "decided": call(calls.decide(WARRANTY, [{"text": "The warranty period is 24 months."}])).citations[0].page,
        "job": call(calls.job(job.id)).total, "jobs": job.id in {one.id for one in call(calls.jobs()).items},
        "stopped": call(calls.stop(job.id)).id == job.id,
        "report": call(calls.report(job.run, collection))["total"],
        "deleted": call(calls.delete(document, collection)),
        "erased": call(calls.erase(document, collection)).decisions > 0,
    }  # fmt: skip
    return found


WANTED = {
    "indexed": (1, 1), "collections": True, "documents": 2, "document": "Terms", "described": "New terms",
    "page": "The warranty period is 24 months from delivery.", "image": b"\x89PNG", "kept": WARRANTY, "replayed": True, "together": True,
    "evidence": b"\x89PNG", "said": True, "feedback": "helpful", "judged": True, "decided": 1, "job": 1, "jobs": True, "stopped": True,
    "report": 1, "deleted": None, "erased": True,
}  # fmt: skip


def test_given_the_service_when_a_program_works_with_it_then_every_call_comes_back_as_its_type(server: Server) -> None:
    with Client(server.address, server.tokens["admin"]) as client:
        found = work_through(client.send, "client")
        followed = [
            one.state for one in client.events(client.run("x", [{"id": "1", "question": "Why?", "answerable": False}], "client").id)
        ]

    assert {name: found[name] for name in WANTED} == WANTED
    assert "24 months" in found["answer"]
    assert found["answer"] == found["decision"]
    assert followed[-1] == "finished"


def test_given_the_service_when_many_are_awaited_at_once_then_each_reply_is_its_own(server: Server) -> None:
    async def day() -> tuple[list[str], list[str]]:
        async with AsyncClient(server.address, server.tokens["alpha"]) as client:
            answers: list[Awaitable[Any]] = [
                client.query(WARRANTY, "alpha"),
                client.judge("It is red.", "It is blue."),
                client.collections(),
            ]
            one, two, three = await asyncio.gather(*answers)
            begun = await client.run("async", [{"id": "1", "question": WARRANTY, "answerable": True}], "alpha")
            states = [job.state async for job in client.events(begun.id)]
            return [one.answer, str(two.supported), *three.items], states

    found, states = asyncio.run(day())
    assert found == [server.known["alpha"]["answer"], "False", "alpha"]
    assert states[-1] == "finished"


def test_given_a_key_when_a_run_feedback_or_execution_is_sent_twice_then_it_is_done_once(server: Server) -> None:
    rows = [{"id": "1", "question": WARRANTY, "answerable": True}]
    with Client(server.address, server.tokens["alpha"]) as client:
        decision = client.query(WARRANTY, "alpha").id
        twice: dict[str, Callable[[str], Any]] = {
            "run": lambda key: client.run("keyed", rows, "alpha", key=key).id,
            "feedback": lambda key: client.feedback(decision, "helpful", "alpha", comment="keyed", key=key).id,
            "execution": lambda key: client.record_execution("rag_strategy", 1, 1, False, "alpha", key=key).id,
        }
        for name, call in twice.items():
            assert call(name) == call(name), name
            assert call(f"{name} anew") != call(name), name
        with pytest.raises(ServiceError, match="idempotency key"):  # another call has it, whatever it is about
            client.run("other", rows, "alpha", key="feedback")
        with pytest.raises(ServiceError, match="idempotency key"):
            client.feedback(decision, "helpful", "alpha", comment="another", key="feedback")
        with Client(server.address, server.tokens["admin"]) as other:  # a key is its caller's own
            assert other.feedback(decision, "helpful", "alpha", comment="keyed", key="feedback").id != twice["feedback"]("feedback")

        for job in client.jobs().items:
            list(client.events(job.id))
        for listed in (client.runs, client.open_feedback):
            first = listed("alpha", limit=1)
            second = listed("alpha", limit=1, offset=first.next or 0)
            assert first.next == 1
            assert first.items != second.items
            assert listed("alpha", limit=1, offset=1000).items == []
        assert client.jobs(limit=1).next == 1
        assert client.jobs(limit=200).next is None


def test_given_no_language_model_when_a_question_is_followed_then_its_stages_come_before_the_decision(server: Server) -> None:
    async def follow() -> list[Any]:
        async with AsyncClient(server.address, server.tokens["alpha"]) as client:
            return [one async for one in client.stages(WARRANTY, "alpha")]

    with Client(server.address, server.tokens["alpha"]) as client:
        now = list(client.stages(WARRANTY, "alpha"))
        with pytest.raises(ServiceError) as refused:
            list(client.stages(WARRANTY, "alpha", settings={"top_k": 0}))
        with pytest.raises(ServiceError, match="collection"):
            list(client.stages(SECRET, "beta"))
    assert refused.value.status == 422
    for found in (now, asyncio.run(follow())):
        assert found[:2] == ["search", "decide"]
        assert found[2].answer == server.known["alpha"]["answer"]
        assert len(found) == 3


def test_given_the_figures_when_a_program_asks_for_them_then_they_come_as_prometheus_reads_them(server: Server) -> None:
    with Client(server.address, server.tokens["admin"]) as client:
        assert b"plumbline_ready 1.0" in client.metrics()
    with Client(server.address, server.tokens["reader"]) as client, pytest.raises(ServiceError, match="watch"):
        client.metrics()


def test_given_what_is_refused_when_called_then_the_error_has_problem_remedy_kind_and_status(server: Server) -> None:
    def problem(token: str | None, call: Call[Any]) -> tuple[int, str]:
        with Client(server.address, token, retries=0) as client, pytest.raises(ServiceError) as refused:
            client.send(call)
        assert refused.value.remedy
        return refused.value.status, refused.value.kind

    alpha = server.tokens["alpha"]
    assert problem(None, calls.collections()) == (401, "Unauthenticated")
    assert problem(alpha, calls.documents("beta")) == (404, "NotFound")
    assert problem(alpha, calls.documents("../beta")) == (404, "NotFound")
    assert problem(server.tokens["reader"], calls.create("alpha")) == (403, "Forbidden")
    assert problem(alpha, calls.query("")) == (422, "InvalidRequest")
    assert problem(alpha, calls.job("../../healthz")) == (404, "NotFound")
    assert problem(alpha, calls.job("x"))[0] == 422
    with Client(server.address, alpha) as client, pytest.raises(ServiceError):
        list(client.events("0" * 16))
    with Client("http://127.0.0.1:1") as nowhere, pytest.raises(ServiceError, match="not reached"):
        nowhere.collections()


class Busy(BaseHTTPRequestHandler):
    """A service that is busy twice."""

    left = 2

    def do_GET(self) -> None:
        busy = Busy.left > 0
        Busy.left -= 1
        body = b"" if busy else b'{"items": ["default"]}'
        self.send_response(503 if busy else 200)
        self.send_header("retry-after", "0")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


def test_given_a_busy_service_when_called_then_the_call_is_sent_again_as_often_as_was_said() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as busy:
        Thread(target=busy.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{busy.server_port}"
        with Client(address, retries=1) as impatient, pytest.raises(ServiceError, match="503"):
            impatient.collections()
        Busy.left = 2
        with Client(address, retries=2) as client:
            assert client.collections().items == ["default"]
        busy.shutdown()
