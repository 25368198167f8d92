"""A request as an operator sees it: its ids, one line in the access log, figures, spans; and the dashboard and alerts
over these figures.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from honest_model import honest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from model_server import ModelServer, Slow
from prometheus_client.parser import text_string_to_metric_families
from service_kit import WARRANTY, Server, running
from span_collector import Collector
from test_service_metrics import read

from rag_core.entrypoints.http.guards import PREFIX
from rag_core.settings.logs import start_logs
from rag_core.settings.request_context import REQUEST, received
from rag_core.wiring import engines
from rag_core.work.background import Background

ROOT = Path(__file__).resolve().parents[2]
DEPLOY, SAMPLE = ROOT / "deploy", ROOT / "data" / "samples" / "company-policies.pdf"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
ID = "proxy/4711:a.b_c-d"
QUESTIONS = ("plumbline_http_requests_total", "POST", "/api/rag/query")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """The log of the service as JSON lines."""
    start_logs({"RAG_LOG": "json", "RAG_LOG_FILE": str(tmp_path / "log")})
    yield tmp_path / "log"
    start_logs({})


def rows(log: Path, logger: str = "") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [row for row in found if row["logger"].startswith(logger)]


def accesses(log: Path) -> list[dict[str, Any]]:
    return [row for row in rows(log) if row.get("event") == "request"]


def asked(client: httpx2.Client, question: str = WARRANTY, **headers: str) -> httpx2.Response:
    sent = {"query": question, "namespace": "alpha"}
    return client.post(
        "/api/rag/query", json=sent, headers={name.replace("_", "-"): one for name, one in headers.items()}
    )


def test_given_a_caller_s_ids_when_asked_then_they_are_in_the_reply_and_in_every_line_of_the_log(server, log):
    with server.client("alpha") as client:
        answer = asked(client, traceparent=PARENT, X_Request_ID=ID)
        refused = client.get("/api/jobs/0123456789abcdef", headers={"traceparent": PARENT, "X-Request-ID": ID})

    for reply in (answer, refused):
        assert reply.headers["x-request-id"] == ID
        version, trace, span, flags = reply.headers["traceparent"].split("-")
        assert (version, trace, flags) == ("00", TRACE, "01")
        assert span not in (SPAN, "0" * 16)
    assert (refused.json()["request_id"], refused.json()["trace_id"]) == (ID, TRACE)
    assert {row["logger"] for row in rows(log)} >= {"rag_core.decision", "rag_core.entrypoints.http.observed"}
    assert {(row["request_id"], row["trace_id"]) for row in rows(log, "rag_core")} == {(ID, TRACE)}


@pytest.mark.parametrize(
    ("traceparent", "id"),
    [
        ("", ""),
        (PARENT.upper(), "two words"),
        (f"{PARENT}-more", "a" * 129),
        (PARENT.replace(TRACE, "0" * 32), "-begins"),
        (PARENT.replace(SPAN, "0" * 16), "a\tb"),
        (PARENT.replace("00-", "ff-", 1), "naïve"),
        (PARENT[:-1], '"}'),
    ],
)
def test_given_ids_that_are_not_well_formed_when_received_then_others_are_made(traceparent: str, id: str) -> None:
    one, other = (received([traceparent], [id]) for _ in range(2))

    for made in (one, other):
        assert re.fullmatch("[0-9a-f]{32}", made.id)
        assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", made.traceparent)
        assert (made.parent_id, TRACE in made.traceparent) == ("", False)
    assert (one.id, one.trace_id, one.span_id) != (other.id, other.trace_id, other.span_id)


def test_given_a_header_twice_a_later_version_or_a_trace_that_is_not_kept_when_received_then_the_standard_holds():
    assert received([PARENT, PARENT], [ID, ID]).parent_id == ""
    assert received([PARENT.replace("00-", "01-", 1) + "-more"], []).trace_id == TRACE
    assert received([PARENT[:-2] + "00"], []).traceparent.endswith("-00")


def test_given_requests_when_served_then_each_leaves_one_line_with_caller_collection_decision_and_duration(server, log):
    """Also those that nobody knows, that are nowhere, that stream, that chat, and that come over MCP."""

    async def over_mcp() -> None:
        headers = {"authorization": f"Bearer {server.tokens['alpha']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with Client(streamable_http_client(f"{server.address}/mcp", http_client=http)) as client:
                await client.call_tool("ask", {"question": WARRANTY, "collection": "alpha"})

    with server.client("alpha") as client, server.client() as nobody:
        decision = asked(client).json()["id"]
        client.get(f"/api/collections/alpha/decisions/{decision}")
        client.get("/api/collections/beta/documents")
        client.post(
            "/v1/chat/completions", json={"model": "alpha", "messages": [{"role": "user", "content": WARRANTY}]}
        )
        with client.stream("POST", "/api/rag/query/events", json={"query": WARRANTY, "namespace": "alpha"}) as events:
            assert "event: decision" in events.read().decode()
        asked(nobody)
        client.get("/api/no/such/page")
        client.request("BREW", "/api/collections")
    asyncio.run(over_mcp())

    holder = next(one for one in server.service.tokens.all() if one.name == "alpha")
    token, found = f"token:{holder.id}", accesses(log)
    said = [tuple(row[name] for name in ("method", "route", "status", "caller", "collection")) for row in found]
    single = "/api/collections/{name}/decisions/{id}"
    assert said[:8] == [
        ("POST", "/api/rag/query", 200, token, "alpha"),
        ("GET", single, 200, token, "alpha"),
        ("GET", "/api/collections/{name}/documents", 404, token, ""),
        ("POST", "/v1/chat/completions", 200, token, "alpha"),
        ("POST", "/api/rag/query/events", 200, token, "alpha"),
        ("POST", "/api/rag/query", 401, "", ""),
        ("GET", "other", 404, token, ""),
        ("other", "/api/collections", 405, token, ""),
    ]
    assert [row["decision"] for row in found[:2]] == [decision, decision]
    assert all(int(row["decision"]) > int(decision) for row in found[3:5])
    tools = [row for row in found[8:] if row["decision"]]
    assert [(row["method"], row["route"], row["collection"]) for row in tools] == [("POST", "/mcp", "alpha")]
    assert all(row["duration_ms"] > 0 for row in found)
    assert len({row["request_id"] for row in found}) == len(found)
    assert not [line for line in rows(log) if "warranty" in json.dumps(line).lower()]
    text = log.read_text(encoding="utf-8")
    assert not [token for token in server.tokens.values() if token in text]


def test_given_work_that_a_request_began_when_it_goes_on_after_it_then_its_lines_have_the_ids_of_the_request(log):
    def work(_: object) -> None:
        raise ZeroDivisionError

    before = REQUEST.set(received([PARENT], [ID]))
    begun = Background[None]("indexing").start(work)
    REQUEST.reset(before)
    other = Background[None]("of nobody").start(work)

    assert begun.wait(10)
    assert other.wait(10)
    said = {row["message"]: row.get("request_id") for row in rows(log)}
    assert said == {"indexing failed": ID, "of nobody failed": None}


def test_given_requests_when_metrics_are_read_then_each_route_has_its_count_and_time(server, monkeypatch):
    token = server.service.tokens.create("prometheus", ["watch"], ["alpha"])[1]
    lane = server.service.questions.places
    before = read(server, token)
    with server.client("alpha") as client:
        for _ in range(2):
            asked(client).raise_for_status()
        monkeypatch.setattr(lane, "each", 0)
        assert asked(client).status_code == 429
        monkeypatch.undo()
        monkeypatch.setattr(lane, "most", 0)
        assert asked(client).status_code == 503
        monkeypatch.undo()
        for number in range(3):
            client.get(f"/api/collections/alpha/decisions/{10_000 + number}")
            client.get(f"/nowhere/{number}")
    after = read(server, token)

    def grown(*key: str) -> float:
        return after.get(key, 0.0) - before.get(key, 0.0)

    assert [grown(*QUESTIONS, status) for status in ("200", "429", "503")] == [2, 1, 1]
    assert grown("plumbline_http_requests_total", "GET", "/api/collections/{name}/decisions/{id}", "404") == 3
    assert grown("plumbline_http_requests_total", "GET", "other", "404") == 3
    assert grown("plumbline_http_request_duration_seconds_count", *QUESTIONS[1:]) == 4
    took = grown("plumbline_http_request_duration_seconds_sum", *QUESTIONS[1:])
    groups = "plumbline_http_request_duration_seconds_bucket"
    within = [key for key in after if key[0] == groups and set(QUESTIONS[1:]) <= set(key)]
    assert 0 < took < 60
    assert len(within) == 13


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Collector, ModelServer]]:
    """A service that tells a collector of its spans, and whose language model thinks for half a second."""
    pytest.importorskip("opentelemetry.sdk")
    with Collector() as collector, ModelServer(Slow(honest, 0.5)) as model:
        for name, value in {
            "RAG_TRACES": collector.address,
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "any",
            "RAG_MODEL": "scripted",
        }.items():
            monkeypatch.setenv(name, value)
        engines.traces.cache_clear()
        try:
            with running(tmp_path / "library") as server:
                yield server, collector, model
        finally:
            engines.traces.cache_clear()


def test_given_a_collector_when_a_model_is_asked_then_caller_question_and_model_are_one_trace(traced):
    server, collector, model = traced
    with server.client() as client:
        with SAMPLE.open("rb") as file:
            client.post("/api/rag/index", files={"files": file}).raise_for_status()
        body = {"query": "How do I request vacation?", "settings": {"drafter": "model"}}
        answer = client.post("/api/rag/query", json=body, headers={"traceparent": PARENT, "X-Request-ID": ID}).json()
        unsampled = {"traceparent": PARENT[:-2] + "00"}
        client.post("/api/rag/query", json={"query": WARRANTY}, headers=unsampled).raise_for_status()
    engines.traces().provider.shutdown()  # type: ignore[union-attr]

    told = [span for span in collector.spans if span.trace_id.hex() == TRACE]
    spans = {span.name: span for span in told}
    request, question, drafting = spans["POST /api/rag/query"], spans["question"], spans["draft"]
    assert request.parent_span_id.hex() == SPAN
    assert question.parent_span_id == request.span_id
    assert drafting.parent_span_id == question.span_id
    assert [asked.headers["traceparent"] for asked in model.asked] == [f"00-{TRACE}-{request.span_id.hex()}-01"]
    values = {each.key: each.value.string_value or each.value.int_value for each in request.attributes}
    assert values["http.route"] == "/api/rag/query"
    assert values["http.response.status_code"] == 200
    assert (values["request.collection"], values["request.decision"]) == ("default", answer["id"])

    def seconds(span: Any) -> float:
        return float(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9

    assert answer["metadata"]["drafter"] == "model"
    assert 0.5 <= seconds(drafting) <= seconds(question) <= seconds(request) + 0.1
    stages = [span for span in told if span.parent_span_id == question.span_id and span.name != "draft"]
    assert seconds(question) == pytest.approx(sum(map(seconds, stages)), abs=0.01), "the model's time is in it once"
    assert len([span for span in collector.spans if span.name == "question"]) == 1, "a caller may leave a trace out"


def expressions() -> list[str]:
    """What the dashboard and the alerts ask Prometheus."""
    board = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [one["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    return asked + [rule["expr"] for group in rules["groups"] for rule in group["rules"]]


def test_given_the_dashboard_and_the_alerts_then_the_service_has_each_figure_label_and_route(server: Server) -> None:
    with server.client("admin") as client:
        decision = asked(client).json()["id"]
        client.put(f"/api/collections/alpha/decisions/{decision}/pin").raise_for_status()
        said = {"kind": "helpful"}
        client.post(f"/api/collections/alpha/decisions/{decision}/feedback", json=said).raise_for_status()
        exposed = client.get("/metrics").raise_for_status().text
        client.delete(f"/api/collections/alpha/decisions/{decision}/pin").raise_for_status()
    labels: dict[str, set[str]] = {"up": {"job"}}  # Prometheus' own
    for family in text_string_to_metric_families(exposed):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)

    known = {*labels, *(label for found in labels.values() for label in found)}
    for asked_for in expressions():
        words = re.sub(r'"[^"]*"', "", asked_for)
        for name, within in re.findall(r"\b(up|(?:plumbline|process)_\w+)(?:\{(.*?)\})?", words):
            assert name in labels, asked_for
            assert set(re.findall(r"(\w+)\s*[!=]", within)) <= labels[name], asked_for
        for grouped in re.findall(r"by \(([\w, ]+)\)", words):
            assert set(re.split(r",\s*", grouped)) <= known, asked_for
        assert words.count("(") == words.count(")"), asked_for

    routes = set(server_routes(server))
    for asked_for in expressions():
        for pattern in re.findall(r'route=~"([^"]*)"', asked_for):
            for route in pattern.split("|"):
                assert route in routes, asked_for


def server_routes(server: Server) -> list[str]:
    with server.client("admin") as client:
        return list(client.get(f"{PREFIX}/openapi.json").raise_for_status().json()["paths"])


def test_given_the_files_when_read_then_they_have_the_form_that_prometheus_and_grafana_read() -> None:
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    assert {name for group in rules["groups"] for name in group} == {"name", "rules"}
    assert len({rule["alert"] for rule in alerts}) == len(alerts) >= 10
    for rule in alerts:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}, rule
        assert re.fullmatch(r"\d+[mh]", rule.get("for", "1m")), rule
        assert rule["labels"]["severity"] in ("critical", "warning", "info"), rule
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= set(
            re.findall(r"\w+", rule["expr"])
        ) | {"queue"}, rule
    board = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) >= 10
    variables = {one["name"] for one in board["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(board))) - {"__rate_interval", "__all"}
    assert used == variables
    places = [tuple(panel["gridPos"][side] for side in "xy") for panel in board["panels"]]
    assert len(set(places)) == len(places)
