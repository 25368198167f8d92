"""A collector of OpenTelemetry for tests: a real HTTP server on this machine that keeps the spans that it gets.

with Collector() as collector:
    ...                                             # RAG_TRACES=collector.address
    assert collector.spans[0].name == "question"
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Collector(ThreadingHTTPServer):
    """`spans` are those of all requests, `sent` is the bytes of these."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.spans: list[Any] = []
        self.sent = b""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/traces"

    def __enter__(self) -> Collector:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        super().__exit__(*error)


class _Taking(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        # the package is there where traces are installed
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        body = self.rfile.read(int(self.headers["content-length"]))
        parts = ExportTraceServiceRequest.FromString(body).resource_spans
        self.server.sent += body
        self.server.spans += [span for part in parts for scope in part.scope_spans for span in scope.spans]
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...
