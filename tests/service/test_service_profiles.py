"""Domain profiles over HTTP: a caller names a domain or has it detected, and says how its work went."""

from __future__ import annotations

import pytest
from service_kit import WARRANTY, Server

CONTRACT = "Does the contract say when the invoice is due?"


def test_given_a_domain_when_a_question_is_asked_then_its_profile_is_named_and_the_caller_s_own_settings_win(server: Server) -> None:
    """S3-26, S3-27: the domain is set by the caller or detected, and the decision names it."""
    with server.client("alpha") as client:

        def asked(question: str = WARRANTY, **more: object) -> dict:
            sent = {"query": question, "namespace": "alpha", **more}
            return client.post("/api/rag/query", json=sent).raise_for_status().json()

        plain, legal, own = asked(), asked(domain="legal"), asked(domain="legal", top_k=2)
        auto = asked(CONTRACT, domain="auto")
        at = "/api/collections/alpha"
        detected = client.get(f"{at}/domain", params={"query_text": CONTRACT}).json()
        kept = client.get(f"{at}/decisions/{legal['id']}").json()["metadata"]
        replayed = client.post(f"{at}/decisions/{legal['id']}/replay", json={"settings": {"min_correctness": 1.0}}).json()
        listed = {one["domain"]: one["values"] for one in client.get(f"{at}/profiles").json()["items"]}
        unknown = client.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha", "domain": "law"})
        nowhere = client.get(f"{at}/profiles/law")

    assert "profile" not in plain["metadata"]
    assert plain["answer"] == legal["answer"]
    assert legal["metadata"]["profile"] == kept["profile"] == replayed["metadata"]["profile"] == "legal"
    assert len(legal["retrieved"]) > len(plain["retrieved"]) > len(own["retrieved"]) == 2
    assert auto["metadata"]["profile"] == detected["domain"] == "legal"
    assert auto["metadata"]["profile_why"] == detected["why"] == "The question uses a word of it."
    assert listed["legal"] == {"top_k": 15, "strategy": "legal"}
    assert (unknown.status_code, "legal" in unknown.json()["remedy"], nowhere.status_code) == (422, True, 404)


def test_given_work_under_a_profile_when_it_is_recorded_then_its_figures_stand_there(server: Server) -> None:
    """S3-26: confidence, citation coverage, outcome and feedback are kept."""
    at = "/api/collections/alpha"
    figures = {"confidence": 0.5, "citation_coverage": 1.0, "hallucination_detected": False}
    work = {"prompt_id": "rag_strategy", "metrics": figures}
    with server.client("alpha") as client:
        sent = {"query": WARRANTY, "namespace": "alpha", "domain": "textbook"}
        id = client.post("/api/rag/query", json=sent).raise_for_status().json()["id"]
        for row in (
            {**work, "feedback": "helpful", "decision": id},
            {
                "prompt_id": "rag_strategy",
                "feedback": "wrong_answer",
                "decision": id,
                "metrics": {"confidence": 0.9, "citation_coverage": 0.5, "hallucination_detected": True},
            },
            {**work, "prompt_id": "rag_generation", "outcome": "refused", "profile": "code"},
        ):
            client.post(f"{at}/executions", json=row).raise_for_status()
        found = client.get(f"{at}/profiles/textbook").raise_for_status().json()["recorded"]
    with server.client("reader") as reader:
        foreign = reader.post(f"{at}/executions", json={**work, "decision": id})

    assert (found["executions"], found["citation_coverage"], found["hallucinations"]["k"]) == (2, 0.75, 1)
    assert found["confidence"] == pytest.approx(0.7)
    assert (found["outcomes"], found["feedback"]) == ({"answered": 2}, {"helpful": 1, "wrong_answer": 1})
    assert foreign.status_code == 404, "another caller's decision"


def test_given_a_domain_when_documents_are_indexed_then_they_are_cut_as_its_profile_says(server: Server) -> None:
    with server.client("admin") as client:
        for document, more in (
            ({"content": "The tenant pays.", "id": "a"}, {"domain": "legal"}), ({"content": "Nobody pays.", "id": "c"}, {"domain": "auto"}),
            ({"content": "Somebody pays.", "id": "d"}, {"domain": "legal", "settings": {"strategy": "research"}}),
        ):  # fmt: skip
            client.post("/api/rag/index", json={"namespace": "cut", "documents": [document], **more}).raise_for_status()
        file = {"files": ("b.txt", b"The lessor pays.")}
        client.post("/api/rag/index", data={"namespace": "cut", "domain": "code"}, files=file).raise_for_status()
        found = {one["name"]: one["strategy"] for one in client.get("/api/collections/cut/documents").json()["items"]}

    assert found == {"a": "legal", "b.txt": "code", "c": "technical", "d": "research"}


def test_given_a_quota_when_documents_are_sent_then_those_that_do_not_fit_are_told_one_by_one(server: Server) -> None:
    with server.client("admin") as client:

        def indexed(*documents: dict) -> dict:
            return client.post("/api/rag/index", json={"namespace": "small", "documents": documents}).raise_for_status().json()

        at = "/api/collections/small"
        client.put(at).raise_for_status()
        client.put(f"{at}/quota", json={"documents": 1, "bytes": 500}).raise_for_status()
        sent = indexed({"content": "One rule."}, {"content": "Two rules.", "id": "two"})
        held = client.get(f"{at}/quota").json()
        lifted = client.put(f"{at}/quota", json={}).json()
        again = indexed({"content": "Two rules.", "id": "two"})

    said = [(one["state"], "may have 1 documents" in one["problem"]) for one in sent["documents"]]
    assert said == [("indexed", False), ("problem", True)]
    assert [held[name] for name in ("documents", "bytes", "most_documents", "most_bytes")] == [1, 9, 1, 500]
    assert (lifted["most_documents"], lifted["most_bytes"], again["indexed"]) == (None, None, 1)
