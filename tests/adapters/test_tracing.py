"""Traces of questions, as a collector gets them: over HTTP, in OpenTelemetry's own protocol, and without text unless it
is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("opentelemetry.sdk")

from builders import measurements
from span_collector import Collector

from rag_core.adapters.tracing import traces
from rag_core.decision.decide import decide
from rag_core.errors import InvalidSetting

QUESTION = "How long is the secret notice period?"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        yield server


def told(collector: Collector, **more: str) -> tuple[list[dict[str, object]], bytes]:
    """The spans of one question by name and attributes, and all bytes that were sent."""
    found = traces({"RAG_TRACES": collector.address, **more})
    one = measurements(0.9, 0.8, question=QUESTION)
    found.watch(one, decide(one))
    found.provider.shutdown()
    rows: list[dict[str, object]] = [
        {
            "name": span.name,
            "root": not span.parent_span_id,
            "ms": (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6,
        }
        | {each.key: each.value.string_value or each.value.double_value for each in span.attributes}
        for span in collector.spans
    ]
    return rows, collector.sent


def test_given_a_collector_when_decided_then_it_gets_spans_of_openinference_s_kinds_and_no_text(collector):
    rows, sent = told(collector)

    (root,) = [row for row in rows if row["root"]]
    one = measurements(0.9, 0.8, question=QUESTION)
    assert (root["name"], root["openinference.span.kind"]) == ("question", "CHAIN")
    assert root["decision.status"] == str(decide(one).status)
    assert {str(row["openinference.span.kind"]) for row in rows} >= {"CHAIN", "GUARDRAIL"}
    guards = {row["name"]: row for row in rows if row["openinference.span.kind"] == "GUARDRAIL"}
    checks = {check.stage: check for check in decide(one).trace.checks}
    assert set(guards) == set(checks)
    assert all(guards[name].get("check.value") == check.value for name, check in checks.items() if check.value)
    assert {row["name"] for row in rows} >= set(one.timings)
    for text in (QUESTION, *(hit.passage.text for hit in one.hits)):
        assert text.encode() not in sent


def test_given_that_texts_are_wanted_when_a_question_is_decided_then_they_go_along(collector: Collector) -> None:
    _, sent = told(collector, RAG_TRACES_TEXT="true")

    assert QUESTION.encode() in sent


def test_given_no_collector_or_one_that_is_away_when_a_question_is_decided_then_nothing_is_in_its_way() -> None:
    assert traces({}) is None
    assert traces({"RAG_TRACES": " "}) is None
    for wrong in ("127.0.0.1:4318", "file:///tmp/x", "http://"):
        with pytest.raises(InvalidSetting):
            traces({"RAG_TRACES": wrong})
    found = traces({"RAG_TRACES": "http://127.0.0.1:9/v1/traces"})
    found.watch(None, None)  # type: ignore[arg-type]
