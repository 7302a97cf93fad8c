"""The topic alone decides which version holds at a moment: every reader sees the same."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts import NOTICE, ON_ITS_WAY, PRODUCTS, encode, encode_key
from contracts.times import EPOCH
from contracts.validation import VALIDATED
from infra.settings import Settings
from infra.wait import wait_for
from pipelines.common.transform.dimensions import (
    DimensionReader,
    DimensionVersion,
    compute_intervals,
    to_version,
)
from pipelines.common.transform.events import NEVER
from tests.brokers import get_producer
from tests.transactions import Transactions, write_transaction

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
DAY_MS = 86_400_000
NO_CALENDAR_MS = 10**15
MINUTE = timedelta(minutes=1)
SKEW = max(topic.skew for topic in VALIDATED.values() if topic.skew)


def create_version(sku: str, day: int, value: int, offset: int) -> DimensionVersion:
    return DimensionVersion((sku,), day * DAY_MS, (0, offset), (sku, value))


def to_moment(day: int) -> datetime:
    return datetime.fromtimestamp(day * 86_400, UTC)


def test_a_version_holds_until_the_next_one_of_its_key() -> None:
    known = [
        create_version("A", 3, 30, 1),
        create_version("B", 2, 20, 2),
        create_version("A", 1, 10, 0),
    ]
    assert list(compute_intervals(known)) == [
        ("A", 10, to_moment(1), to_moment(3)),
        ("A", 30, to_moment(3), NEVER),
        ("B", 20, to_moment(2), NEVER),
    ]


def test_of_two_versions_from_one_moment_on_the_last_one_published_holds() -> None:
    known = [create_version("A", 1, 11, 1), create_version("A", 1, 10, 0)]
    assert list(compute_intervals(known)) == [("A", 11, to_moment(1), NEVER)]


def announce_cost(cost: int, effective: timedelta, published: timedelta) -> DimensionVersion:
    """A product's cost, announced this long after the beginning of Monday, at the offset `cost`."""
    return to_version(
        PRODUCTS,
        "effective_at",
        ("unit_cost_cents",),
        (0, cost),
        to_ms(published),
        {"sku": "A", "effective_at": to_ms(effective), "unit_cost_cents": cost},
    )


def to_ms(after: timedelta) -> int:
    return (MONDAY + after - EPOCH) // timedelta(milliseconds=1)


def find_cost(known: Iterable[DimensionVersion], at: timedelta) -> int | None:
    """The product's cost this long after the beginning of Monday, by the known versions."""
    costs = [
        cents for cents, begun, before in compute_intervals(known) if begun <= MONDAY + at < before
    ]
    return costs[0] if costs else None


@pytest.mark.parametrize("notice", [NOTICE, NOTICE - MINUTE, timedelta(), -DAY])
def test_a_version_holds_when_it_says_and_after_its_notice_at_the_earliest(
    notice: timedelta,
) -> None:
    known = [announce_cost(60, effective=DAY + notice, published=DAY)]
    begins = max(DAY + notice, DAY + NOTICE)
    assert find_cost(known, begins - timedelta(milliseconds=1)) is None
    assert find_cost(known, begins) == 60


MINUTES = st.integers(-30, 30).map(lambda minutes: minutes * MINUTE)


@given(
    st.lists(st.tuples(MINUTES, MINUTES), max_size=8),
    st.integers(-30, SKEW // MINUTE).map(lambda minutes: minutes * MINUTE),
)
@example([(timedelta(), MINUTE - ON_ITS_WAY)], SKEW)
def test_what_holds_at_the_moment_of_an_event_was_in_the_log_before_it(
    versions: list[tuple[timedelta, timedelta]], happened: timedelta
) -> None:
    """Versions: when each says that it holds, and when it was published. The event is published as
    Monday begins, by a clock that may be ahead."""
    known = [announce_cost(number, *version) for number, version in enumerate(versions)]
    before = [
        announce_cost(number, *version)
        for number, version in enumerate(versions)
        if version[1] <= -ON_ITS_WAY
    ]
    assert find_cost(before, happened) == find_cost(known, happened)


def create_product(event_id: str, cost: int, effective_at: datetime) -> dict[str, Any]:
    (example, *_) = PRODUCTS.examples
    return {
        **example,
        "event_id": event_id,
        "sku": "A",
        "unit_cost_cents": cost,
        "effective_at": effective_at,
        "event_time": MONDAY,
    }


def publish(settings: Settings, events: Iterable[tuple[dict[str, Any], datetime]]) -> None:
    client = get_producer(settings)
    for event, published in events:
        client.produce(
            PRODUCTS.name,
            key=encode_key(PRODUCTS, event),
            value=encode(PRODUCTS, event),
            timestamp=int(published.timestamp() * 1000),
        )
    client.produce(PRODUCTS.name, key=b"A", value=b"noise", timestamp=0)
    assert client.flush(30) == 0


def test_a_reader_goes_on_where_it_stood(kafka: Settings) -> None:
    reader = DimensionReader(kafka, PRODUCTS.name, "effective_at", ("sku", "unit_cost_cents"))
    ahead = create_product("P-1", 60, MONDAY + DAY)
    never = create_product("P-0", 50, MONDAY) | {"effective_at": NO_CALENDAR_MS}
    publish(kafka, [(never, MONDAY), (ahead, MONDAY), (ahead, MONDAY)])
    assert list(compute_intervals(reader.read_to_end())) == [("A", 60, MONDAY + DAY, NEVER)]
    behind = create_product("P-2", 70, MONDAY + DAY)
    publish(kafka, [(behind, MONDAY + 2 * DAY)])
    anew = create_product("P-3", 80, MONDAY + 3 * DAY)
    publish(kafka, [(anew, MONDAY + 2 * DAY)])
    assert list(compute_intervals(reader.read_to_end())) == [
        ("A", 60, MONDAY + DAY, MONDAY + 2 * DAY + NOTICE),
        ("A", 70, MONDAY + 2 * DAY + NOTICE, MONDAY + 3 * DAY),
        ("A", 80, MONDAY + 3 * DAY, NEVER),
    ], "what is announced after its time holds once it has had its notice"


def test_a_reader_waits_for_a_version_in_an_open_transaction(kafka: Settings) -> None:
    """Its notice counts from its own timestamp: it may hold before it is committed."""
    reader = DimensionReader(kafka, PRODUCTS.name, "effective_at", ("sku", "unit_cost_cents"))
    known = len(list(reader.read_to_end()))
    event, at = create_product("P-4", 90, MONDAY + 4 * DAY), (PRODUCTS.name, 0)
    published_ms = int(MONDAY.timestamp() * 1000)
    write_transaction(kafka, at, [encode(PRODUCTS, event)], commits=False)
    assert len(list(reader.read_to_end())) == known, "aborted, and an end without a record"
    client = Transactions(kafka)
    client.begin()
    client.write(at, encode_key(PRODUCTS, event), encode(PRODUCTS, event), published_ms)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(lambda: len(list(reader.read_to_end())))
        assert not wait_for(reading.done, 1.0), "the transaction may still commit"
        client.commit()
        assert reading.result(30) == known + 1
