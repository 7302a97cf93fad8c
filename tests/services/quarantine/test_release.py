"""A rejected record is released once, if its event was never counted and can no longer be."""

from itertools import count
from typing import Any

import pytest

from contracts import ADJUSTMENTS, PRICE_CHANGES, RECEIPTS, RELEASES, decode, encode, encode_key
from contracts.times import to_epoch_ms
from contracts.validation import Rejection, unwrap, validate
from infra.errors import UserError
from infra.settings import Settings
from services.quarantine.release import Refused, Released, read_record, release
from tests.services.quarantine.publishing import HOUR_MS, Place, hours, publish, put, stop_world

pytestmark = pytest.mark.e2e

HAPPENED = RECEIPTS.examples[0]["event_time"]
BECAUSE = "the till had lost its line"

numbers = count(1)


@pytest.fixture
def world(kafka: Settings) -> Settings:
    """A world that has come so far that nothing of the examples' day can come in time."""
    stop_world(kafka, HAPPENED + hours(10))
    publish(kafka, ADJUSTMENTS, event_id=create_id(), event_time=HAPPENED + hours(10))
    return kafka


def create_id() -> str:
    return f"E-{next(numbers)}"


def release_place(kafka: Settings, place: Place) -> Released:
    return release(kafka, place, BECAUSE)


def refuse_release(kafka: Settings, place: Place) -> str:
    with pytest.raises(Refused) as refused:
        release_place(kafka, place)
    return str(refused.value)


def publish_late(kafka: Settings, **fields: Any) -> Place:
    return publish(kafka, RECEIPTS, 3 * HOUR_MS, **{"event_id": create_id(), **fields})


def test_a_late_record_is_released_as_an_event_that_wraps_it(world: Settings) -> None:
    place = publish_late(world)
    done = release_place(world, place)
    record = read_record(world, done.topic, done.partition, done.offset)
    event = validate(RELEASES, record.key, record.value, record.published_ms)
    assert not isinstance(event, Rejection)
    assert (event["topic"], event["partition"], event["offset"]) == place
    assert event["value"] == read_record(world, *place).value
    assert (event["because"], record.key) == (BECAUSE, b"S003")
    assert unwrap(event) == done.event
    assert record.published_ms == event["event_time"] == to_epoch_ms(HAPPENED + hours(10))


def test_a_record_is_released_where_those_of_its_key_lie_and_under_the_right_key(
    world: Settings,
) -> None:
    for store in ("S001", "S002", "S003", "S004", "S005"):
        place = publish_late(world, store_id=store)
        assert release_place(world, place).partition == place[1]
    place = publish(world, RECEIPTS, record_key=b"S001", event_id=create_id())
    done = release_place(world, place)
    assert read_record(world, done.topic, done.partition, done.offset).key == b"S003"


def test_nothing_is_released_twice(world: Settings) -> None:
    place = publish_late(world)
    done = release_place(world, place)
    again = refuse_release(world, place)
    assert f"was released before, 2026-03-02 20:41:07: it is {done.topic}" in again
    assert BECAUSE in again


def test_another_copy_of_what_was_released_is_not(world: Settings) -> None:
    identity = create_id()
    first, second = publish_late(world, event_id=identity), publish_late(world, event_id=identity)
    release_place(world, first)
    assert "was released before" in refuse_release(world, second)


def test_a_release_that_was_rejected_itself_does_not_count(world: Settings) -> None:
    place = publish_late(world)
    event = {
        **RELEASES.examples[0],
        "original_event_id": decode(read_record(world, *place).value).value["event_id"],
        "event_time": HAPPENED,
        "because": "published too late itself",
    }
    at_ms = to_epoch_ms(HAPPENED) + 5 * HOUR_MS
    put(world, RELEASES, encode_key(RELEASES, event), encode(RELEASES, event), at_ms)
    assert release_place(world, place).offset >= 0


def test_what_was_counted_by_a_copy_in_time_is_refused_wherever_it_lies(world: Settings) -> None:
    identity = create_id()
    _, partition, offset = publish(world, RECEIPTS, event_id=identity)
    place = publish_late(world, event_id=identity)
    assert f"came in time, at {RECEIPTS.name}/{partition}/{offset}" in refuse_release(world, place)
    place = publish(world, RECEIPTS, record_key=b"S001", event_id=identity)
    assert "has been counted" in refuse_release(world, place)


def test_while_a_copy_may_still_come_nothing_is_released(kafka: Settings) -> None:
    decided = hours(2) + hours(5 / 60)
    tomorrow = HAPPENED + hours(24)
    place = publish(kafka, RECEIPTS, -HOUR_MS, event_id=create_id(), event_time=tomorrow)  # future
    publish(kafka, ADJUSTMENTS, event_id=create_id(), event_time=tomorrow + hours(9))
    stop_world(kafka, tomorrow + decided)
    assert "try again after 2026-03-03 12:46:07" in refuse_release(kafka, place)
    stop_world(kafka, tomorrow + decided + hours(1))
    assert release_place(kafka, place).offset >= 0


def test_a_clock_that_has_run_ahead_of_the_log_is_not_believed(kafka: Settings) -> None:
    far = HAPPENED + hours(1_000)
    stop_world(kafka, far + hours(10))
    place = publish(kafka, RECEIPTS, 3 * HOUR_MS, event_id=create_id(), event_time=far)
    assert "may still come" not in find_refusal(kafka, place)
    place = publish(kafka, RECEIPTS, -HOUR_MS, event_id=create_id(), event_time=far + hours(5))
    assert "may still come in time" in refuse_release(kafka, place)


def find_refusal(kafka: Settings, place: Place) -> str:
    try:
        release_place(kafka, place)
    except Refused as refused:
        return str(refused)
    return ""


def test_what_was_accepted_breaks_its_contract_or_is_a_price_is_not_released(
    world: Settings,
) -> None:
    assert "not rejected" in refuse_release(world, publish(world, RECEIPTS, event_id=create_id()))
    broken = publish(world, ADJUSTMENTS, event_id=create_id(), units=0)
    assert "units is not 0, and not released. Publish a corrected" in refuse_release(world, broken)
    noise = put(world, RECEIPTS, b"S003", b"noise", to_epoch_ms(HAPPENED))
    assert "Publish a corrected event" in refuse_release(world, noise)
    both = publish(world, ADJUSTMENTS, record_key=b"S001", event_id=create_id(), units=0)
    assert "breaks a rule: units is not 0" in refuse_release(world, both)
    place = publish(world, PRICE_CHANGES, event_id=create_id(), price_cents=-1)
    assert "Announce it anew" in refuse_release(world, place)


@pytest.mark.parametrize("offset", [-1, 10_000])
def test_a_place_without_a_record_is_said(world: Settings, offset: int) -> None:
    with pytest.raises(UserError, match="GET /v1/quarantine"):
        release_place(world, (RECEIPTS.name, 0, offset))


@pytest.mark.parametrize("because", ["", "  ", "x" * 501], ids=len)
def test_why_it_is_released_is_asked_for(world: Settings, because: str) -> None:
    with pytest.raises(Refused, match="--because"):
        release(world, publish_late(world), because)
