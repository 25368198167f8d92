"""Watched answers over the API: pinned, asked anew when documents change, told to a web address and in the metrics."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest
from service_kit import Server
from test_service_metrics import read

from rag_core.adapters import webhook
from rag_core.errors import InvalidSetting
from rag_core.settings.configuration import webhook as address_of
from rag_core.work import pins

HANDBOOK = "Every employee has {days} days of vacation per year. The notice period is three months."
DAYS, NOTICE = "How many vacation days does an employee get?", "How long is the notice period?"
SECONDS = 60
Answers = list[dict[str, Any]]


@contextmanager
def listening(*statuses: int) -> Iterator[tuple[str, Answers]]:
    """The address of a web server on this machine that answers with these statuses in turn, and what it was sent."""
    sent: Answers = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(statuses[len(sent) % len(statuses)])
            self.send_header("location", f"http://127.0.0.1:{server.server_port}/elsewhere")
            self.end_headers()
            sent.append(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", sent
    finally:
        server.shutdown()
        server.server_close()


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, "nothing became of it"
        time.sleep(0.05)


class Api:
    """A collection of its own, in the hands of one caller."""

    def __init__(self, client: httpx2.Client, name: str) -> None:
        self.client, self.name, self.at = client, name, f"/api/collections/{name}"

    def index(self, text: str, title: str = "Handbook") -> str:
        sent = {"namespace": self.name, "documents": [{"content": text, "metadata": {"title": title}}]}
        return str(self.client.post("/api/rag/index", json=sent).raise_for_status().json()["documents"][0]["id"])

    def ask(self, question: str) -> dict[str, Any]:
        sent = {"namespace": self.name, "query": question}
        return dict(self.client.post("/api/rag/query", json=sent).raise_for_status().json())

    def pin(self, id: str) -> int:
        return self.client.put(f"{self.at}/decisions/{id}/pin").status_code

    def pins(self) -> dict[str, dict[str, Any]]:
        items = self.client.get(f"{self.at}/pins").raise_for_status().json()["items"]
        return {one["decision"]: one for one in items}

    def checked(self, id: str, state: str) -> dict[str, Any]:
        until(lambda: self.pins()[id]["state"] == state)
        return self.pins()[id]


def test_given_watched_answers_when_documents_change_then_what_changed_is_listed_told_and_counted(server, monkeypatch):
    pins.begin(server.folder, (), server.service.base, server.service._runner)
    watch = server.service.tokens.create("pins", ["watch"], ["pins"])[1]
    with server.client("admin") as client, listening(503, 200) as (address, sent):
        monkeypatch.setenv("RAG_WEBHOOK", address)
        monkeypatch.setattr(webhook, "WAITS", (0.0, 0.01, 0.01))
        api = Api(client, "pins")
        old = api.index(HANDBOOK.format(days=25))
        days, notice = api.ask(DAYS)["id"], api.ask(NOTICE)["id"]
        assert (api.pin(days), api.pin(notice)) == (204, 204)
        first = api.pins()[days]
        assert (first["state"], first["now"], first["question"]) == ("same", "25 days of vacation per year", DAYS)
        assert sent == []

        client.delete(f"{api.at}/documents/{old}").raise_for_status()
        lost = api.checked(days, "lost")
        assert (lost["before"], lost["now"], lost["told"]) == ("", "", "lost, because its document was deleted")
        api.checked(notice, "lost")
        until(lambda: len(sent) == 2)
        assert sent[0] == sent[1], "a server that is busy is told again"
        assert {one["question"] for one in sent[0]["answers"]} == {DAYS, NOTICE}

        new = api.index(HANDBOOK.format(days=30))
        changed = api.checked(days, "changed")
        assert (changed["now"], changed["page"], changed["document"]) == (
            "30 days of vacation per year",
            1,
            first["document"],
        )
        assert api.ask(DAYS)["value"]["text"] == "30 days of vacation per year"
        assert (
            client.get(f"{api.at}/decisions/{changed['latest']}").json()["value"]["text"]
            == "30 days of vacation per year"
        )
        api.checked(notice, "same")
        until(lambda: len(sent) == 4)
        assert [one["decision"] for one in sent[3]["answers"]] == [days]
        assert sent[3]["collection"] == "pins"

        figures = read(server, watch)
        assert figures["plumbline_pinned_answers", "pins", "changed"] == 1
        assert figures["plumbline_pinned_answers", "pins", "same"] == 1

        before = api.pins()
        api.index("The canteen opens at eleven.", "Canteen")
        until(lambda: api.pins()[days]["version"] > before[days]["version"])
        assert api.pins()[days]["state"] == "changed"
        assert len(sent) == 4, "what is known already is no news"

        latest = api.pins()[days]["latest"]
        assert api.pin(latest) == 204
        assert {id: one["state"] for id, one in api.pins().items()} == {notice: "same", latest: "same"}
        client.delete(f"{api.at}/documents/{new}/everywhere").raise_for_status()
        erased = api.checked(latest, "lost")
        assert (erased["question"], erased["before"], erased["now"]) == ("", "", "")
        for id in (notice, latest):
            assert client.delete(f"{api.at}/decisions/{id}/pin").status_code == 204
        assert api.pins() == {}
        client.delete(api.at).raise_for_status()


def test_given_callers_of_one_collection_then_each_watches_their_own_answers(server: Server) -> None:
    with server.client("alpha") as alpha, server.client("reader") as reader, server.client("beta") as beta:
        mine, at = server.known["alpha"]["decision"], "/api/collections/alpha"
        assert reader.put(f"{at}/decisions/{mine}/pin").status_code == 404
        assert beta.put(f"{at}/decisions/{mine}/pin").status_code == 404
        assert alpha.put(f"{at}/decisions/{mine}/pin").status_code == 204
        assert [one["decision"] for one in alpha.get(f"{at}/pins").json()["items"]] == [mine]
        assert reader.get(f"{at}/pins").json()["items"] == []
        assert reader.delete(f"{at}/decisions/{mine}/pin").status_code == 404
        assert beta.get(f"{at}/pins").status_code == 404
        assert alpha.delete(f"{at}/decisions/{mine}/pin").status_code == 204
        assert alpha.delete(f"{at}/decisions/{mine}/pin").status_code == 404
        greeting = alpha.post("/api/rag/query", json={"namespace": "alpha", "query": "Hello!"}).json()
        assert alpha.put(f"{at}/decisions/{greeting['id']}/pin").status_code == 422


def test_given_a_web_address_when_posted_to_then_it_is_tried_thrice_and_no_redirect_is_followed(monkeypatch):
    monkeypatch.setattr(webhook, "WAITS", (0.0, 0.01, 0.01))
    body = {"collection": "pins"}
    with listening(302, 500, 404) as (address, sent):
        assert not webhook.post(address, body, lambda: False)
        assert sent == [body] * 3
        assert not webhook.post(address, body, lambda: True)
        assert len(sent) == 3
    assert not webhook.post(address, body, lambda: False), "nobody listens there any more"

    assert [address_of(env) for env in ({}, {"RAG_WEBHOOK": " "})] == ["", ""]
    assert address_of({"RAG_WEBHOOK": "https://example.org/x?key=1"}) == "https://example.org/x?key=1"
    for wrong in ("example.org", "file:///etc/passwd", "https://", "ftp://example.org"):
        with pytest.raises(InvalidSetting):
            address_of({"RAG_WEBHOOK": wrong})
