"""The whole schema by Schemathesis: whatever it makes up is answered as the schema says, and never with a fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import schemathesis

# here, not in the midst of a test: pytest 9 on Python 3.11 cannot rewrite it there
import schemathesis.specs.openapi.schemas
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS
from service_kit import Server, running

EXAMPLES = 4  # each operation gets so many: with 41 operations 5 to 20 seconds


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service of its own: what is made up adds collections and documents."""
    with running(tmp_path_factory.mktemp("schema") / "library") as server:
        server.tokens["admin"] = server.service.tokens.create("admin", ["admin"], ["*"])[1]
        yield server


def test_given_anything_that_the_schema_allows_or_forbids_when_sent_then_the_answer_is_one_of_the_schema(
    alone: Server,
) -> None:
    token = {"Authorization": f"Bearer {alone.tokens['admin']}"}
    schema = schemathesis.openapi.from_url(f"{alone.address}/api/openapi.json", headers=token)
    names = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
    checks = CHECKS.get_by_names(names)
    seen, failed = 0, []
    for found in schema.get_all_operations():
        operation = found.ok()
        seen += 1

        def call(case: Any) -> None:
            response = case.call(headers=token, timeout=60)
            case.validate_response(response, checks=checks)

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
