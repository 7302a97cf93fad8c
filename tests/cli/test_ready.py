"""Ready is what the component itself shows since its start, not that its process runs."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cli import ready
from cli.ready import readiness
from contracts import GENERATIONS
from infra.settings import HOST, Settings
from services import liveness

STARTED = 1_000
PROMOTED = [{"pipeline": "inventory", "promoted": 2}]
BEFORE = datetime.fromtimestamp(STARTED - 1, UTC)
AFTER = datetime.fromtimestamp(STARTED + 1, UTC)


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What stands in the control topic that is asked."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(
        ready, "latest", lambda _, asked: PROMOTED if asked is GENERATIONS else found
    )
    monkeypatch.setattr(ready, "records_behind", lambda *_: 4)
    return found


def clock(at: datetime, state: str = "running") -> dict[str, Any]:
    return {"wall_at": at, "state": state, "seed": 1, "speed_milli": 10_000}


def marker(at: datetime, generation: int = 1, pipeline: str = "inventory") -> dict[str, Any]:
    return {"pipeline": pipeline, "generation": generation, "written_at": at}


@pytest.fixture
def one_pipeline(current: Settings) -> Settings:
    return current.model_copy(update={"pipelines": "inventory"})


def test_a_simulator_is_ready_when_its_clock_runs_since_this_start(
    current: Settings, records: list[dict[str, Any]]
) -> None:
    records.append(clock(AFTER))
    said = readiness(current, "simulator", STARTED)
    assert said == "12 stores, 800 products, seed 1, 10 × real time"


@pytest.mark.parametrize("found", [clock(BEFORE), clock(AFTER, "stopped")])
def test_an_old_or_stopped_clock_is_not_enough(
    current: Settings, records: list[dict[str, Any]], found: dict[str, Any]
) -> None:
    records.append(found)
    assert readiness(current, "simulator", STARTED) is None


def test_pipelines_are_ready_when_they_have_written_markers_since_this_start(
    one_pipeline: Settings, records: list[dict[str, Any]]
) -> None:
    records += [marker(BEFORE, generation=1), marker(AFTER, generation=2)]
    assert readiness(one_pipeline, "pipelines", STARTED) == "inventory g2, 4 records behind"


@pytest.mark.parametrize("service", ["ordering", "supplier"])
def test_a_service_is_ready_when_it_has_given_a_sign_since_this_start(
    service: str, current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {service: STARTED * 1000 - 1}
    monkeypatch.setattr(liveness, "read_start_ms", lambda _, name: given[name])
    assert readiness(current, service, STARTED) is None
    given[service] += 1
    assert readiness(current, service, STARTED)


def test_a_pipeline_without_a_promoted_generation_is_not_waited_for(
    one_pipeline: Settings, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = one_pipeline.model_copy(update={"pipelines": "inventory,fraud"})
    records.append(marker(AFTER, generation=2))
    assert readiness(both, "pipelines", STARTED) is None  # nothing is known of fraud yet
    other = {"pipeline": "visits", "promoted": None}
    monkeypatch.setattr(
        ready, "latest", lambda _, asked: [*PROMOTED, other] if asked is GENERATIONS else records
    )
    assert readiness(both, "pipelines", STARTED) is None  # nor when another is withdrawn
    invalid = {"pipeline": "fraud", "promoted": None}
    monkeypatch.setattr(
        ready, "latest", lambda _, asked: [*PROMOTED, invalid] if asked is GENERATIONS else records
    )
    assert readiness(both, "pipelines", STARTED) == "inventory g2, 4 records behind"


@pytest.mark.parametrize(
    "found",
    [marker(BEFORE, generation=2), marker(AFTER), marker(AFTER, generation=2, pipeline="fraud")],
)
def test_an_old_or_other_marker_is_not_enough(
    one_pipeline: Settings, records: list[dict[str, Any]], found: dict[str, Any]
) -> None:
    records.append(found)
    assert readiness(one_pipeline, "pipelines", STARTED) is None


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
    assert (readiness(served, "api", STARTED) is not None) == is_ready
