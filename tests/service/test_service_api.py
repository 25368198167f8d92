"""The HTTP API as a program uses it: over a real port, with the embedded model."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from service_kit import SECRET, WARRANTY, Server, service_of

from rag_core.domain.decision import Decision
from rag_core.engine import confidence_metadata
from rag_core.library.library import AddReport, Library
from rag_core.service import models
from rag_core.wiring import cut_off

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
FEATURE = {"query": WARRANTY, "namespace": "alpha"}


def test_given_documents_as_json_when_indexed_then_each_is_told_and_a_bad_one_costs_the_others_nothing(server):
    """S3-23: indexed, chunks_created, namespace."""
    sent = [
        {
            "content": "The notice period is two months.",
            "metadata": {"title": "Notice", "date": "2024-05-01", "class": 10, "verified": True},
        },
        {"content": "Výpovědní doba činí dva měsíce.", "id": "smlouva-č", "language": "cs"},
        {"content": "सूचना अवधि दो माह है।", "metadata": {"source": "समझौता.txt"}},
        {"content": "  "},
        {"content": "A date that is none.", "metadata": {"date": "soon"}},
        {"content": "A zero \x00 byte."},
    ]
    with server.client("admin") as client:
        body = json.dumps({"namespace": "mixed", "documents": sent})
        found = client.post("/api/rag/index", content=body, headers={"content-type": "application/json"}).json()
        listed = client.get("/api/collections/mixed/documents").json()
        again = client.post("/api/rag/index", json={"namespace": "mixed", "documents": sent[:2]}).json()
        half = client.post(
            "/api/rag/index",
            content=b'{"documents": [{"content": "\\ud800"}]}',
            headers={"content-type": "application/json"},
        )

    assert half.status_code == 400, "half a character is no text"
    assert (found["namespace"], found["finished"]) == ("mixed", True)
    assert [row["state"] for row in found["documents"]][:5] == ["indexed"] * 3 + ["problem"] * 2
    assert found["indexed"] == sum(row["state"] == "indexed" for row in found["documents"])
    assert found["chunks_created"] == sum(row["chunks"] for row in found["documents"]) >= found["indexed"]
    assert all(row["problem"] and row["remedy"] for row in found["documents"] if row["state"] == "problem")
    assert [row["name"] for row in found["documents"]][:3] == ["Notice", "smlouva-č", "समझौता.txt"]
    assert listed["items"][0]["metadata"] == {"date": "2024-05-01", "authority": None, "verified": True, "class": "10"}
    assert [row["state"] for row in again["documents"]] == ["unchanged"] * 2


def test_given_files_when_indexed_then_a_bad_one_costs_the_others_nothing_and_no_name_leaves_the_folder(server):
    """S3-23: PDFs as multipart."""
    pdf = (SAMPLES / "flow-meter-manual.pdf").read_bytes()
    files = [
        ("files", ("návod-průtokoměr.pdf", pdf)),
        ("files", ("../../etc/passwd.txt", b"The gate opens at nine.")),
        ("files", ("broken.pdf", b"%PDF-1.7\nnothing")),
        ("files", ("page.pdf", b"<html>no</html>")),
    ]
    form = {"namespace": "files", "metadata": json.dumps({"class": "10"})}
    with server.client("admin") as client:
        found = client.post("/api/rag/index", data=form, files=files).json()
        listed = client.get("/api/collections/files/documents").json()["items"]

    assert [row["state"] for row in found["documents"]] == ["indexed", "indexed", "problem", "problem"]
    assert [row["name"] for row in found["documents"]] == [
        "návod-průtokoměr.pdf",
        "passwd.txt",
        "broken.pdf",
        "page.pdf",
    ]
    assert {row["metadata"]["class"] for row in listed} == {"10"}
    assert all("no" not in row["problem"] or "html" not in row["problem"] for row in found["documents"])


def test_given_a_question_when_asked_then_the_reply_is_the_decision_in_its_one_form(server: Server) -> None:
    """S3-24: answer, confidence, citations, metadata."""
    with server.client("alpha") as client:
        found = client.post("/api/rag/query", json={**FEATURE, "top_k": 3}).json()
        kept = client.get(f"/api/collections/alpha/decisions/{found['id']}").json()

    assert found["is_safe"] is True
    assert "24 months" in found["answer"]
    assert 0 < found["confidence"] <= 1
    assert found["citations"][0]["document"] == "alpha"
    assert len(found["retrieved"]) <= 3
    assert found.keys() == Decision.failed("", "").to_json().keys() == models.Decision.model_fields.keys()
    for decision in (found, kept, Decision.failed("", "").to_json()):
        models.Decision.model_validate_json(json.dumps(decision), strict=True)
    same = ("answer", "confidence", "status", "reason", "scores", "citations", "claims", "metadata")
    assert {name: kept[name] for name in same} == {name: found[name] for name in same}


def test_given_a_caller_who_switches_a_gate_off_then_it_is_not_safe_and_locked_settings_stay(server, monkeypatch):
    """S2-3: with a token to ask, where no operator locks the setting; by value, by preset, and in a replay."""
    asked = {"query": "Who was the first emperor of Rome?", "namespace": "alpha"}
    with server.client("reader") as client:
        off, on = {"correctness_mode": "off"}, {"correctness_mode": "enforce"}
        shown = client.post("/api/rag/query", json={**asked, "settings": off}).json()
        relabelled = client.post("/api/rag/query", json={**asked, "settings": {**off, "preset": "open"}})
        monkeypatch.setenv("RAG_LOCKED", "correctness_mode, min_correctness")
        passages = {"question": asked["query"], "passages": [{"text": "The gate opens at nine."}]}
        refused = [
            client.post("/api/rag/query", json={**asked, "settings": off}),
            client.post("/api/rag/query", json={**asked, "preset": "open"}),
            client.post("/api/rag/decide", json={**passages, "settings": {"min_correctness": 0.1}}),
            client.post(f"/api/collections/alpha/decisions/{shown['id']}/replay", json={"settings": on}),
        ]
        free = client.post("/api/rag/query", json={**asked, "settings": {**on, "min_keywords": 3}})
        monkeypatch.setenv("RAG_LOCKED", "all")
        every = client.post("/api/rag/query", json={**asked, "settings": {"min_keywords": 3}})

    assert (shown["status"], shown["is_safe"], shown["metadata"]["unjudged"]) == ("success", False, ["correctness"])
    assert relabelled.status_code == 422
    assert [one.status_code for one in refused] == [422] * 4
    assert all("is locked" in one.text for one in refused)
    assert (free.status_code, free.json()["is_safe"]) == (200, False)  # refused by the gate that stays
    assert (every.status_code, "'min_keywords' is locked" in every.text) == (422, True)


def test_given_several_collections_when_asked_together_then_each_answers_and_none_keeps_it(server: Server) -> None:
    """S4-4: one question over several collections, ranked together."""
    _, token = server.service.tokens.create("both", ("ask",), ("alpha", "beta"))
    both = {"collections": ["alpha", "beta", "alpha"]}
    with httpx2.Client(base_url=server.address, headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
        first, second = (
            client.post("/api/rag/query", json={"query": one, **both}).json() for one in (WARRANTY, SECRET)
        )
        stream = client.post("/api/rag/query/events", json={"query": SECRET, **both}).text
        # a generated client sends the field that is left out as it is by default
        sent = {"query": SECRET, "namespace": "default", **both}
        assert client.post("/api/rag/query", json=sent).json()["answer"] == second["answer"]
        alone = client.post("/api/rag/query", json={"query": SECRET, "collections": ["alpha"]}).json()
        bad = [
            client.post("/api/rag/query", json={"query": SECRET, **named}).status_code
            for named in (
                {**both, "domain": "legal"},
                {"collections": []},
                {"collections": ["../beta"]},
            )
        ]
        kept = client.get("/api/collections/alpha/decisions").json()["items"]

    assert "24 months" in first["answer"]
    assert "juniper" in second["answer"]
    assert (first["citations"][0]["document"], second["citations"][0]["document"]) == ("alpha", "beta")
    assert "id" not in first
    assert "juniper" in stream
    assert "juniper" not in str(alone)
    assert bad == [422] * 3
    assert kept == []


def test_given_a_question_when_its_confidence_is_asked_for_then_it_is_as_the_log_has_it(server: Server) -> None:
    """S4-22: scores of a collection's question; the header of the source's call says nothing."""
    with server.client("alpha") as client:
        call = {"params": {"query_text": WARRANTY}, "headers": {"X-Browser-ID": "somebody"}}
        found = client.get("/api/collections/alpha/query", **call).json()
        client.headers.pop("authorization")
        assert client.get("/api/collections/alpha/query", **call).status_code == 401

    assert found["confidenceLevel"] in ("high", "medium", "low")
    assert found["isAnswerable"] is True
    assert found["rawCount"] >= found["filteredCount"] >= 1
    assert 0 < found["scores"]["correctness"] <= 1
    assert found["citations"]
    reading = replace(Decision.failed("", ""), metadata={"indexing": {"pages": 12, "read": 4}})
    assert confidence_metadata(reading)["indexing"] == {"pages": 12, "read": 4}
    assert "indexing" not in confidence_metadata(Decision.failed("", ""))


def test_given_a_kept_decision_when_replayed_then_it_is_judged_anew_and_never_asked_anew(server: Server) -> None:
    with server.client("alpha") as client:
        path = f"/api/collections/alpha/decisions/{server.known['alpha']['decision']}"
        strict = client.post(f"{path}/replay", json={"settings": {"min_correctness": 1.0}}).json()
        asked = client.post(f"{path}/replay", json={"settings": {"top_k": 3}})
        named = client.post(f"{path}/replay", json={"settings": {"reranker": "/etc/passwd"}})
        unknown = client.post(f"{path}/replay", json={"preset": "nothing"})
        preset = client.post(f"{path}/replay", json={"preset": "relevance-guard"})

    assert strict["is_refusal"], strict["reason"]
    assert (asked.status_code, asked.json()["errors"][0]["field"]) == (422, "body.settings.top_k")
    assert (named.status_code, named.json()["kind"]) == (422, "InvalidRequest")
    assert named.json()["errors"][0]["field"] == "body.settings.reranker"
    assert unknown.status_code == 422
    assert preset.status_code == 200
    assert preset.json()["metadata"]["preset"] == "relevance-guard"


def test_given_a_cited_page_of_a_pdf_when_its_evidence_is_asked_for_then_it_is_a_picture_with_marks(server):
    with server.client("alpha") as client:
        number = server.known["alpha"]["pictured"]
        found = client.get(f"/api/collections/alpha/decisions/{number}").json()
        drawn = client.get(f"/api/collections/alpha/decisions/{number}/evidence/1")
        cited = found["citations"][0]
        whole = next(
            one
            for one in client.get("/api/collections/alpha/documents").json()["items"]
            if one["name"] == cited["document"]
        )
        plain = client.get(f"/api/collections/alpha/documents/{whole['id']}/pages/{cited['page']}/image")
        text = client.get(f"/api/collections/alpha/documents/{whole['id']}/pages/{cited['page']}").json()["text"]
        beyond = [
            client.get(f"/api/collections/alpha/documents/{whole['id']}/pages/{page}/image").status_code
            for page in (0, 999, "x")
        ]

    assert drawn.headers["content-type"] == plain.headers["content-type"] == "image/png"
    assert drawn.content.startswith(b"\x89PNG")
    assert drawn.content != plain.content
    assert text[cited["spans"][0]["start"] : cited["spans"][0]["end"]] == cited["excerpt"]
    assert beyond == [422, 404, 422]


def test_given_passages_of_another_retrieval_when_decided_then_they_are_cited_and_nothing_is_kept(server):
    passages = [
        {"text": "The warranty period is 24 months from delivery.", "document": "terms.pdf", "page": 3, "score": 0.9}
    ]
    with server.client("reader") as client:
        before = len(client.get("/api/collections/alpha/decisions").json()["items"])
        found = client.post("/api/rag/decide", json={"question": WARRANTY, "passages": passages}).json()
        assert len(client.get("/api/collections/alpha/decisions").json()["items"]) == before
        none = client.post("/api/rag/decide", json={"question": WARRANTY, "passages": []})
    assert (none.status_code, none.json()["status"], none.json()["confidence"]) == (200, "insufficient_context", 0.0)
    assert (found["citations"][0]["document"], found["citations"][0]["page"]) == ("terms.pdf", 3)
    assert "id" not in found


def test_given_an_answer_when_judged_then_a_changed_fact_is_not_supported(server: Server) -> None:
    with server.client("reader") as client:
        judged = [
            client.post(
                "/api/rag/judge", json={"context": "The warranty period is 24 months.", "answer": answer}
            ).json()
            for answer in ("The warranty period is 24 months.", "The warranty period is 36 months.")
        ]
    assert [one["supported"] for one in judged] == [True, False]


def test_given_a_document_when_described_and_deleted_then_the_list_says_so(server: Server) -> None:
    with server.client("admin") as client:
        sent = {
            "namespace": "changing",
            "documents": [{"content": f"Line {number} is painted green."} for number in range(3)],
        }
        ids = [row["id"] for row in client.post("/api/rag/index", json=sent).json()["documents"]]
        first = client.get("/api/collections/changing/documents", params={"limit": 2}).json()
        rest = client.get("/api/collections/changing/documents", params={"limit": 2, "offset": first["next"]}).json()
        told = client.put(
            f"/api/collections/changing/documents/{ids[0]}/metadata",
            json={"metadata": {"title": "Paint", "verified": True}},
        )
        wrong = client.put(
            f"/api/collections/changing/documents/{ids[0]}/metadata", json={"metadata": {"date": "soon"}}
        )
        gone = client.delete(f"/api/collections/changing/documents/{ids[0]}")
        again = client.delete(f"/api/collections/changing/documents/{ids[0]}")
        left = client.get("/api/collections/changing/documents").json()

    assert [one["id"] for one in first["items"] + rest["items"]] == ids
    assert (first["total"], first["next"], rest["next"]) == (3, 2, None)
    assert (told.json()["title"], told.json()["metadata"]["verified"]) == ("Paint", True)
    assert wrong.status_code == 422
    assert (gone.status_code, gone.content, again.status_code) == (204, b"", 404)
    assert [one["id"] for one in left["items"]] == ids[1:]


def test_given_feedback_when_said_then_whoever_labels_sees_it(server: Server) -> None:
    """S1-13: users' feedback."""
    with server.client("reader") as reader, server.client("alpha") as alpha:
        number = reader.post("/api/rag/query", json=FEATURE).json()["id"]
        said = reader.post(
            f"/api/collections/alpha/decisions/{number}/feedback", json={"kind": "wrong_answer", "comment": "No: 36."}
        )
        rows = alpha.get("/api/collections/alpha/feedback").json()["items"]
    assert said.status_code == 201
    assert next(row for row in rows if row["id"] == said.json()["id"])["comment"] == "No: 36."


def test_given_a_job_when_followed_then_its_stream_ends_with_its_end(server: Server) -> None:
    sent = {
        "namespace": "stream",
        "documents": [{"content": f"Shelf {number} holds {number} books.", "id": str(number)} for number in range(30)],
    }
    with server.client("admin") as client:
        begun = client.post("/api/rag/index", params={"wait": 0}, json=sent)
        with client.stream("GET", f"/api/jobs/{begun.json()['job']}/events") as stream:
            lines = [line for line in stream.iter_lines() if line]
        stopped = client.post(f"/api/jobs/{begun.json()['job']}/stop")

    assert begun.status_code in (200, 202)
    events = [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in zip(lines[::2], lines[1::2], strict=True)
    ]
    assert [name for name, _ in events][-1] == "end"
    shares = [row["share"] for _, row in events]
    assert shares == sorted(shares)
    assert (events[-1][1]["state"], events[-1][1]["indexed"]) == ("finished", 30)
    assert stopped.json()["state"] == "finished", "stopping what is done changes nothing"


def test_given_another_job_before_it_when_a_text_is_sent_then_it_is_listed_when_the_reply_comes(server):
    """So that no end of the process loses it; the next start takes it up."""
    go = threading.Event()
    server.service._runner.start("Before", lambda progress, stop: AddReport(cancelled=not go.wait(60)), 1)
    documents = [{"content": "The shelf holds nine books.", "id": "shelf"}]
    sent = {"namespace": "behind", "documents": documents, "settings": {"passage_tokens": 96}}
    try:
        with server.client("admin") as client:
            begun = client.post("/api/rag/index", params={"wait": 0}, json=sent)
            listed = [(row.name, values["passage_tokens"]) for row, values in cut_off(server.folder, "behind")]
            go.set()
            ended = client.post("/api/rag/index", json=sent)
    finally:
        go.set()
    assert begun.status_code == 202
    assert begun.json()["documents"][0]["state"] == "waiting"
    assert listed == [("shelf", 96)]
    assert ended.json()["unchanged"] == 1
    assert cut_off(server.folder, "behind") == []


def test_given_a_question_as_a_stream_when_asked_then_it_ends_with_the_decision_or_the_problem(server: Server) -> None:
    """No language model is asked here: the search and the decision are its stages; tests/decision shows the others."""
    with server.client("alpha") as client:
        ends = []
        for query in (WARRANTY, "\u200b"):
            with client.stream("POST", "/api/rag/query/events", json={**FEATURE, "query": query}) as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                ends.append([line for line in stream.iter_lines() if line])
    told = [json.loads(line.removeprefix("data: ")) for line in ends[0][1::2]]
    assert ends[0][::2] == ["event: stage", "event: stage", "event: decision"]
    assert [one["step"] for one in told[:2]] == ["search", "decide"]
    assert told[2]["answer"] == server.known["alpha"]["answer"]
    assert ends[1][-2] in ("event: decision", "event: problem")


def test_given_lists_when_they_are_longer_than_a_page_then_next_says_where_they_go_on(server: Server) -> None:
    at = "/api/collections/alpha"
    with server.client("alpha") as client:
        for text in ("The door is red.", "The door is blue."):
            client.post(
                "/api/rag/index", json={"namespace": "alpha", "documents": [{"content": text}]}
            ).raise_for_status()
        decision = client.post("/api/rag/query", json=FEATURE).json()["id"]
        for comment in ("one", "two"):
            said = {"kind": "helpful", "comment": comment}
            client.post(f"{at}/decisions/{decision}/feedback", json=said).raise_for_status()
        for path in ("/api/jobs", f"{at}/feedback"):
            first, second, none = (
                client.get(path, params={"limit": 1, "offset": offset}).json() for offset in (0, 1, 1000)
            )
            assert (first["next"], none["items"], first["items"] != second["items"]) == (1, [], True), path
        assert client.get("/api/jobs", params={"limit": 200}).json()["next"] is None


def test_given_a_request_that_failed_when_it_comes_again_then_it_is_tried_again(server: Server) -> None:
    """Another writer holds the library at first."""
    from rag_core.library.disk.lock import writing

    sent = {"namespace": "held", "documents": [{"content": "The lock is open."}]}
    with server.client("admin") as client, pytest.MonkeyPatch.context() as patch:
        client.put("/api/collections/held").raise_for_status()
        patch.setattr(
            "rag_core.library.library.Library.add.__kwdefaults__", {**Library.add.__kwdefaults__, "wait": 0.1}
        )
        with writing(server.folder / "held", wait=5):
            busy = client.post("/api/rag/index", json=sent)
        again = client.post("/api/rag/index", json=sent)
    assert (busy.status_code, busy.json()["kind"]) == (409, "LibraryBusy")
    assert busy.headers["retry-after"]
    assert (again.status_code, again.json()["indexed"]) == (200, 1)


def test_given_a_service_that_loads_or_stops_when_asked_if_it_is_ready_then_it_says_which(tmp_path, monkeypatch):
    class Opening:
        error = None

        def wait(self) -> bool:
            return False

    monkeypatch.setattr("rag_core.work.loading.opening", lambda *_: Opening())
    service = service_of(tmp_path)
    loading = service.problem()
    service.stop()
    stopping = service.problem()
    assert (loading.kind, stopping.kind) == ("Loading", "Stopping")


def test_given_a_text_when_its_picture_is_asked_for_then_the_problem_says_that_it_has_none(server: Server) -> None:
    with server.client("alpha") as client:
        sent = {"namespace": "alpha", "documents": [{"content": "The ferry leaves at noon.", "id": "ferry"}]}
        id = client.post("/api/rag/index", json=sent).json()["documents"][0]["id"]
        refused = client.get(f"/api/collections/alpha/documents/{id}/pages/1/image")
        client.delete(f"/api/collections/alpha/documents/{id}")

    assert refused.status_code == 404
    assert refused.json()["detail"] == "This document is a text: its pages have no picture."
    assert refused.json()["remedy"] == "Ask for the text of the page."


def test_given_how_much_is_wanted_when_a_decision_is_told_then_it_is_whole_or_without_what_was_measured(server):
    """Wherever a decision is told: asked, streamed, decided over passages, shown, replayed, in a chat."""
    body = {"query": WARRANTY, "namespace": "alpha"}
    passages = {"question": WARRANTY, "passages": [{"text": "The warranty period is 24 months."}]}
    chat = {"model": "alpha", "messages": [{"role": "user", "content": WARRANTY}]}
    with server.client("alpha") as client:
        kept = client.post("/api/rag/query", json=body).json()["id"]
        calls: list[tuple[str, str, Any]] = [
            ("POST", "/api/rag/query", body),
            ("POST", "/api/rag/query/events", body),
            ("POST", "/api/rag/decide", passages),
            ("GET", f"/api/collections/alpha/decisions/{kept}", None),
            ("POST", f"/api/collections/alpha/decisions/{kept}/replay", {}),
            ("POST", "/v1/chat/completions", chat),
            ("POST", "/v1/chat/completions", {**chat, "stream": True}),
        ]
        for method, path, sent in calls:
            whole, same, slim = (
                decision_in(client.request(method, path + wanted, json=sent))
                for wanted in ("", "?detail=full", "?detail=answer")
            )
            unkept = {"id"} if path.endswith("/decide") else set()
            assert set(whole) == set(same) == set(models.Decision.model_fields) - unkept, path
            assert set(slim) == set(models.Answer.model_fields) - unkept, path
            assert (slim["answer"], slim["value"]) == (whole["answer"], whole["value"]), path
            value = "24 months" if path.endswith("/decide") else "24 months from delivery"
            assert slim["value"]["text"] == value, path
            assert [one["excerpt"] for one in slim["citations"]] == [one["excerpt"] for one in whole["citations"]], path
            assert len(json.dumps(slim)) * 3 < len(json.dumps(whole)), path
        assert client.post("/api/rag/query?detail=some", json=body).status_code == 422


def decision_in(answer: httpx2.Response) -> dict[str, Any]:
    """The decision in a reply, in its stream or in its chat."""
    lines = [line.removeprefix("data: ") for line in answer.raise_for_status().text.splitlines() if "data: {" in line]
    found = [json.loads(line) for line in lines] or [answer.json()]
    told = [one.get("plumbline", one) for one in found]
    return dict(next(one for one in told if "answer" in one))


def test_given_a_collection_that_is_not_there_when_it_is_asked_then_the_problem_names_it(server: Server) -> None:
    with server.client("admin") as client:
        for method, path, sent in (
            ("POST", "/api/rag/query", {"query": WARRANTY, "namespace": "contrats"}),
            ("GET", "/api/collections/contrats/documents", None),
            ("POST", "/v1/chat/completions", {"model": "contrats", "messages": [{"role": "user", "content": "What?"}]}),
        ):
            problem = client.request(method, path, json=sent)
            assert problem.status_code == 404, path
            assert problem.json()["detail"] == "There is no collection 'contrats'.", path
        odd = client.get("/api/collections/<script>/documents").json()
        assert (odd["detail"], "script" in str(odd)) == ("There is no such collection.", False)
