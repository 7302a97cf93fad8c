"""Spans reach a collector, which may also be away."""

import subprocess
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from time import monotonic

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from infra.settings import Settings, locate_root
from services.api.store.otel import SEND_SECONDS_MAX
from services.api.store.traces import create_traces


class Collector(BaseHTTPRequestHandler):
    """Keeps the names of the spans that it is sent."""

    names: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        sent = ExportTraceServiceRequest.FromString(body)
        if self.path == "/v1/traces":
            self.names += [
                span.name
                for resource in sent.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_spans_reach_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    monkeypatch.setattr(Collector, "names", names, raising=False)
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        endpoint = f"http://127.0.0.1:{server.server_port}"
        sent = create_traces(Settings(otel_exporter_otlp_endpoint=endpoint))
        sent.publish("sales", {}).store(0, 1)
        sent.stop()
        server.shutdown()
        thread.join()
    assert names == ["publish sales"]


def test_a_collector_that_is_away_does_not_hold_up_the_end() -> None:
    sent = create_traces(Settings(otel_exporter_otlp_endpoint="http://127.0.0.1:1"))
    sent.publish("sales", {}).store(0, 1)
    began = monotonic()
    sent.stop()
    assert monotonic() - began < SEND_SECONDS_MAX + 2


def test_without_a_collector_nothing_is_imported() -> None:
    code = (
        "import sys; from infra.settings import Settings; import services.api.app;"
        "from services.api.store.traces import create_traces; create_traces(Settings());"
        "print([name for name in sys.modules if name.startswith('opentelemetry.')"
        " and name.split('.')[1] in ('sdk', 'exporter', 'proto')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=locate_root(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
