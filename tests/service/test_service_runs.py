"""Labelled runs over HTTP to their end: stopped and resumed, certified, asked under the certificate, and taken away as files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from service_kit import WARRANTY, Server

from rag_core.client import Client, ServiceError
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


def measured(client: Client, name: str) -> int:
    job = client.run(name, LABELS, "alpha")
    assert [one.state for one in client.events(job.id)][-1] == "finished"
    return job.run


def test_given_a_run_when_it_is_certified_then_its_preset_is_asked_under_until_the_collection_changes(server: Server) -> None:
    with Client(server.address, server.tokens["alpha"]) as client:
        number = measured(client, "certify")
        lacking = client.certify(number, {"wrong_answers": 0.05}, "alpha", save_as="never")
        found = client.certify(number, {"wrong_answers": 0.9}, "alpha", confidence=0.6, save_as="sure")
        with pytest.raises(ServiceError) as taken:
            client.certify(number, {"wrong_answers": 0.9}, "alpha", confidence=0.6, save_as="sure")
        with pytest.raises(ServiceError) as impossible:
            client.certify(number, {"wrong_answers": 0.9}, "alpha", first="top_k")
        with pytest.raises(ServiceError) as unjudged:
            client.certify(number, {"wrong_answers": 0.9}, "alpha", settings={"top_k": 3})
        (kept,) = client.certificates("alpha").items
        asked = client.query(WARRANTY, "alpha", preset=found.preset)
        with pytest.raises(ServiceError) as unknown:
            client.query(WARRANTY, "alpha", preset="saved:never")
        added = client.index([{"content": "A new rule."}], "alpha").documents[0].id
        (stale,) = client.certificates("alpha").items
        with pytest.raises(ServiceError) as outdated:
            client.certify(number, {"wrong_answers": 0.9}, "alpha")
        client.delete(added, "alpha")

    assert (lacking.certified, lacking.preset, lacking.certificate) == (False, "", None)
    assert lacking.missing is not None
    assert lacking.missing["shortages"][0]["errorless"] == 59, "questions without an error that 5 % at 95 % needs"
    assert (found.certified, found.preset, found.missing) == (True, "saved:sure", None)
    assert found.certificate == kept.certificate
    assert (kept.preset, kept.holds, stale.holds, "library" in stale.stale) == ("saved:sure", True, False, True)
    assert asked.metadata["settings_hash"] == found.certificate["settings_hash"]
    assert [one.value.status for one in (taken, impossible, unjudged, unknown, outdated)] == [422, 422, 422, 404, 422]


def test_given_a_run_when_it_is_stopped_then_it_goes_on_where_it_was(server: Server) -> None:
    with Client(server.address, server.tokens["alpha"]) as client:
        store = client.run("stopped", LABELS, "alpha")
        client.stop(store.id)
        states = [one.state for one in client.events(store.id)]
        again = client.resume(store.run, "alpha")
        assert [one.state for one in client.events(again.id)][-1] == "finished"
        listed = {one.run: one for one in client.runs("alpha").items}[store.run]
        report = client.report(store.run, "alpha")

    assert states[-1] in ("stopped", "finished")
    assert again.run == store.run
    assert (listed.done, listed.total, listed.name) == (4, 4, "stopped")
    assert (report["done"], report["set"]) == (4, "stopped")


def test_given_a_run_and_kept_decisions_when_they_are_exported_then_each_line_is_read_back_and_the_log_names_it(server: Server) -> None:
    with Client(server.address, server.tokens["alpha"]) as client:
        number = measured(client, "export")
        labels = rows(client.export_run(number, "alpha", what="labels"))
        failing = rows(client.export_run(number, "alpha", what="failing"))
        decisions = rows(client.export_run(number, "alpha"))
        first = rows(client.export("alpha", limit=1))
        others = rows(client.export("alpha", limit=200, before=int(first[0]["id"])))
        kept = client.decision(first[0]["id"], "alpha")
        with pytest.raises(ServiceError) as nothing:
            client.labels("nowhere", "alpha")
        records(server.folder, "alpha").put_question("Otázky", TYPED)  # as the page's form keeps it
        typed = rows(client.labels("Otázky", "alpha"))
    noted = [line for line in (server.folder / "audit.jsonl").read_text(encoding="utf-8").splitlines() if '"export"' in line]

    assert [(one["id"], one["answerable"]) for one in labels] == [("a", True), ("b", True), ("c", False), ("d", False)]
    assert [(one["question"], one["answerable"], one["answers"]) for one in typed] == [(TYPED.question, True, [*TYPED.answers])]
    assert [(one["id"], one["happened"]["error"]) for one in failing] == [("b", "missed_answer")]
    assert [one["id"] for one in decisions] == ["a", "b", "c", "d"]
    assert "24 months" in decisions[0]["answer"]
    assert first[0] == kept.model_dump()
    assert others
    assert max(int(one["id"]) for one in others) < int(first[0]["id"])
    assert nothing.value.status == 404
    assert f"run:{number}" in "".join(noted)
