"""Domain profiles over HTTP."""

from __future__ import annotations

from service_kit import WARRANTY, Server

from rag_core.wiring import records

METRICS = {"confidence": 0.9, "citation_coverage": 0.5, "hallucination_detected": True}


def test_given_a_domain_when_a_question_is_asked_then_its_profile_is_named_and_the_caller_s_own_settings_win(server):
    """S3-26, S3-27: the caller sets the domain, and the decision names it."""
    with server.client("alpha") as client:

        def asked(question: str = WARRANTY, **more: object) -> dict:
            sent = {"query": question, "namespace": "alpha", **more}
            return client.post("/api/rag/query", json=sent).raise_for_status().json()

        plain, legal, own = asked(), asked(domain="legal"), asked(domain="legal", top_k=2)
        at = "/api/collections/alpha"
        kept = client.get(f"{at}/decisions/{legal['id']}").json()["metadata"]
        replayed = client.post(
            f"{at}/decisions/{legal['id']}/replay", json={"settings": {"min_correctness": 1.0}}
        ).json()
        unknown, streamed = (
            client.post(f"/api/rag/query{way}", json={"query": WARRANTY, "namespace": "alpha", "domain": "law"})
            for way in ("", "/events")
        )

    assert "profile" not in plain["metadata"]
    assert plain["answer"] == legal["answer"]
    assert legal["metadata"]["profile"] == kept["profile"] == replayed["metadata"]["profile"] == "legal"
    assert len(legal["retrieved"]) > len(plain["retrieved"]) > len(own["retrieved"]) == 2
    for refused in (unknown, streamed):
        assert (refused.status_code, "legal" in refused.json()["errors"][0]["problem"]) == (422, True)


def test_given_work_with_a_prompt_when_recorded_over_http_then_it_is_kept_as_over_mcp(server: Server) -> None:
    """S3-26: `record_execution`; one about a kept decision is of that decision's profile."""
    at = "/api/collections/alpha/executions"
    with server.client("alpha") as client:
        asked = client.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha", "domain": "legal"}).json()
        done = {"prompt_id": "rag_generation", "metrics": METRICS, "decision": asked["id"]}
        kept = client.post(at, json=done)
        wrong = [
            client.post(at, json={**done, **change}).status_code
            for change in (
                {"metrics": {**METRICS, "confidence": 2}},
                {"metrics": {**METRICS, "hallucination_detected": 0}},
                {"prompt_id": "other"},
                {"decision": "9999"},
            )
        ]
    stored, *_ = records(server.folder, "alpha").executions()

    assert (kept.status_code, kept.json()["id"] > 0, wrong) == (201, True, [422, 422, 422, 404])
    assert stored.model_dump()["metrics"] == METRICS
    assert (stored.prompt_id, stored.profile) == ("rag_generation", "legal")


def test_given_a_domain_when_documents_are_indexed_then_they_are_cut_as_its_profile_says(server: Server) -> None:
    with server.client("admin") as client:
        for document, more in (
            ({"content": "The tenant pays.", "id": "a"}, {"domain": "legal"}),
            ({"content": "Nobody pays.", "id": "c"}, {"domain": "general"}),
            ({"content": "Somebody pays.", "id": "d"}, {"domain": "legal", "settings": {"strategy": "research"}}),
        ):
            client.post("/api/rag/index", json={"namespace": "cut", "documents": [document], **more}).raise_for_status()
        file = {"files": ("b.txt", b"The lessor pays.")}
        client.post("/api/rag/index", data={"namespace": "cut", "domain": "code"}, files=file).raise_for_status()
        found = {one["name"]: one["strategy"] for one in client.get("/api/collections/cut/documents").json()["items"]}

    assert found == {"a": "legal", "b.txt": "code", "c": "technical", "d": "research"}
