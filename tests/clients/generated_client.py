"""Generates a client from the OpenAPI document of a running service, and calls every operation with it.

    python -m rag_core serve
    python tests/clients/generated_client.py http://127.0.0.1:8501 [TOKEN, with the scope admin]

It needs the package openapi-python-client (tried: 0.29.1), which is no dependency of the project: run it in an
environment of its own; it imports nothing of Plumbline. It makes a collection and deletes it. It ends with 1 where
the generator leaves out a part of the document, where an operation is not called, or a reply is not parsed into its
type.
"""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

NAME = "generated-client"
TEXT, ASKED, VALUE = "The warranty period is 24 months from delivery.", "How long is the warranty period?", "24 months"
SAMPLE = Path(__file__).resolve().parents[2] / "data" / "samples" / "company-policies.pdf"
# the generator knows bytes by this name only, and would format what it wrote with a ruff of the path
CONFIG = "{content_type_overrides: {image/png: application/octet-stream}, post_hooks: []}\n"


def generated(document: bytes, folder: Path) -> Any:
    (folder / "api.json").write_bytes(document)
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    made = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none"]
    made += ["--config", "config.yaml", "--path", "api.json", "--output-path", "plumbline_client"]
    subprocess.run(made, cwd=folder, check=True)
    sys.path.insert(0, str(folder))
    return importlib.import_module("plumbline_client")


def run(address: str, token: str) -> None:
    request = urllib.request.Request(f"{address}/api/openapi.json", headers={"authorization": f"Bearer {token}"})
    document = urllib.request.urlopen(request).read()
    paths = json.loads(document)["paths"].values()
    left = {one["operationId"]: one["tags"][0] for path in paths for one in path.values()}
    with tempfile.TemporaryDirectory() as folder:
        package = generated(document, Path(folder))
        types, models = (importlib.import_module(f"plumbline_client.{name}") for name in ("types", "models"))
        client = package.AuthenticatedClient(base_url=address, token=token, raise_on_unexpected_status=True, timeout=60)

        def call(operation: str, *path: Any, status: int = 200, **values: Any) -> Any:
            tag = left.pop(operation, "") or known[operation]
            known[operation] = tag
            module = importlib.import_module(f"plumbline_client.api.{tag}.{operation}")
            found = module.sync_detailed(*path, client=client, **values)
            assert found.status_code == status, (operation, found)
            assert status == 204 or found.parsed is not None, (operation, found)
            assert (status >= 400) == isinstance(found.parsed, models.Problem), (operation, found)
            return found.parsed

        known: dict[str, str] = {}
        asked = models.QueryIn(query=ASKED, namespace=NAME)
        chat = [models.ChatMessage(role="user", content=ASKED)]
        passages = [models.PassageIn(text=TEXT)]

        call("create_collection", NAME, status=201)
        assert NAME in call("list_collections").items
        added = call("index", body=models.IndexIn(documents=[models.TextIn(content=TEXT)], namespace=NAME))
        assert added.documents[0].state is models.IndexedState.INDEXED
        with SAMPLE.open("rb") as file:
            sent = types.File(io.BytesIO(file.read()), SAMPLE.name)
        pdf = (
            call(
                "index",
                body=models.FormIn(
                    files=[sent], namespace=NAME, metadata=models.FormInMetadata.from_dict({"class": "10"})
                ),
            )
            .documents[0]
            .id
        )
        assert len(call("list_documents", NAME).items) == call("list_documents", NAME).total == 2
        assert call("show_document", NAME, pdf).metadata["class"] == "10"
        facts = models.MetadataIn.from_dict({"metadata": {"title": "Policies"}})
        assert call("describe_document", NAME, pdf, body=facts).title == "Policies"
        assert call("show_page", NAME, pdf, 1).text
        assert call("show_page_picture", NAME, pdf, 1).payload.read(4) == b"\x89PNG"

        decision = call("query", body=asked)
        assert VALUE in decision.value.text, decision
        assert decision.status is models.AnswerStatus.SUCCESS
        assert decision.claims[0].word_for_word
        assert decision.retrieved[0].cosine > 0
        assert decision.trace[0].state in set(models.State)
        assert "event: decision" in call("query_events", body=asked)
        assert call("ask_with_confidence", NAME, query_text=ASKED).confidence_level in set(models.ConfidenceLevel)
        assert VALUE in call("decide", body=models.DecideIn(question=ASKED, passages=passages)).answer
        assert call("judge", body=models.JudgeIn(context=TEXT, answer=TEXT)).supported
        on_page = call("query", body=models.QueryIn(query="How do I request vacation?", namespace=NAME))
        assert {one.id for one in call("list_decisions", NAME).items} >= {decision.id, on_page.id}
        assert call("show_decision", NAME, int(decision.id)).answer == decision.answer
        assert call("replay", NAME, int(decision.id), body=models.ReplayIn()).answer == decision.answer
        assert call("show_evidence", NAME, int(on_page.id), 1).payload.read(4) == b"\x89PNG"
        call("give_feedback", NAME, int(decision.id), status=201, body=models.FeedbackIn(models.FeedbackKind.HELPFUL))
        assert call("list_feedback", NAME).items[0].kind is models.FeedbackKind.HELPFUL

        metrics = models.Metrics(confidence=0.9, citation_coverage=1.0, hallucination_detected=False)
        done = models.Execution(models.ExecutionPromptId.RAG_STRATEGY, metrics, decision=decision.id)
        assert call("record_execution", NAME, status=201, body=done).id > 0

        call("watch_answer", NAME, int(decision.id), status=204)
        assert call("list_pins", NAME).items[0].state is models.Change.SAME
        call("stop_watching", NAME, int(decision.id), status=204)

        assert call("show_job", added.job).state is models.JobState.FINISHED
        assert "event: end" in call("follow_job", added.job)
        assert added.job in {one.id for one in call("list_jobs").items}
        call("stop_job", added.job, status=202)
        assert NAME in {one["id"] for one in call("list_models").to_dict()["data"]}
        assert call("show_model", NAME).to_dict()["id"] == NAME
        answered = call("complete_chat", body=models.ChatIn(model=NAME, messages=chat))
        assert VALUE in answered["choices"][0]["message"]["content"]
        wrong = models.QueryIn(query="", namespace=NAME)
        assert call("query", status=422, body=wrong).errors[0]["field"]
        assert call("show_document", NAME, "none", status=404).remedy

        call("delete_document", NAME, added.documents[0].id, status=204)
        assert call("delete_document_everywhere", NAME, pdf).to_dict()
        call("delete_collection", NAME, status=204)
        assert left == {}, "these were not called"


if __name__ == "__main__":
    address, *token = sys.argv[1:]
    run(address.rstrip("/"), "".join(token))
    sys.stdout.write("generated client: as it should be\n")
