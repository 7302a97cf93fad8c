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
        self.queue.append(
            {"topic": topic, "value": value, "key": key, "partition": partition, **rest}
        )

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


@pytest.fixture
def receipt() -> Publication:
    return next(
        publication for publication in publish_hours(3) if publication.topic == RECEIPTS.name
    )


def test_a_record_carries_world_time_its_place_and_its_sequence(receipt: Publication) -> None:
    broker = Broker()
    Publisher(broker).publish(receipt)
    (record,) = broker.queue
    assert record["timestamp"] == receipt.published_ms
    assert record["partition"] == receipt.partition
    assert record["headers"] == [("sequence", receipt.sequence.to_bytes(8, "big"))]
    assert decode(record["value"]).value["event_id"] == receipt.event["event_id"]


def test_a_live_record_carries_the_wall_clock_too(receipt: Publication) -> None:
    broker = Broker()
    Publisher(broker, wall_ms=lambda: 77).publish(receipt)
    assert ("sent_at", (77).to_bytes(8, "big")) in broker.queue[0]["headers"]


def test_a_full_queue_is_waited_for(receipt: Publication) -> None:
    broker = Broker(room=1)
    publisher = Publisher(broker)
    for _ in range(3):
        publisher.publish(receipt)
    assert len(broker.queue) == 3


def test_a_queue_that_stays_full_is_given_up(receipt: Publication) -> None:
    publisher = Publisher(Broker(room=0, drains=False))
    with pytest.raises(PublishingFailed, match=f"{FULL_SECONDS_MAX:g} s"):
        publisher.publish(receipt)


def test_a_refused_record_stops_the_program(receipt: Publication) -> None:
    broker = Broker()
    publisher = Publisher(broker)
    publisher.publish(receipt)
    broker.refuses = KafkaError(KafkaError._MSG_TIMED_OUT)
    with pytest.raises(PublishingFailed, match="started again"):
        publisher.check()


def test_a_flush_that_does_not_end_says_how_many_are_left(receipt: Publication) -> None:
    publisher = Publisher(Broker(drains=False))
    publisher.publish(receipt)
    with pytest.raises(PublishingFailed, match="1 records"):
        publisher.flush()


def test_a_heartbeat_waits_until_all_before_it_is_there(receipt: Publication) -> None:
    broker = Broker()
    publisher = Publisher(broker)
    for publication in (receipt, beat(), receipt):
        publisher.publish(publication)
    assert broker.flushed_at == [1]
    assert [record["topic"] for record in broker.queue] == [
        RECEIPTS.name,
        HEARTBEATS.name,
        RECEIPTS.name,
    ]


def test_history_asks_once_for_many_heartbeats(receipt: Publication) -> None:
    broker = Broker()
    publisher = Publisher(broker, beats_held_max=2)
    for publication in (receipt, beat(), receipt, beat(), receipt):
        publisher.publish(publication)
    assert broker.flushed_at == [2]
    assert [record["topic"] for record in broker.queue[2:4]] == [HEARTBEATS.name] * 2


def test_what_follows_facts_waits_until_they_are_there(receipt: Publication) -> None:
    broker = Broker()
    publisher = Publisher(broker, beats_held_max=60)
    product = next(
        publication for publication in publish_hours(1) if publication.topic == PRODUCTS.name
    )
    for publication in (product, product, receipt, receipt, product, beat()):
        publisher.publish(publication)
    assert broker.flushed_at == [2, 5]


def test_the_last_heartbeats_follow_at_the_end(receipt: Publication) -> None:
    broker = Broker()
    publisher = Publisher(broker, beats_held_max=2)
    publisher.publish(receipt)
    publisher.publish(beat())
    publisher.flush()
    assert broker.flushed_at == [1, 2]
    assert broker.queue[-1]["topic"] == HEARTBEATS.name


def beat() -> Publication:
    return next(
        publication for publication in publish_hours(1) if publication.topic == HEARTBEATS.name
    )
