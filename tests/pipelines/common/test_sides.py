"""What holds at a moment is known from the topic, whoever asks and however often."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import PRODUCTS, encode, key
from infra.kafka import producer
from infra.settings import Settings
from pipelines.common.events import NEVER
from pipelines.common.sides import Fact, Reader, intervals

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
DAY_MS = 86_400_000


def fact(sku: str, day: int, value: int, offset: int) -> Fact:
    return Fact((sku,), day * DAY_MS, (0, offset), (sku, value))


def moment(day: int) -> datetime:
    return datetime.fromtimestamp(day * 86_400, UTC)


def test_a_fact_holds_until_the_next_one_of_its_key() -> None:
    known = [fact("A", 3, 30, 1), fact("B", 2, 20, 2), fact("A", 1, 10, 0)]
    assert list(intervals(known)) == [
        ("A", 10, moment(1), moment(3)),
        ("A", 30, moment(3), NEVER),
        ("B", 20, moment(2), NEVER),
    ]


def test_of_two_facts_from_one_moment_on_the_last_one_published_holds() -> None:
    known = [fact("A", 1, 11, 1), fact("A", 1, 10, 0)]
    assert list(intervals(known)) == [("A", 11, moment(1), NEVER)]


def product(event_id: str, cost: int, effective_at: datetime) -> dict[str, Any]:
    (example, *_) = PRODUCTS.examples
    return {
        **example,
        "event_id": event_id,
        "sku": "A",
        "unit_cost_cents": cost,
        "effective_at": effective_at,
        "event_time": MONDAY,
    }


def publish(where: Settings, said: Iterable[tuple[dict[str, Any], datetime]]) -> None:
    sender = producer(where)
    for event, published in said:
        sender.produce(
            PRODUCTS.name,
            key=key(PRODUCTS, event),
            value=encode(PRODUCTS, event),
            timestamp=int(published.timestamp() * 1000),
        )
    sender.produce(PRODUCTS.name, key=b"A", value=b"noise", timestamp=0)
    assert sender.flush(30) == 0


def test_a_reader_goes_on_where_it_stood(kafka: Settings) -> None:
    reader = Reader(kafka, PRODUCTS.name, "effective_at", ("sku", "unit_cost_cents"))
    ahead = product("P-1", 60, MONDAY + DAY)
    publish(kafka, [(ahead, MONDAY), (ahead, MONDAY)])
    assert list(intervals(reader.to_the_end())) == [("A", 60, MONDAY + DAY, NEVER)]
    behind = product("P-2", 70, MONDAY + DAY)
    publish(kafka, [(behind, MONDAY + 2 * DAY)])
    anew = product("P-3", 80, MONDAY + 3 * DAY)
    publish(kafka, [(anew, MONDAY + 2 * DAY)])
    assert list(intervals(reader.to_the_end())) == [
        ("A", 60, MONDAY + DAY, MONDAY + 3 * DAY),
        ("A", 80, MONDAY + 3 * DAY, NEVER),
    ], "what is announced after its time holds only once it is announced anew"
