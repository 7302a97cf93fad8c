"""Ready is what the component itself shows since its start, not that its process runs."""

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from infra.settings import HOST, Settings
from ops.cli import health, ready
from ops.cli.ready import find_readiness
from ops.control.world_clock import AnnouncedClock, ClockState, WorldClock
from ops.generations.marker import Marker
from ops.generations.record import Generation, Generations, State
from services import liveness
from tests.pipelines.generations import AT

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


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Generations]:
    """What the control topic says of the pipelines: of inventory, that generation 2 is promoted."""
    by_pipeline = {"inventory": create_generations("inventory", State.RETIRED, State.PROMOTED)}
    monkeypatch.setattr(ready, "read_generations", lambda *_: by_pipeline)
    return by_pipeline


@pytest.fixture
def markers(
    known: dict[str, Generations], monkeypatch: pytest.MonkeyPatch
) -> dict[tuple[str, int], Marker]:
    """What stands in the marker topic."""
    by_generation: dict[tuple[str, int], Marker] = {}
    monkeypatch.setattr(ready, "read_markers", lambda *_: by_generation)
    monkeypatch.setattr(ready, "create_admin", lambda _: None)
    monkeypatch.setattr(ready, "read_end_offsets", lambda *_: {("receipts", 0): 10})
    return by_generation


def announce(
    monkeypatch: pytest.MonkeyPatch, wall_ms: int, state: ClockState = ClockState.RUNNING
) -> None:
    clock = AnnouncedClock(WorldClock(0, wall_ms, 10_000), state, 1)
    monkeypatch.setattr(ready, "read_clock", lambda *_: clock)


def create_generations(pipeline: str, *states: State) -> Generations:
    numbered = enumerate(states, start=1)
    return Generations(pipeline, tuple(Generation(pipeline, n, s, "", AT, {}) for n, s in numbered))


def create_marker(wall_ms: int, generation: int = 1, pipeline: str = "inventory") -> Marker:
    return Marker(pipeline, generation, 0, RECEIPTS_READ, {}, wall_ms)


def put(markers: dict[tuple[str, int], Marker], *added: Marker) -> None:
    markers.update({(one.pipeline, one.generation): one for one in added})


@pytest.fixture
def one_pipeline(current: Settings) -> Settings:
    return current.model_copy(update={"pipelines": "inventory"})


def test_a_simulator_is_ready_when_its_clock_runs_since_this_start(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(monkeypatch, AFTER_MS)
    ready = find_readiness(current, "simulator", STARTED)
    assert ready == "12 stores, 800 products, seed 1, 10 × real time"


@pytest.mark.parametrize(
    ("wall_ms", "state"), [(BEFORE_MS, ClockState.RUNNING), (AFTER_MS, ClockState.STOPPED)]
)
def test_an_old_or_stopped_clock_is_not_enough(
    current: Settings, monkeypatch: pytest.MonkeyPatch, wall_ms: int, state: ClockState
) -> None:
    announce(monkeypatch, wall_ms, state)
    assert find_readiness(current, "simulator", STARTED) is None


def test_pipelines_are_ready_when_they_have_written_markers_since_this_start(
    one_pipeline: Settings, markers: dict[tuple[str, int], Marker]
) -> None:
    put(markers, create_marker(BEFORE_MS, generation=1), create_marker(AFTER_MS, generation=2))
    assert find_readiness(one_pipeline, "pipelines", STARTED) == "inventory g2, 4 records behind"


@pytest.mark.parametrize("service", ["ordering", "supplier"])
def test_a_service_is_ready_when_it_has_given_a_sign_since_this_start(
    service: str, current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {service: STARTED * 1000 - 1}
    monkeypatch.setattr(liveness, "read_start_ms", lambda _, name: given[name])
    assert find_readiness(current, service, STARTED) is None
    given[service] += 1
    assert find_readiness(current, service, STARTED)


def test_a_pipeline_without_a_promoted_generation_is_not_waited_for(
    one_pipeline: Settings,
    known: dict[str, Generations],
    markers: dict[tuple[str, int], Marker],
) -> None:
    both = one_pipeline.model_copy(update={"pipelines": "inventory,fraud"})
    put(markers, create_marker(AFTER_MS, generation=2))
    assert find_readiness(both, "pipelines", STARTED) is None  # nothing is known of fraud yet
    known["visits"] = create_generations("visits", State.INVALID)
    assert find_readiness(both, "pipelines", STARTED) is None  # nor when another is withdrawn
    known["fraud"] = create_generations("fraud", State.INVALID)
    assert find_readiness(both, "pipelines", STARTED) == "inventory g2, 4 records behind"


@pytest.mark.parametrize(
    "marker",
    [
        create_marker(BEFORE_MS, generation=2),
        create_marker(AFTER_MS),
        create_marker(AFTER_MS, generation=2, pipeline="fraud"),
    ],
)
def test_an_old_or_other_marker_is_not_enough(
    one_pipeline: Settings, markers: dict[tuple[str, int], Marker], marker: Marker
) -> None:
    put(markers, marker)
    assert find_readiness(one_pipeline, "pipelines", STARTED) is None


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


@pytest.mark.parametrize(("status", "is_ready"), [(200, True), (503, False)])
def test_an_api_is_ready_when_it_says_so(
    served: Settings, monkeypatch: pytest.MonkeyPatch, status: int, is_ready: bool
) -> None:
    monkeypatch.setattr(Api, "status", status)
    assert (find_readiness(served, "api", STARTED) is not None) == is_ready
