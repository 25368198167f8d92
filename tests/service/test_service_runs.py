"""Labelled runs over HTTP to their end: stopped and resumed, certified, asked under the certificate, and taken away as files."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from service_kit import WARRANTY, Server, ended

from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.wiring import records

LABELS = [
    {"id": "a", "question": WARRANTY, "answerable": True, "answers": ["24 months"]},
    {"id": "b", "question": "When is the invoice due?", "answerable": True, "answers": ["in a year"]},
    {"id": "c", "question": "What is the capital of France?", "answerable": False},
    {"id": "d", "question": "Who won the cup?", "answerable": False},
]

TYPED = LabelledQuestion("typed-1", "Jaká je záruční doba?", True, ("24 months",))


def rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


AT = "/api/collections/alpha"


def started(client: httpx2.Client, name: str) -> dict[str, Any]:
    return dict(client.post(f"{AT}/runs", json={"name": name, "questions": LABELS}).raise_for_status().json())


def measured(client: httpx2.Client, name: str) -> int:
    job = started(client, name)
    assert ended(client, job["id"]) == "finished"
    return int(job["run"])


def test_given_a_run_when_it_is_certified_then_its_preset_is_asked_under_until_the_collection_changes(server: Server) -> None:
    with server.client("alpha") as client:
        at = f"{AT}/runs/{measured(client, 'certify')}/certificate"

        def certified(targets: float, **more: Any) -> httpx2.Response:
            return client.post(at, json={"targets": {"wrong_answers": targets}, **more})

        def asked(preset: str) -> httpx2.Response:
            return client.post("/api/rag/query", json={"query": WARRANTY, "namespace": "alpha", "preset": preset})

        def kept() -> dict[str, Any]:
            (one,) = client.get(f"{AT}/certificates").json()["items"]
            return dict(one)

        lacking = certified(0.05, save_as="never").json()
        found = certified(0.9, confidence=0.6, save_as="sure").json()
        refused = [certified(0.9, confidence=0.6, save_as="sure"), certified(0.9, first="top_k"), certified(0.9, settings={"top_k": 3})]
        before, under = kept(), asked(found["preset"]).json()
        refused.append(asked("saved:never"))
        sent = {"namespace": "alpha", "documents": [{"content": "A new rule."}]}
        added = client.post("/api/rag/index", json=sent).json()["documents"][0]["id"]
        stale = kept()
        refused.append(certified(0.9))
        client.delete(f"{AT}/documents/{added}").raise_for_status()

    assert (lacking["certified"], lacking["preset"], lacking["certificate"]) == (False, "", None)
    assert lacking["missing"]["shortages"][0]["errorless"] == 59, "questions without an error that 5 % at 95 % needs"
    assert (found["certified"], found["preset"], found["missing"]) == (True, "saved:sure", None)
    assert found["certificate"] == before["certificate"]
    assert (before["preset"], before["holds"], stale["holds"], "library" in stale["stale"]) == ("saved:sure", True, False, True)
    assert under["metadata"]["settings_hash"] == found["certificate"]["settings_hash"]
    assert [one.status_code for one in refused] == [422, 422, 422, 404, 422]


def test_given_a_run_when_it_is_stopped_then_it_goes_on_where_it_was(server: Server) -> None:
    with server.client("alpha") as client:
        first = started(client, "stopped")
        client.delete(f"/api/jobs/{first['id']}").raise_for_status()
        state = ended(client, first["id"])
        again = client.post(f"{AT}/runs/{first['run']}/resume", json={}).raise_for_status().json()
        assert ended(client, again["id"]) == "finished"
        listed = {one["run"]: one for one in client.get(f"{AT}/runs").json()["items"]}[first["run"]]
        report = client.get(f"{AT}/runs/{first['run']}").json()

    assert state in ("stopped", "finished")
    assert again["run"] == first["run"]
    assert (listed["done"], listed["total"], listed["name"]) == (4, 4, "stopped")
    assert (report["done"], report["set"]) == (4, "stopped")


def test_given_a_run_and_kept_decisions_when_they_are_exported_then_each_line_is_read_back_and_the_log_names_it(server: Server) -> None:
    with server.client("alpha") as client:
        number = measured(client, "export")

        def exported(where: str, **params: str | int) -> list[dict[str, Any]]:
            return rows(client.get(f"{AT}{where}", params=params).raise_for_status().content)

        labels, failing = (exported(f"/runs/{number}/export", what=what) for what in ("labels", "failing"))
        decisions, first = exported(f"/runs/{number}/export"), exported("/export", limit=1)
        others = exported("/export", limit=200, before=int(first[0]["id"]))
        kept = client.get(f"{AT}/decisions/{first[0]['id']}").json()
        nothing = client.get(f"{AT}/labels", params={"set": "nowhere"})
        records(server.folder, "alpha").put_question("Otázky", TYPED)  # as the page's form keeps it
        typed = exported("/labels", set="Otázky")
    noted = [line for line in (server.folder / "audit.jsonl").read_text(encoding="utf-8").splitlines() if '"export"' in line]

    assert [(one["id"], one["answerable"]) for one in labels] == [("a", True), ("b", True), ("c", False), ("d", False)]
    assert [(one["question"], one["answerable"], one["answers"]) for one in typed] == [(TYPED.question, True, [*TYPED.answers])]
    assert [(one["id"], one["happened"]["error"]) for one in failing] == [("b", "missed_answer")]
    assert [one["id"] for one in decisions] == ["a", "b", "c", "d"]
    assert "24 months" in decisions[0]["answer"]
    assert first[0] == kept
    assert others
    assert max(int(one["id"]) for one in others) < int(first[0]["id"])
    assert nothing.status_code == 404
    assert f"run:{number}" in "".join(noted)
