"""What open pages cost: the browsers are there, and figures stand beside those without them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest

from infra.errors import UserError
from infra.settings import HOST
from infra.wait import wait_for
from ops.bench import pages
from ops.bench.arrivals import Sample
from ops.bench.browsers import MISSING, find_chromium, open_browsers
from ops.bench.pages import Load, compare, refuse_silence

SECONDS_MAX = 30


def load(api: float = 0.05, spark: float = 0.4, requests: float = 0.0, ms: float = 2.0) -> Load:
    reads = [Sample(ms / 1000, good=True)] * 100
    return Load(api, spark, 0.0, requests, reads)


def test_a_shop_with_browsers_stands_beside_the_mean_of_before_and_after() -> None:
    before, after = load(api=0.04, spark=0.50), load(api=0.06, spark=0.30)
    beside = load(api=0.10, spark=0.42, requests=4, ms=3)
    p50, p99, api, spark, more, _ = compare(before, beside, after)
    assert [round(each.percent) for each in (p50, p99, api, spark)] == [150, 150, 200, 105]
    assert more.measured == pytest.approx(0.07)
    assert more.aim is not None
    assert more.aim.is_met(more.measured)


def test_browsers_that_show_nothing_give_no_figure() -> None:
    with pytest.raises(AssertionError, match=r"0\.30 requests a second"):
        refuse_silence(load(requests=0.3))
    refuse_silence(load(requests=1.0))


def test_every_request_that_the_api_has_answered_counts() -> None:
    registry = CollectorRegistry()
    counter = Counter("retail_http_requests", "", ("operation", "status"), registry=registry)
    counter.labels("list_shelves", "200").inc(1_234_567)
    counter.labels("get_shelf", "404").inc()
    counts = pages.ANSWERED.findall(generate_latest(registry).decode())
    assert sum(map(float, counts)) == 1_234_568


@contextmanager
def listening(asked: threading.Event) -> Iterator[str]:
    """The address of a site that says when its page is asked for."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            asked.set()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer((HOST, 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{HOST}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.skipif(find_chromium() is None, reason=MISSING)
def test_a_browser_shows_the_page_and_nothing_of_it_is_left() -> None:
    asked = threading.Event()
    with listening(asked) as address, open_browsers([address]) as [browser]:
        assert asked.wait(SECONDS_MAX)
        started = [browser, *browser.children(recursive=True)]
        assert len(started) > 1
    assert wait_for(lambda: not any(map(is_alive, started)), SECONDS_MAX)


def is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_without_chromium_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="apt-get install chromium"), open_browsers(["http://x/"]):
        pass
