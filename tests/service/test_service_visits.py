"""A shared demo over HTTP: visitors without a token, each in a collection of their own, of which nothing is left at the
end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from service_kit import ALPHA, BETA, SECRET, WARRANTY, Server, labelled_run, running

from rag_core.errors import LibraryError
from rag_core.library import dropping
from rag_core.service.visits import NEW_AT_ONCE, Visits
from rag_core.wiring import act_log, records
from rag_core.work import loading

WORDS = (b"juniper", b"sauce")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Server]:
    """A service that takes visitors, one that holds a token, and a collection of the house."""
    folder = tmp_path / "library"
    with running(folder, visits=Visits(folder, "samples"), local=False) as found:
        found.tokens["house"] = found.service.tokens.create("house", ("ask", "index", "label"), ("house",))[1]
        with found.client("house") as client:
            index(client, ALPHA, "house")
        yield found
    for name in ("default", "house"):
        loading.forget(folder, name)


@pytest.fixture
def comes_by(demo: Server) -> Iterator[Callable[[], tuple[httpx2.Client, str]]]:
    """Lets somebody come by: their client, and their collection."""
    with ExitStack() as closing:

        def visitor() -> tuple[httpx2.Client, str]:
            client = closing.enter_context(demo.client())
            begun = client.post("/api/visits").raise_for_status().json()
            client.headers["x-browser-id"] = begun["id"]
            return client, begun["namespace"]

        yield visitor


def index(client: httpx2.Client, text: str, name: str) -> httpx2.Response:
    return client.post("/api/rag/index", json={"namespace": name, "documents": [{"content": text}]})


def asked(client: httpx2.Client, question: str, name: str | list[str]) -> httpx2.Response:
    return client.post(
        "/api/rag/query", json={"query": question, "namespace" if isinstance(name, str) else "collections": name}
    )


def documents(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.get(f"/api/collections/{name}/documents")


def collections(client: httpx2.Client) -> list[str]:
    return list(client.get("/api/collections").json()["items"])


def holding(folder: Path, words: tuple[bytes, ...]) -> list[str]:
    """The files of a folder that hold one of these words as it stands."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(word in path.read_bytes().lower() for word in words)
    ]


def test_given_two_visitors_when_each_adds_a_document_then_neither_sees_or_changes_the_others(demo, comes_by):
    """S4-22: X-Browser-ID says whose collection is asked."""
    (one, first), (two, second) = comes_by(), comes_by()
    index(one, ALPHA, first).raise_for_status()
    index(two, BETA, second).raise_for_status()

    assert "24 months" in asked(one, WARRANTY, first).json()["answer"]
    assert "juniper" in asked(two, SECRET, second).json()["answer"]
    assert asked(one, SECRET, first).json()["is_refusal"]
    assert collections(one) == [first]
    assert documents(two, second).json()["total"] == 1
    raw = httpx2.get(
        f"{demo.address}/api/collections/{first}/query",
        params={"query_text": WARRANTY},
        headers={"X-Browser-ID": "nobody"},
        timeout=60,
    )
    assert raw.status_code == 401

    for response in (
        asked(one, SECRET, second),
        asked(one, SECRET, [first, second]),
        index(one, ALPHA, "house"),
        index(one, ALPHA, second),
        one.put("/api/collections/mine"),
        one.delete(f"/api/collections/{second}"),
        one.delete("/api/collections/house"),
        asked(one, WARRANTY, "house"),
        index(one, ALPHA, "samples"),
    ):
        assert response.status_code == 404, response.request.url
    assert "mine" not in [path.name for path in demo.folder.iterdir()]
    assert one.get("/metrics").status_code == 403

    for client, own in ((one, first), (two, second)):
        index(client, BETA, own)
    theirs = documents(two, second).json()["items"][0]["id"]
    decision = asked(two, SECRET, second).json()["id"]
    schema = httpx2.get(
        f"{demo.address}/api/openapi.json", headers={"X-Browser-ID": one.headers["x-browser-id"]}
    ).json()
    tried = 0
    for path, operations in schema["paths"].items():
        if not path.startswith("/api/collections/{name}"):
            continue
        for name in (second, "house", "default", "samples", "visit-" + "0" * 32):
            values = {"name": name, "id": decision if "decisions" in path else theirs, "page": "1", "number": "1"}
            for method in operations:
                response = one.request(method.upper(), path.format(**values), json={}, params={"query_text": SECRET})
                tried += 1
                assert response.status_code in (404, 422), (method, path, name, response.status_code)
                assert b"juniper" not in response.content
    assert tried >= 5 * 16
    assert documents(two, second).json()["total"] == 1


def test_given_a_visit_that_is_ended_then_its_words_are_on_no_file_and_nobody_enters_it(demo, comes_by):
    client, own = comes_by()
    at = f"/api/collections/{own}"
    index(client, BETA, own)
    decision = asked(client, SECRET, own).json()["id"]
    client.post(
        f"{at}/decisions/{decision}/feedback", json={"kind": "helpful", "comment": "about the sauce"}
    ).raise_for_status()
    labelled_run(demo, own, "mine", [{"id": "1", "question": SECRET, "answerable": True}])
    assert (demo.folder / own).is_dir()
    assert holding(demo.folder, WORDS)

    client.delete("/api/visits").raise_for_status()

    assert not (demo.folder / own).exists()
    assert holding(demo.folder, WORDS) == []
    assert loading.known(demo.folder, own) is None
    assert demo.service.jobs.waiting() == (0, 0)
    over = (
        documents(client, own),
        client.get("/api/collections"),
        client.delete("/api/visits"),
        asked(client, SECRET, own),
    )
    assert [one.status_code for one in over] == [401] * 4
    assert not (demo.folder / own).exists()
    assert ("delete_collection", own) in [(row.action, row.collection) for row in act_log(demo.folder).entries()]


def test_given_a_token_when_a_visit_comes_at_once_or_it_is_for_all_collections_then_it_enters_no_visit(demo, comes_by):
    client, own = comes_by()
    headers = {"authorization": f"Bearer {demo.tokens['house']}", "x-browser-id": client.headers["x-browser-id"]}

    assert httpx2.get(f"{demo.address}/api/collections", headers=headers).json() == {"items": ["house"]}
    assert httpx2.get(f"{demo.address}/api/collections/{own}/documents", headers=headers).status_code == 404

    visitor, own = comes_by()
    index(visitor, BETA, own)
    demo.tokens["all"] = demo.service.tokens.create("all", ("admin",), ("*",))[1]

    with demo.client("all") as client:
        assert own not in collections(client)
        assert "house" in collections(client)
        for response in (documents(client, own), asked(client, SECRET, own), client.delete(f"/api/collections/{own}")):
            assert response.status_code == 404

    assert documents(visitor, own).json()["total"] == 1


def test_given_a_collection_of_a_token_when_it_is_dropped_then_all_of_it_is_gone_but_not_by_who_only_asks(demo):
    demo.tokens["reader"] = demo.service.tokens.create("reader", ("ask", "index"), ("house",))[1]
    with demo.client("reader") as client:
        assert client.delete("/api/collections/house").status_code == 403
    assert (demo.folder / "house").is_dir()

    with demo.client("house") as client:
        asked(client, WARRANTY, "house").raise_for_status()
        assert len(records(demo.folder, "house").decisions(10)) == 1

        client.delete("/api/collections/house").raise_for_status()

        assert documents(client, "house").status_code == 404
        index(client, BETA, "house")
        assert documents(client, "house").json()["total"] == 1
        assert client.get("/api/collections/house/decisions").json()["items"] == []


def test_given_a_disk_that_refuses_when_a_collection_is_dropped_then_the_rest_goes_later(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "words").write_text("juniper", encoding="utf-8")
    asked: list[Any] = []

    def refuses(folder: Path, but: str) -> None:
        asked.append((folder.name, but))
        raise LibraryError("The database cannot be asked.", remedy="Start it.")

    with pytest.raises(LibraryError):
        dropping.drop(tmp_path, "mine", forget_rows=refuses, wait=1)
    assert not (tmp_path / "mine").exists()
    assert holding(tmp_path, WORDS)

    dropping.clear(tmp_path, lambda folder, but: asked.append((folder.name, but)))

    assert asked == [asked[0]] * 2
    assert asked[0][1] == ""
    assert list(tmp_path.iterdir()) == []


def test_given_one_address_when_it_begins_visits_without_end_then_it_is_told_to_wait(demo: Server) -> None:
    for _ in range(NEW_AT_ONCE):
        demo.service.begin_visit("127.0.0.1")

    refused = httpx2.post(f"{demo.address}/api/visits")

    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
