"""A long text over the API before it is indexed: it is answered from and says so, nobody else sees it, and once deleted
it is gone.
"""

from __future__ import annotations

import threading

import pytest
from service_kit import WARRANTY, Server

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.domain.ports import TextKind, Vectors
from rag_core.library.stored.collection import Collection
from rag_core.work import loading

SECONDS = 120.0  # reached by what hangs
LIGHT = "Which light does buoy 70 show?"
TOLD = "Ships keep well away from it in any weather, and the harbour office is told of every light that fails at night"


def test_given_a_text_that_is_being_embedded_when_asked_then_the_decision_says_so_and_once_deleted_it_is_gone(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands, go, embed = threading.Event(), threading.Event(), EmbeddedModel.embed

    def held(model: EmbeddedModel, texts: list[str], kind: TextKind = "passage") -> Vectors:
        if threading.current_thread().name == "a job":
            stands.set()
            assert go.wait(SECONDS)
        return embed(model, texts, kind)

    monkeypatch.setattr(EmbeddedModel, "embed", held)
    body = "\n\n".join(
        f"The buoy {n} shows a {('green', 'amber', 'violet')[n % 3]} light. {TOLD} near buoy {n}." for n in range(100)
    )
    sent = {
        "namespace": "early",
        "documents": [{"content": body, "id": "buoys", "language": "en"}],
        "settings": {"passage_tokens": 40},
    }
    try:
        with server.client("admin") as client, server.client("alpha") as other:
            started = client.post("/api/rag/index?wait=0", json=sent)
            assert started.status_code == 202, started.text
            # a kill from now on loses nothing
            assert [row.name for row in Collection(server.folder, "early").waiting()] == ["buoys"]
            assert stands.wait(SECONDS)
            found = client.post("/api/rag/query", json={"query": LIGHT, "namespace": "early", "preset": "open"}).json()
            told = client.get("/api/collections/early/query", params={"query_text": LIGHT}).json()
            kept = client.get(f"/api/collections/early/decisions/{found['id']}").json()
            foreign = other.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha"}).json()

            library = loading.engine(server.folder, "early", server.service.base).library
            id = library.view.documents[0].id
            deleted = client.delete(f"/api/collections/early/documents/{id}").status_code
            assert library.view.documents == ()
            go.set()
            job = client.get(f"/api/jobs/{started.json()['job']}").json()
            listed = client.get("/api/collections/early/documents").json()
    finally:
        go.set()

    state = found["metadata"]["indexing"]
    assert (state["documents"], state["searched"], state["embedded"]) == (1, 1, 0)
    assert found["citations"][0]["document"] == "buoys"
    assert any("still being indexed: 0 %" in note for note in found["notes"])
    assert told["indexing"]["passages"] == state["passages"]
    assert kept["answer"] == found["answer"]
    assert kept["metadata"]["indexing"] == state
    assert "indexing" not in foreign["metadata"]
    assert deleted == 204
    assert listed["items"] == []
    assert job
    assert library.unfinished() == ()
