"""What is refused before it is published, and how it is said; and what is said without a broker."""

import json
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import httpx
import pytest

from contracts import ADJUSTMENTS, RECEIPTS, STOCK_LEVELS
from contracts.times import MILLISECOND
from services.api.http.limits import BODY_BYTES_MAX
from services.api.store.tables import to_document
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem, create_sources, serving
from tests.services.world import NOON, announce

RECEIPT = to_document(RECEIPTS.examples[0]) | {"event_time": NOON.isoformat()}
OLDEST, NEWEST = timedelta(hours=2), timedelta(minutes=-5)
"""How long before now an event may be that is still taken."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """An API that knows that it is noon."""
    log = MemoryLog()
    announce(log)
    with serving(create_sources(log, tmp_path_factory.mktemp("world"))) as api:
        api.until(lambda: post(api, {}).status_code == HTTPStatus.UNPROCESSABLE_ENTITY)
        yield api


def post(
    api: Answers, event: Any, topic: str = RECEIPTS.name, headers: Any = None
) -> httpx.Response:
    content = event if isinstance(event, bytes) else json.dumps(event)
    headers = {"Content-Type": "application/json", **(headers or {})}
    return api.request("POST", f"/v1/events/{topic}", content=content, headers=headers)


def find_places(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return {fault["place"]: fault["problem"] for fault in answer.json()["faults"]}


def test_every_broken_rule_is_named_with_its_place_beside_a_late_time_too(world: Answers) -> None:
    line = {"sku": "A", "units": 1, "unit_price_cents": 5}
    event = RECEIPT | {
        "event_id": "",
        "event_time": "yesterday",
        "store_id": "a/b",
        "colour": "red",
        "lines": [line, line | {"units": 0, "sku": "A/B"}, {"sku": "A", "units": 2.0}],
    }
    assert find_places(post(world, event)) == {
        "event_id": "event_id has a length of at least 1",
        "event_time": "Input should be a valid datetime",
        "store_id": "store_id matches ^[^/]{1,64}$",
        "colour": "Extra inputs are not permitted",
        "lines[1].units": "lines[].units is at least 1",
        "lines[1].sku": "lines[].sku matches ^[^/]{1,64}$",
        "lines[2].units": "Input should be a valid integer",
        "lines[2].unit_price_cents": "lines[].unit_price_cents is given",
    }
    late = RECEIPT | {"event_time": "2026-03-02T08:00:00Z", "event_id": ""}
    assert find_places(post(world, late)) == {
        "event_id": "event_id has a length of at least 1",
        "event_time": "late",
    }
    half = RECEIPT | {"register_id": "\ud800"}  # of a character
    assert find_places(post(world, half)) == {"event": "every text is valid Unicode"}


@pytest.mark.parametrize("event", [[], "text", 7, None])
def test_what_is_no_object_is_refused(world: Answers, event: Any) -> None:
    assert list(find_places(post(world, event))) == ["event"]


def test_what_was_found_is_told_and_of_very_many_faults_some_are_listed_and_all_counted(
    world: Answers,
) -> None:
    answer = post(world, RECEIPT | {"lines": [{"sku": "A", "units": 0, "unit_price_cents": 5}]})
    assert answer.json()["faults"] == [
        {"place": "lines[0].units", "problem": "lines[].units is at least 1", "found": "0"}
    ]
    answer = post(world, RECEIPT | {"lines": [{}] * 15_000})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert len(answer.json()["faults"]) == 1_000
    assert answer.json()["faults_total"] == 45_001


@pytest.mark.parametrize(
    ("ago", "problem"), [(OLDEST + MILLISECOND, "late"), (NEWEST - MILLISECOND, "future")]
)
def test_late_and_future_are_refused_by_the_worlds_clock(
    world: Answers, ago: timedelta, problem: str
) -> None:
    event = RECEIPT | {"event_time": (NOON - ago).isoformat(timespec="milliseconds")}
    assert find_places(post(world, event)) == {"event_time": problem}


@pytest.mark.parametrize("ago", [OLDEST, NEWEST])
def test_without_an_acknowledgement_the_outcome_is_unknown(world: Answers, ago: timedelta) -> None:
    answer = post(world, RECEIPT | {"event_time": (NOON - ago).isoformat()})
    check_problem(answer, HTTPStatus.GATEWAY_TIMEOUT, "Outcome unknown")
    assert f"same event_id, {RECEIPT['event_id']}" in answer.json()["detail"]


def test_without_a_world_clock_nothing_is_published(quiet: Answers) -> None:
    check_problem(post(quiet, RECEIPT), HTTPStatus.SERVICE_UNAVAILABLE, "No world clock", "make up")


@pytest.mark.parametrize(
    ("topic", "status"),
    [
        ("public.sales.gift.v1", HTTPStatus.NOT_FOUND),
        (STOCK_LEVELS.name, HTTPStatus.FORBIDDEN),
        ("private.control.clock.v1", HTTPStatus.FORBIDDEN),
        ("private.simulation.ledger.v1", HTTPStatus.FORBIDDEN),
        ("public.quarantine.release.v1", HTTPStatus.FORBIDDEN),
    ],
)
def test_another_topic_is_refused_and_the_known_ones_are_named(
    quiet: Answers, topic: str, status: HTTPStatus
) -> None:
    answer = post(quiet, {}, topic)
    assert answer.status_code == status
    for name in (RECEIPTS.name, ADJUSTMENTS.name):
        assert name in answer.json()["detail"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ({"Content-Type": "application/x-www-form-urlencoded"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ({"Host": "[::1", "Origin": "http://[::1"}, HTTPStatus.MISDIRECTED_REQUEST),
    ],
)
def test_a_page_from_elsewhere_cannot_publish(
    world: Answers, headers: dict[str, str], status: HTTPStatus
) -> None:
    assert post(world, RECEIPT, headers=headers).status_code == status


def test_a_browser_that_asks_for_another_page_is_not_told_yes(quiet: Answers) -> None:
    asked = {"Origin": "http://shop.example", "Access-Control-Request-Method": "POST"}
    answer = quiet.request("OPTIONS", f"/v1/events/{RECEIPTS.name}", headers=asked)
    assert answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", HTTPStatus.UNPROCESSABLE_ENTITY),
        (b"[" * BODY_BYTES_MAX, HTTPStatus.UNPROCESSABLE_ENTITY),
        (b" " * (BODY_BYTES_MAX + 1), HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    ],
    ids=["half", "deep", "large"],
)
def test_a_body_that_is_no_event_is_refused(world: Answers, content: bytes, status: int) -> None:
    assert post(world, content).status_code == status
