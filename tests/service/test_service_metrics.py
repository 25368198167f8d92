"""`/metrics` as Prometheus reads it: figures of the caller's collections, and no text."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families
from service_kit import WARRANTY, Server


def read(server: Server, token: str) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels."""
    with server.client() as client:
        answer = client.get("/metrics", headers={"authorization": f"Bearer {token}"}).raise_for_status()
    assert answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {
        (one.name, *(one.labels[name] for name in sorted(one.labels))): one.value
        for family in families
        for one in family.samples
    }


def test_given_questions_when_metrics_are_read_then_they_are_counted_for_whoever_may_watch(server: Server) -> None:
    """S3-30: the five figures as counters and histograms, by collection."""
    token = server.service.tokens.create("prometheus", ["watch"], ["alpha"])[1]
    before = read(server, token)
    with server.client("alpha") as client:
        client.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha"}).raise_for_status()
        refused = client.post(
            "/api/rag/query", json={"query": "Who won the zyzzyva cup in 1987?", "namespace": "alpha"}
        ).json()
        documents = len(client.get("/api/collections/alpha/documents").raise_for_status().json()["items"])
    after = read(server, token)

    def grown(*key: str) -> float:
        return after.get(key, 0.0) - before.get(key, 0.0)

    assert not refused["is_safe"]
    assert grown("plumbline_questions_total", "alpha", "none", "success") == 1
    assert grown("plumbline_questions_total", "alpha", refused["reason"], refused["status"]) == 1
    assert grown("plumbline_drafts_total", "alpha") >= 1
    assert grown("plumbline_drafts_failed_total", "alpha") == 0
    assert grown("plumbline_draft_claims_total", "alpha") == grown("plumbline_draft_claims_cited_total", "alpha") >= 1
    assert grown("plumbline_retrieval_seconds_count", "alpha") == grown("plumbline_correctness_count", "alpha") == 2
    groups = [
        value
        for name, value in sorted(
            (float(key[2]), value) for key, value in after.items() if key[0] == "plumbline_correctness_bucket"
        )
    ]
    assert groups == sorted(groups)
    assert (after["plumbline_documents", "alpha"], after["plumbline_library_bytes", "alpha"] > 1000) == (
        documents,
        True,
    )
    assert after["plumbline_ready",] == 1
    assert after["plumbline_queue_limit", "question"] == 42
    assert {key[1] for key in after if key[0] == "plumbline_documents"} == {"alpha"}
    assert not [key for key in after if any("zyzzyva" in part or "beta" in part for part in key)]


def test_given_a_token_without_the_scope_when_metrics_are_read_then_it_is_refused(server: Server) -> None:
    with server.client("alpha") as client, server.client("admin") as admin:
        assert client.get("/metrics").status_code == 403
        assert "plumbline_ready 1.0" in admin.get("/metrics").text
