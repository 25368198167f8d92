"""What the tests of the service share: a real server on a port of this machine, tokens of several callers, documents in
two collections.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from rag_core import wiring
from rag_core.entrypoints.commands.serve import configured
from rag_core.entrypoints.http.app import Front, api, guarded, served
from rag_core.entrypoints.http.origin import LOCAL
from rag_core.entrypoints.mcp.server import http_routes, mcp_server
from rag_core.evaluation import begin, run
from rag_core.evaluation.labelled_files import read_rows
from rag_core.service import service as core
from rag_core.service.service import DEFAULT, Service
from rag_core.settings import Settings
from rag_core.work import loading
from rag_core.work.runner import Runner

ALPHA = "The warranty period is 24 months from delivery. The invoice is due in a month."
BETA = "The secret ingredient of the sauce is juniper. The recipe is from the year 1912."
WARRANTY, SECRET = "How long is the warranty period?", "Which is the secret ingredient of the sauce?"
START_SECONDS = 60


@dataclass
class Server:
    """A running service: where it is, the tokens by name of their holder, and what is in it."""

    address: str
    service: Service
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)

    def client(self, holder: str = "") -> httpx2.Client:
        """A client with the token of a holder; without one, for nobody."""
        headers = {"authorization": f"Bearer {self.tokens[holder]}"} if holder else {}
        return httpx2.Client(base_url=self.address, headers=headers, timeout=60)


def ended(client: httpx2.Client, job: str) -> str:
    """The state of a job at its end, followed by its events."""
    with client.stream("GET", f"/api/jobs/{job}/events") as events:
        told = [line for line in events.raise_for_status().iter_lines() if line.startswith("data: ")]
    return str(json.loads(told[-1].removeprefix("data: "))["state"])


@contextmanager
def listening(app: Any, port: int = 0) -> Iterator[str]:
    """The address of an ASGI app on a port, 0 for a free one, served as `serve` does."""
    config = configured(app)
    config.port, config.timeout_graceful_shutdown = port, 5
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def labelled_run(server: Server, collection: str, name: str, rows: list[dict[str, Any]]) -> int:
    """The number of a run over these labelled questions, as the lab measures it."""
    engine, store = (
        loading.engine(server.folder, collection, server.service.base),
        wiring.records(server.folder, collection),
    )
    head = begin(engine, name, name, read_rows(rows)[0], server.service.base, store)
    run(engine, head, store)
    return head.id


def service_of(folder: Path, **options: Any) -> Service:
    return Service(folder, Settings.load(), Runner(), **{"per_minute": 1_000_000, **options})


@contextmanager
def models_here() -> Iterator[None]:
    """Models in this process that would be in a child of it."""
    here = wiring.entailment_model
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring.models, "embedder_apart", wiring.embedder)
        patch.setattr(core, "embedder_apart", wiring.embedder)
        patch.setattr(wiring.models, "answerability_model", lambda settings, *, apart=False: wiring.models._reader())
        for module in (wiring.models, core):
            patch.setattr(module, "entailment_model", lambda settings, *, apart=False: here(settings))
        patch.delenv("RAG_PRESET", raising=False)
        yield


@contextmanager
def running(folder: Path, port: int = 0, **options: Any) -> Iterator[Server]:
    """A service over a folder, on a port."""
    service = service_of(folder, **options)
    mcp = mcp_server(service)
    routes = http_routes(mcp, options.get("login"))
    front = Front(
        guarded(api(service, routes), LOCAL, service), None, lambda: served(service, mcp.session_manager.run())
    )
    with ExitStack() as closing:
        with models_here():
            address = closing.enter_context(listening(front, port))
            loading.engine(folder, DEFAULT, service.base)  # which the server begins to open when it starts
        yield Server(address, service, folder)


def filled(server: Server) -> None:
    """Make tokens, put a document into each of two collections, and ask each a question."""
    made = server.service.tokens.create
    for holder, scopes, collections in (
        ("alpha", ("ask", "index", "label"), ("alpha", "empty")),
        ("beta", ("ask", "index", "label"), ("beta",)),
        ("reader", ("ask",), ("alpha",)),
        ("admin", ("admin",), ("*",)),
    ):
        server.tokens[holder] = made(holder, scopes, collections)[1]
    for holder, text, question in (("alpha", ALPHA, WARRANTY), ("beta", BETA, SECRET)):
        with server.client(holder) as client:
            sent = {"namespace": holder, "documents": [{"content": text, "metadata": {"title": holder}}]}
            indexed = client.post("/api/rag/index", json=sent).raise_for_status().json()
            pdf = Path(__file__).resolve().parents[2] / "data" / "samples" / "company-policies.pdf"
            with pdf.open("rb") as file:
                client.post("/api/rag/index", data={"namespace": holder}, files={"files": file}).raise_for_status()
            decision = (
                client.post("/api/rag/query", json={"query": question, "namespace": holder}).raise_for_status().json()
            )
            assert decision["is_safe"], decision
            pictured = client.post(
                "/api/rag/query", json={"query": "How do I request vacation?", "namespace": holder}
            ).json()
        server.known[holder] = {
            "document": indexed["documents"][0]["id"],
            "decision": decision["id"],
            "job": indexed["job"],
            "pictured": pictured["id"],
            "answer": decision["answer"],
        }
