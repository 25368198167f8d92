"""A long PDF over the API before it is read: it is answered from and says so, nobody else sees it, and once deleted it
is gone.
"""

from __future__ import annotations

import threading

import pymupdf
from service_kit import WARRANTY

from rag_core.domain.documents import Page
from rag_core.library.indexing import batches
from rag_core.library.stored.collection import Collection
from rag_core.work import loading

SECONDS = 120.0  # reached by what hangs
PAGES, FIRST = 12, 4
LIGHT = "Which light does buoy 3 show?"


def test_given_a_pdf_that_is_being_read_then_the_decision_says_so_and_once_deleted_it_is_gone(server, monkeypatch):
    stands, go, read = threading.Event(), threading.Event(), batches.Batches.read

    def held(self: batches.Batches, page: Page, size: int) -> None:
        read(self, page, size)
        if page.number == FIRST + 1:
            stands.set()
            assert go.wait(SECONDS)

    monkeypatch.setattr(batches, "FIRST_PAGES", FIRST)
    monkeypatch.setattr(batches.Batches, "read", held)
    made = pymupdf.open()
    for n in range(1, PAGES + 1):
        body = f"The buoy {n} shows a {('green', 'amber', 'violet')[n % 3]} light. Ships keep away from buoy {n}."
        made.new_page().insert_textbox((50, 50, 545, 400), body)
    files = [("files", ("buoys.pdf", made.tobytes()))]
    try:
        with server.client("admin") as client, server.client("alpha") as other:
            started = client.post("/api/rag/index?wait=0", data={"namespace": "early"}, files=files)
            assert started.status_code == 202, started.text
            # a kill from now on loses nothing
            assert [row.name for row in Collection(server.folder, "early").waiting()] == ["buoys.pdf"]
            assert stands.wait(SECONDS)
            library = loading.engine(server.folder, "early", server.service.base).library
            for _ in range(int(SECONDS * 20)):
                if library.view.reading:
                    break
                threading.Event().wait(0.05)
            found = client.post("/api/rag/query", json={"query": LIGHT, "namespace": "early", "preset": "open"}).json()
            told = client.get("/api/collections/early/query", params={"query_text": LIGHT}).json()
            kept = client.get(f"/api/collections/early/decisions/{found['id']}").json()
            foreign = other.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha"}).json()
            before = client.get("/api/collections/early/documents").json()

            id = library.view.documents[0].id
            deleted = client.delete(f"/api/collections/early/documents/{id}").status_code
            assert library.view.documents == ()
            go.set()
            job = client.get(f"/api/jobs/{started.json()['job']}").json()
            listed = client.get("/api/collections/early/documents").json()
    finally:
        go.set()

    state = found["metadata"]["indexing"]
    assert state == {"documents": 1, "searched": 1, "pages": PAGES, "read": FIRST}
    assert ("buoys.pdf", 3) in [(one["document"], one["page"]) for one in found["citations"]]
    assert f"The document is still being read: pages 1 to {FIRST} of {PAGES} can be searched so far." in found["notes"]
    assert told["indexing"] == state
    assert kept["answer"] == found["answer"]
    assert kept["metadata"]["indexing"] == state
    assert "indexing" not in foreign["metadata"]
    assert before["items"] == []  # it is listed once it is read
    assert deleted == 204
    assert listed["items"] == []
    assert job
    assert library.unfinished() == ()
