"""Ready is what the component itself shows since its start, not that its process runs."""

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from infra.settings import HOST, Settings
from infra.supervisor.manager import Process
from ops.cli import fleet, health, ready
from ops.cli.ready import find_readiness
from ops.control.world_clock import AnnouncedClock, ClockState, WorldClock
from ops.generations.marker import Marker
from ops.generations.record import Generations, State
from services import liveness
from tests.pipelines.generations import create_generations

STARTED = 1_000
BEFORE_MS, AFTER_MS = (STARTED - 1) * 1000, (STARTED + 1) * 1000
RECEIPTS_READ = {("receipts", 0): 6}


def test_a_health_check_asks_as_the_operator(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A service may not read all that says whether it is ready."""
    own = Settings(kafka_service="simulator")
    monkeypatch.setattr(health, "read_settings", lambda: own)
    monkeypatch.setattr(sys, "argv", ["health", "simulator"])
    health.tell(lambda settings, component, _: f"{component} by {settings.kafka_service}")
    assert capsys.readouterr().out == "simulator by operator\n"


GENERATIONS = {"inventory": create_generations(State.RETIRED, State.PROMOTED)}
"""What the control topic says of the pipelines: of inventory, that generation 2 is promoted."""


def create_marker(wall_ms: int, generation: int = 2, pipeline: str = "inventory") -> Marker:
    return Marker(pipeline, generation, 0, RECEIPTS_READ, {}, wall_ms)


Ask = Callable[..., str | None]


@pytest.fixture
def ask(current: Settings, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """How ready the pipelines are, by what the control topic and the markers say."""
    monkeypatch.setattr(ready, "create_admin", lambda _: None)
    monkeypatch.setattr(ready, "read_end_offsets", lambda *_: {("receipts", 0): 10})

    def of(pipelines: str, generations: dict[str, Generations], *markers: Marker) -> str | None:
        written = {(marker.pipeline, marker.generation): marker for marker in markers}
        monkeypatch.setattr(ready, "read_generations", lambda *_: generations)
        monkeypatch.setattr(ready, "read_markers", lambda *_: written)
        settings = current.model_copy(update={"pipelines": pipelines})
        return find_readiness(settings, "pipelines", STARTED)

    return of


def test_a_simulator_is_ready_when_its_clock_runs_since_this_start(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wall_ms, state, expected in (
        (AFTER_MS, ClockState.RUNNING, "12 stores, 800 products, seed 1, 10 × real time"),
        (BEFORE_MS, ClockState.RUNNING, None),
        (AFTER_MS, ClockState.STOPPED, None),
    ):
        clock = AnnouncedClock(WorldClock(0, wall_ms, 10_000), state, 1)
        monkeypatch.setattr(ready, "read_clock", lambda *_, clock=clock: clock)
        assert find_readiness(current, "simulator", STARTED) == expected


def test_pipelines_are_ready_when_the_promoted_have_written_since_this_start(ask: Ask) -> None:
    markers = create_marker(BEFORE_MS, generation=1), create_marker(AFTER_MS)
    assert ask("inventory", GENERATIONS, *markers) == "inventory g2, 4 records behind"
    assert ask("inventory", GENERATIONS, create_marker(BEFORE_MS)) is None
    assert ask("inventory", GENERATIONS, create_marker(AFTER_MS, generation=1)) is None
    assert ask("inventory", GENERATIONS, create_marker(AFTER_MS, pipeline="fraud")) is None


def test_a_pipeline_that_has_nothing_to_read_is_ready(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A world that stands still has no more records, so no more markers."""
    monkeypatch.setattr(ready, "read_end_offsets", lambda *_: RECEIPTS_READ)
    assert (
        ask("inventory", GENERATIONS, create_marker(BEFORE_MS)) == "inventory g2, 0 records behind"
    )


def test_pipelines_without_a_marker_since_this_start_still_start(
    ask: Ask, current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "read_generations", lambda *_: GENERATIONS)
    monkeypatch.setattr(ready, "create_admin", lambda _: None)
    monkeypatch.setattr(ready, "read_end_offsets", lambda *_: {("receipts", 0): 10})
    read = {("inventory", 2): create_marker(AFTER_MS)}
    monkeypatch.setattr(ready, "read_markers", lambda *_: read)
    process = Process("pipelines", "RUNNING", pid=7, started_at=STARTED, up_seconds=1, reason="")
    settings = current.model_copy(update={"pipelines": "inventory,fraud,visits"})
    assert fleet.list_starting_pipelines(settings, process) == "fraud · visits"
    read["inventory", 2] = create_marker(BEFORE_MS)
    assert fleet.list_starting_pipelines(settings, process) == "inventory · fraud · visits"
    assert fleet.list_starting_pipelines(settings, replace(process, name="api")) == ""


def test_a_pipeline_without_a_promoted_generation_is_not_waited_for(ask: Ask) -> None:
    written, generations = create_marker(AFTER_MS), dict(GENERATIONS)
    assert ask("inventory,fraud", generations, written) is None  # nothing is known of fraud yet
    generations["visits"] = create_generations(State.INVALID)
    assert ask("inventory,fraud", generations, written) is None  # nor when another is withdrawn
    generations["fraud"] = create_generations(State.INVALID)
    assert ask("inventory,fraud", generations, written) == "inventory g2, 4 records behind"


@pytest.mark.parametrize("service", ["ordering", "markdowns", "supplier"])
def test_a_service_is_ready_when_it_has_given_a_sign_since_this_start(
    service: str, current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {service: STARTED * 1000 - 1}
    monkeypatch.setattr(liveness, "read_start_ms", lambda _, name: given[name])
    assert find_readiness(current, service, STARTED) is None
    given[service] += 1
    assert find_readiness(current, service, STARTED)


class Api(BaseHTTPRequestHandler):
    """An API that says whether it is ready."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def served(current: Settings) -> Iterator[Settings]:
    with ThreadingHTTPServer((HOST, 0), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield current.model_copy(update={"port_base": server.server_port})
        server.shutdown()


def test_an_api_is_ready_when_it_says_so(served: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_readiness(served, "api", STARTED)
    monkeypatch.setattr(Api, "status", 503)
    assert find_readiness(served, "api", STARTED) is None
