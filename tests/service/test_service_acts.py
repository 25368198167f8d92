"""Who did what over HTTP and MCP stands in the library's audit log: with the token, and without a word of a question or
a document.
"""

from __future__ import annotations

from service_kit import ALPHA, WARRANTY, Server

from rag_core.adapters.act_log import FILE, ActLog, Entry


def since(server: Server, before: int) -> list[Entry]:
    return [entry for entry in ActLog(server.folder).entries() if entry.n > before]


def count(server: Server) -> int:
    return ActLog(server.folder).verify().lines


def test_given_calls_that_ask_or_change_when_they_are_done_then_each_is_noted_for_the_token(server: Server) -> None:
    """The table of what a route leaves in the log; those that only look leave nothing."""
    before, holder = count(server), server.service.tokens.principal(server.tokens["alpha"]).id
    sent = {
        "namespace": "alpha",
        "documents": [{"content": "A text of the audit, and a quincunx.", "metadata": {"title": "quincunx"}}],
    }
    with server.client("alpha") as client:
        indexed = client.post("/api/rag/index", json=sent).raise_for_status().json()["documents"][0]["id"]
        at = f"/api/collections/alpha/documents/{indexed}"
        client.put(f"{at}/metadata", json={"metadata": {"title": "quincunx, again"}}).raise_for_status()
        decision = client.post("/api/rag/query", json={"query": "Where is the quincunx?", "namespace": "alpha"}).json()[
            "id"
        ]
        said = {"kind": "helpful", "comment": "quincunx"}
        client.post(f"/api/collections/alpha/decisions/{decision}/feedback", json=said).raise_for_status()
        client.post("/api/rag/decide", json={"question": WARRANTY, "passages": [{"text": ALPHA}]}).raise_for_status()
        client.post("/api/rag/judge", json={"context": ALPHA, "answer": ALPHA, "language": "en"}).raise_for_status()
        client.delete(at).raise_for_status()
        client.get("/api/collections/alpha/documents").raise_for_status()
        client.post(f"/api/collections/alpha/decisions/{decision}/replay", json={}).raise_for_status()

    found = since(server, before)
    assert [(entry.action, entry.collection, entry.object) for entry in found] == [
        ("index", "alpha", indexed),
        ("describe", "alpha", indexed),
        ("ask", "alpha", ""),
        ("keep", "alpha", decision),
        ("feedback", "alpha", decision),
        ("decide", "", ""),
        ("judge", "", ""),
        ("delete", "alpha", indexed),
    ]
    assert {entry.who for entry in found} == {f"token:{holder}"}
    assert ActLog(server.folder).verify().problem == ""
    assert b"quincunx" not in (server.folder / FILE).read_bytes()


def test_given_a_log_that_cannot_be_written_when_a_question_is_asked_then_it_is_not_answered(server: Server) -> None:
    path = server.folder / FILE
    aside = path.rename(path.with_name("aside"))
    path.mkdir()
    try:
        with server.client("alpha") as client:
            answer = client.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha"})
            added = client.put("/api/collections/empty")
    finally:
        path.rmdir()
        aside.rename(path)

    assert (answer.status_code, "24 months" in answer.text) == (500, False)
    assert answer.json()["remedy"]
    assert added.status_code == 500
