"""Sends each request of the API, and what was measured of each question, to a collector of OpenTelemetry; the spans of
questions have OpenInference's kinds.

Off unless asked for.

Spans hold numbers, names of ours, ids and scores. Text of questions, answers and passages goes along only where the
operator says so. A question is decided first and told then: a collector that is away costs nothing but its spans.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rag_core.adapters.optional import require
from rag_core.domain.decision import Decision
from rag_core.domain.llm_trace import Call
from rag_core.domain.measurements import Measurements
from rag_core.errors import InvalidSetting
from rag_core.settings.request_context import REQUEST, RequestContext

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span

ADDRESS, TEXT = "RAG_TRACES", "RAG_TRACES_TEXT"
KIND = "openinference.span.kind"
NS = 1_000_000  # nanoseconds in a millisecond
# stages of measuring, and OpenInference's word for what they do
KINDS = {
    "embed": "EMBEDDING",
    "retrieve": "RETRIEVER",
    "read": "RERANKER",
    "relevance": "EVALUATOR",
    "audit": "EVALUATOR",
}
MODEL = "model"  # the stage in which language models are waited for
HTTP = {"method": "http.request.method", "route": "http.route", "status": "http.response.status_code"}
MAX_TEXT_CHARS = 4_000  # in one attribute
_log = logging.getLogger(__name__)


class Traces:
    """Tells a span processor of each question; with its texts where `text` says so. Safe to share between threads."""

    def __init__(self, processor: SpanProcessor, *, text: bool = False) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        self.provider = TracerProvider(resource=Resource.create({"service.name": "plumbline"}))
        self.provider.add_span_processor(processor)
        self._tracer, self._text = self.provider.get_tracer("rag_core"), text

    def begin(self, request: RequestContext) -> Span:
        """Begin the span of a request, until `end`; the request gets its ids."""
        from opentelemetry.trace import SpanKind

        parent = _within(request, request.parent_id, remote=True) if request.parent_id else None
        span = self._tracer.start_span("request", context=parent, kind=SpanKind.SERVER)
        ids = span.get_span_context()
        request.trace_id, request.span_id = f"{ids.trace_id:032x}", f"{ids.span_id:016x}"
        return span

    def end(self, span: Span, about: Mapping[str, str | int | float]) -> None:
        """End the span of a request with what its line in the access log says, by OpenTelemetry's names."""
        span.update_name(f"{about['method']} {about['route']}")
        span.set_attributes({HTTP.get(name, f"request.{name}"): value for name, value in about.items()})
        span.end()

    def watch(self, measurements: Measurements, decision: Decision) -> None:
        """Tell of a question that was decided. Never raises: what watches may not change what is watched."""
        try:
            self._tell(measurements, decision)
        except Exception:
            _log.warning("a question could not be traced", exc_info=True)

    def _tell(self, measurements: Measurements, decision: Decision) -> None:
        from opentelemetry.trace import set_span_in_context

        calls = measurements.llm_trace.calls if measurements.llm_trace else ()
        at = time.time_ns() - round(sum(measurements.timings.values()) * NS)
        request = REQUEST.get()
        parent = _within(request, request.span_id) if request else None
        about = self._about(measurements, decision)
        root = self._tracer.start_span("question", context=parent, start_time=at, attributes=about)
        within = set_span_in_context(root)
        for stage, ms in measurements.timings.items():
            attributes = {
                KIND: KINDS.get(stage, "CHAIN"),
                **(self._retrieved(measurements) if stage == "retrieve" else {}),
            }
            began, at = at, self._span(stage, at, ms, attributes, within)
            if stage == MODEL:  # within its time, which is counted once
                for call in calls:
                    began = self._span(str(call.step), began, call.ms, _of_call(call), within)
        for check in decision.trace.checks:
            judged = {"check.value": check.value, "check.threshold": check.threshold}
            attributes = {
                KIND: "GUARDRAIL",
                "check.state": str(check.state),
                "check.mode": str(check.mode),
                **{name: value for name, value in judged.items() if value is not None},
            }
            self._span(check.stage, at, 0.0, attributes, within)
        root.end(at)

    def _span(self, name: str, at: int, ms: float, attributes: Mapping[str, Any], within: Any) -> int:
        end = at + round(ms * NS)
        self._tracer.start_span(name, context=within, start_time=at, attributes=dict(attributes)).end(end)
        return end

    def _about(self, measurements: Measurements, decision: Decision) -> dict[str, Any]:
        found: dict[str, Any] = {
            KIND: "CHAIN",
            "decision.status": str(decision.status),
            "decision.reason": str(decision.reason),
            "decision.preset": measurements.settings.preset,
            "decision.language": decision.language,
            **{f"decision.{name}": value for name, value in decision.scores.items() if isinstance(value, float)},
        }
        if self._text:
            found |= {
                "input.value": measurements.question[:MAX_TEXT_CHARS],
                "output.value": decision.answer[:MAX_TEXT_CHARS],
            }
        return found

    def _retrieved(self, measurements: Measurements) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, hit in enumerate(measurements.hits):
            at = f"retrieval.documents.{number}.document"
            found |= {f"{at}.id": f"{hit.passage.document}/{hit.passage.id}", f"{at}.score": float(hit.cosine)}
            if self._text:
                found[f"{at}.content"] = hit.passage.text[:MAX_TEXT_CHARS]
        return found


def traces(environment: Mapping[str, str]) -> Traces | None:
    """The traces that the environment asks for: RAG_TRACES is the collector's address; None without it.

    RAG_TRACES_TEXT=true has texts go along. OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_HEADERS, hold as
    well.

    Raises:
        InvalidSetting: it is no address.
        MissingDependency: the packages are not installed.
    """
    address = environment.get(ADDRESS, "").strip()
    if not address:
        return None
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidSetting(
            f"{ADDRESS} is not the address of a collector.", remedy="Write it like http://127.0.0.1:4318/v1/traces."
        )
    require("traces", "Sending traces")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    processor = BatchSpanProcessor(OTLPSpanExporter(endpoint=address))
    return Traces(processor, text=environment.get(TEXT, "").strip().lower() in ("true", "1", "on"))


def _within(request: RequestContext, span_id: str, *, remote: bool = False) -> Context:
    """The context whose spans are children of a span of this request; `remote` says that it is the caller's."""
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    ids = int(request.trace_id, 16), int(span_id, 16)
    return set_span_in_context(NonRecordingSpan(SpanContext(*ids, remote, TraceFlags(request.sampled))))


def _of_call(call: Call) -> dict[str, Any]:
    return {
        KIND: "LLM",
        "llm.model_name": call.model,
        "llm.token_count.prompt": call.tokens_in,
        "llm.token_count.completion": call.tokens_out,
        "llm.failed": bool(call.failure),
    }
