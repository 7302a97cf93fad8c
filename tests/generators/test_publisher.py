from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaError

from contracts import HEARTBEATS, PRODUCTS, RECEIPTS, decode
from generators.event import Publication
from generators.publisher import FULL_SECONDS_MAX, Publisher, PublishingFailed
from tests.generators.worlds import publish_hours


class Broker:
    """A producer whose queue has a limit and empties at some polls."""

    def __init__(self, room: int = 10, drains: bool = True) -> None:
        self.queue: list[dict[str, Any]] = []
        self.flushed_at: list[int] = []  # how long the queue was, at each flush
        self.room, self.drains = room, drains
        self.refuses: KafkaError | None = None

    def produce(self, topic: str, value: bytes, key: bytes, partition: int, **rest: Any) -> None:
        if not self.room:
            raise BufferError
        self.room -= 1
        record = {"topic": topic, "value": value, "key": key, "partition": partition, **rest}
        self.queue.append(record)

    def poll(self, timeout: float) -> int:
        if self.refuses and self.queue:
            report: Callable[..., None] = self.queue[-1]["on_delivery"]
            report(self.refuses, None)
            return 1
        if timeout and self.drains:
            self.room += 1
            return 1
        return 0

    def flush(self, timeout: float) -> int:
        self.flushed_at.append(len(self.queue))
        return 0 if self.drains else len(self.queue)


RECEIPT, PRODUCT, BEAT = (
    next(publication for publication in publish_hours(3) if publication.topic == topic.name)
    for topic in (RECEIPTS, PRODUCTS, HEARTBEATS)
)


def publish(broker: Any, *publications: Publication, **options: Any) -> Publisher:
    publisher = Publisher(broker, **options)
    for publication in publications:
        publisher.publish(publication)
    return publisher


def test_a_record_carries_world_time_its_place_its_sequence_and_live_the_wall_clock() -> None:
    broker = Broker()
    publish(broker, RECEIPT)
    publish(broker, RECEIPT, wall_ms=lambda: 77)
    record, live = broker.queue
    assert record["timestamp"] == RECEIPT.published_ms
    assert record["partition"] == RECEIPT.partition
    assert record["headers"] == [("sequence", RECEIPT.sequence.to_bytes(8, "big"))]
    assert decode(record["value"]).value["event_id"] == RECEIPT.event["event_id"]
    assert live["headers"] == [*record["headers"], ("sent_at", (77).to_bytes(8, "big"))]


def test_a_full_queue_is_waited_for() -> None:
    broker = Broker(room=1)
    publish(broker, *[RECEIPT] * 3)
    assert len(broker.queue) == 3


def test_a_queue_that_stays_full_is_given_up() -> None:
    with pytest.raises(PublishingFailed, match=f"{FULL_SECONDS_MAX:g} s"):
        publish(Broker(room=0, drains=False), RECEIPT)


def test_a_refused_record_stops_the_program() -> None:
    broker = Broker()
    publisher = publish(broker, RECEIPT)
    broker.refuses = KafkaError(KafkaError._MSG_TIMED_OUT)
    with pytest.raises(PublishingFailed, match="started again"):
        publisher.check()


def test_a_flush_that_does_not_end_says_how_many_are_left() -> None:
    publisher = publish(Broker(drains=False), RECEIPT)
    with pytest.raises(PublishingFailed, match="1 records"):
        publisher.flush()


@pytest.mark.parametrize(
    ("held_max", "published", "flushed_at"),
    [
        (1, (RECEIPT, BEAT, RECEIPT), [1]),
        (2, (RECEIPT, BEAT, RECEIPT, BEAT, RECEIPT), [2]),
        (60, (PRODUCT, PRODUCT, RECEIPT, RECEIPT, PRODUCT, BEAT), [2, 5]),
    ],
)
def test_a_heartbeat_and_what_follows_facts_wait_until_all_before_is_there(
    held_max: int, published: tuple[Publication, ...], flushed_at: list[int]
) -> None:
    """History asks once for many heartbeats."""
    broker = Broker()
    publish(broker, *published, beats_held_max=held_max)
    assert broker.flushed_at == flushed_at
    asked = [record["topic"] == HEARTBEATS.name for record in broker.queue]
    assert not any(asked[: flushed_at[0]])


def test_the_last_heartbeats_follow_at_the_end() -> None:
    broker = Broker()
    publish(broker, RECEIPT, BEAT, beats_held_max=2).flush()
    assert broker.flushed_at == [1, 2]
    assert broker.queue[-1]["topic"] == HEARTBEATS.name
