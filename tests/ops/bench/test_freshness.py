"""What a probe times: from the acknowledgement of a receipt to the answer that holds it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from infra.settings import HOST, Settings
from ops.bench.freshness import Sample, compute_percentile_ms, measure_freshness

DELAY_SECONDS = 0.2


class Api(BaseHTTPRequestHandler):
    """It takes any receipt, holds it in the stock a moment later, and never has alerts."""

    posted: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        if "min_offset" in self.path:
            threading.Event().wait(DELAY_SECONDS)
        status = 503 if "alert" in self.path else 200
        self.answer(status, {"world_time": "2026-03-02T08:00:00.000Z"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.posted.append(json.loads(body)["event_id"])
        self.answer(201, {"min_offset": "0:7"})

    def answer(self, status: int, document: object) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    server = ThreadingHTTPServer((HOST, 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Settings(data_dir=tmp_path, port_base=server.server_port)
    server.shutdown()
    server.server_close()


def test_each_receipt_is_timed_in_each_pipeline_until_an_answer_holds_it(
    settings: Settings,
) -> None:
    found = measure_freshness(settings, ["inventory", "fraud"], seconds=1.0)
    assert Api.posted == ["probe-0", "probe-1"]
    assert [sample.good for sample in found["inventory"]] == [True, True]
    assert [sample.good for sample in found["fraud"]] == [False, False]
    assert min(sample.seconds for sample in found["inventory"]) >= DELAY_SECONDS


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 5), (51, 6), (99, 10), (100, 10)])
def test_a_percentile_is_a_sample_that_was_there(percent: float, expected: float) -> None:
    samples = [Sample(seconds, good=True) for seconds in range(10, 0, -1)]
    assert compute_percentile_ms(samples, percent) == 1000 * expected
