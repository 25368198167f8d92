"""The whole schema by Schemathesis: whatever it makes up is answered as the schema says, and never with a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import schemathesis

# here, not in the midst of a test: pytest 9 on Python 3.11 cannot rewrite it there
import schemathesis.specs.openapi.schemas
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS
from service_kit import WARRANTY, Server, ended, running

from rag_core.entrypoints.http import problems
from rag_core.errors import Conflict, IngestError, InvalidInput, LibraryBusy, NotAllowed, QuotaExceeded
from rag_core.service import models

EXAMPLES = 4  # each operation gets so many: with 41 operations 5 to 20 seconds


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service of its own: what is made up adds collections and documents."""
    with running(tmp_path_factory.mktemp("schema") / "library") as server:
        server.tokens["admin"] = server.service.tokens.create("admin", ["admin"], ["*"])[1]
        yield server


def test_given_anything_that_the_schema_allows_or_forbids_when_sent_then_the_answer_is_one_of_the_schema(alone):
    token = {"Authorization": f"Bearer {alone.tokens['admin']}"}
    schema = schemathesis.openapi.from_url(f"{alone.address}/api/openapi.json", headers=token)
    names = [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "positive_data_acceptance",
    ]
    checks = CHECKS.get_by_names(names)
    seen, failed = 0, []
    for found in schema.get_all_operations():
        operation = found.ok()
        seen += 1

        def call(case: Any) -> None:
            case.validate_response(case.call(headers=token, timeout=60), checks=checks)

        examined = settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(given(case=operation.as_strategy())(call))
        try:
            examined()
        except Exception as error:
            failed.append(f"{operation.label}: {error}")
    assert failed == []
    published = httpx2.get(f"{alone.address}/api/openapi.json", headers=token).json()["paths"]
    assert seen == sum(len(operations) for operations in published.values())


def published(server: Server) -> dict[str, Any]:
    with server.client("admin") as client:
        found: dict[str, Any] = client.get("/api/openapi.json").raise_for_status().json()
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(method, path, one) for path, all in document["paths"].items() for method, one in all.items()]


def test_given_the_schema_then_every_operation_has_a_name_a_tag_and_types_for_what_it_says_and_refuses(alone):
    document = published(alone)
    parts, problem = document["components"]["schemas"], {"$ref": "#/components/schemas/Problem"}
    names = [one["operationId"] for _, _, one in operations(document)]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and "api" not in name for name in names)
    for _, path, one in operations(document):
        assert one["tags"], path
        for status in ("4XX", "5XX"):
            assert one["responses"][status]["content"] == {"application/problem+json": {"schema": problem}}, path
        for status, said in one["responses"].items():
            if status.startswith("2") and status != "204" and not path.startswith("/v1/"):
                assert all(media["schema"] for media in said["content"].values()), path
    said = {
        one["operationId"]: one["responses"]["200"]["content"]
        for _, _, one in operations(document)
        if "200" in one["responses"]
    }
    assert said["query_events"]["text/event-stream"]["itemSchema"]["properties"].keys() == {"event", "data"}
    assert said["follow_job"].keys() == {"text/event-stream"}
    assert said["show_evidence"] == said["show_page_picture"]
    assert said["show_evidence"]["image/png"]["schema"] == {"type": "string", "format": "binary"}
    decision = parts["Decision"]["properties"]
    for name, kind in (
        ("claims", "Claim"),
        ("retrieved", "Retrieved"),
        ("trace", "CheckResult"),
        ("reasons", "Reason"),
    ):
        assert decision[name]["items"] == {"$ref": f"#/components/schemas/{kind}"}
    for name in ("AnswerStatus", "ConfidenceLevel", "Reason", "State", "Mode", "FeedbackKind", "DateSource"):
        assert parts[name]["enum"], name
    assert parts["FormIn"]["properties"]["files"]["items"] == {"type": "string", "format": "binary"}
    assert document["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"


def bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The address and the schema of each body in JSON."""
    for _, path, one in operations(document):
        body = one.get("requestBody", {}).get("content", {}).get("application/json")
        if body:
            yield path, document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]


def forms(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """A field's schema, or those that it may have."""
    return [form for one in schema.get("anyOf", [schema]) for form in one.get("anyOf", [one])]


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(id=st.text(st.characters(categories=("L", "N")), min_size=1, max_size=9), between=st.integers(0, 3))
def test_given_one_id_twice_in_any_list_when_sent_then_it_is_a_conflict_that_names_it(alone, id, between):
    document = published(alone)
    parts, seen = document["components"]["schemas"], set()
    for path, body in bodies(document):
        for name, field in body["properties"].items():
            kind = field.get("items", {}).get("$ref", "").rpartition("/")[2]
            if "id" not in parts.get(kind, {}).get("properties", {}):
                continue
            seen.add(name)
            rows = [{one: "The warranty." for one in parts[kind]["required"]} for _ in range(between + 2)]
            rows[0]["id"] = rows[-1]["id"] = id
            rest = {one: WARRANTY for one in body["required"] if one != name}
            with alone.client("admin") as client:
                answer = client.post(path, json={**rest, name: rows})
            problem = models.Problem.model_validate_json(answer.content, strict=True)
            assert (answer.status_code, problem.kind, repr(id) in problem.detail) == (409, "Conflict", True), path
            assert problem.remedy.startswith("Give each"), path
    assert seen == {"passages", "documents"}


def test_given_a_list_of_names_or_keys_then_the_schema_takes_no_empty_one(alone: Server) -> None:
    seen = set()
    for _, body in bodies(published(alone)):
        for name, field in body["properties"].items():
            for form in forms(field):
                item = form.get("items") or form.get("propertyNames") or {}
                if item.get("type") == "string" or form.get("propertyNames"):
                    seen.add(name)
                    assert item.get("minLength") == 1 or re.search(item["pattern"], "") is None, name
    assert {"collections", "documents", "filters", "metadata"} <= seen
    with alone.client("admin") as client:
        for given in ({"collections": ["default", ""]}, {"documents": [""]}, {"filters": {"": "a"}}):
            assert client.post("/api/rag/query", json={"query": WARRANTY, **given}).status_code == 422, given


def test_given_a_collection_without_documents_beside_others_then_it_is_a_conflict_that_names_it(alone: Server) -> None:
    with alone.client("admin") as client:
        client.put("/api/collections/hollow").raise_for_status()
        for names in (["hollow"], ["default", "hollow"], ["hollow", "hollow"]):
            client.post("/api/rag/index", json={"documents": [{"content": "A word."}]}).raise_for_status()
            answer = client.post("/api/rag/query", json={"query": WARRANTY, "collections": names})
            problem = models.Problem.model_validate_json(answer.content, strict=True)
            assert (answer.status_code, problem.kind) == (409, "Conflict")
            assert problem.detail == "The collection 'hollow' has no documents."
            assert problem.remedy


def test_given_the_examples_of_the_schema_when_sent_then_each_works(alone: Server) -> None:
    document = published(alone)
    parts = document["components"]["schemas"]

    def example(schema: dict[str, Any], *, needed: bool = True) -> Any:
        """What the schema gives as an example; of what need not be there, None where there is none."""
        schema = parts[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        if "examples" in schema:
            return schema["examples"][0]
        if "enum" in schema:
            return schema["enum"][0] if needed else None
        if schema.get("type") == "array" and needed:
            return [example(schema["items"])]
        if schema.get("type") == "object" and needed and "properties" in schema:
            must = schema.get("required", [])
            found = {name: example(one, needed=name in must) for name, one in schema["properties"].items()}
            return {name: value for name, value in found.items() if value is not None}
        assert not needed, f"{schema} has no example"
        return None

    sent = []
    with alone.client("admin") as client:
        text = {"content": "The warranty period is 24 months from delivery."}
        job = client.post("/api/rag/index", json={"documents": [text]}).raise_for_status().json()["job"]
        ended(client, job)
        client.post("/api/rag/query", json={"query": WARRANTY}).raise_for_status()
        for method, path, one in operations(document):
            body = one.get("requestBody", {}).get("content", {}).get("application/json")
            parameters = one.get("parameters", [])
            if method == "delete" or not (body or any("examples" in part["schema"] for part in parameters)):
                continue
            if any(part["in"] == "path" and "examples" not in part["schema"] for part in parameters):
                continue  # about a document or a job, whose ids nobody knows beforehand
            given = {part["name"]: example(part["schema"], needed=part["required"]) for part in parameters}
            query = {part["name"]: given[part["name"]] for part in parameters if part["in"] == "query"}
            answer = client.request(
                method,
                path.format(**given),
                params={name: value for name, value in query.items() if value},
                **({"json": example(body["schema"])} if body else {}),
            )
            if one["operationId"] == "show_evidence":
                assert answer.status_code in (200, 404), "a text has no picture"
                continue
            assert answer.is_success, (path, answer.text)
            sent.append(one["operationId"])
    assert {"index", "query", "query_events", "decide", "judge", "replay", "give_feedback", "complete_chat"} <= set(
        sent
    )


def test_given_an_address_when_a_method_is_not_there_then_all_that_are_stand_in_allow(alone: Server) -> None:
    document = published(alone)
    with alone.client("admin") as client:
        for path, all in document["paths"].items():
            answer = client.request("PATCH", path.format(name="default", id="0" * 16, number=1, page=1))
            assert answer.status_code == 405, path
            assert set(answer.headers["allow"].split(", ")) == {method.upper() for method in all}, path
            models.Problem.model_validate_json(answer.content, strict=True)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (LibraryBusy, 409),
        (QuotaExceeded, 409),
        (Conflict, 409),
        (NotAllowed, 403),
        (InvalidInput, 422),
        (IngestError, 422),
    ],
)
def test_given_a_conflict_with_what_is_there_then_it_is_told_from_a_request_that_cannot_be_used(error, status):
    found, body, wait = problems.of(error("It cannot be done.", remedy="Wait."))

    assert found == status
    assert (models.Problem.model_validate_json(body, strict=True).kind, wait > 0) == (
        error.__name__,
        error is LibraryBusy,
    )
