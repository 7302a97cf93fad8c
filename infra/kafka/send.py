"""Sends records and waits for their acknowledgement."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaError, Message, Producer

from infra.errors import UserError

SEND_SECONDS_MAX = 30.0
POLL_SECONDS = 0.1
BY_KEY = -1


class NotDelivered(UserError):
    """The broker did not acknowledge a record."""

    def __init__(self, topic: str, why: str) -> None:
        super().__init__(f"A record for {topic} was not delivered: {why}. Is Kafka up? make status")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to send."""

    topic: str
    key: bytes
    value: bytes | None
    """None removes the key's record from a compacted topic."""
    timestamp_ms: int = 0
    """The record timestamp, in epoch milliseconds; 0: wall time of sending."""
    partition: int = BY_KEY
    """BY_KEY: the key's partition."""


def send(
    producer: Producer,
    topic: str,
    key: bytes,
    value: bytes,
    *,
    timestamp_ms: int = 0,
    seconds_max: float = SEND_SECONDS_MAX,
) -> tuple[int, int]:
    """Send the record and wait for its acknowledgement. Returns its partition and offset.

    Raises NotDelivered.
    """
    record = Outgoing(topic, key, value, timestamp_ms)
    [place] = send_all(producer, [record], seconds_max=seconds_max)
    return place


def send_all(
    producer: Producer, records: Iterable[Outgoing], *, seconds_max: float = SEND_SECONDS_MAX
) -> list[tuple[int, int]]:
    """Send the records and wait for all acknowledgements. Returns each partition and offset.

    Raises NotDelivered; some of the records may then have arrived.
    """
    deadline = time.monotonic() + seconds_max
    sent = [_Sending(record) for record in records]
    for each in sent:
        each.start(producer, deadline)
    producer.flush(max(0.0, deadline - time.monotonic()))
    return [each.place(seconds_max) for each in sent]


class _Sending:
    def __init__(self, record: Outgoing) -> None:
        self._record = record
        self._answer: tuple[KafkaError | None, Message] | None = None

    def start(self, producer: Producer, deadline: float) -> None:
        """Give the record to the producer; wait while its queue is full. Raises NotDelivered."""
        record = self._record
        while True:
            try:
                producer.produce(
                    record.topic,
                    key=record.key,
                    value=record.value,
                    on_delivery=self._handle_delivery,
                    timestamp=record.timestamp_ms,
                    partition=record.partition,
                )
                return
            except BufferError:
                if time.monotonic() > deadline:
                    raise NotDelivered(record.topic, "the queue of records is full") from None
                producer.poll(POLL_SECONDS)

    def place(self, seconds_max: float) -> tuple[int, int]:
        if self._answer is None:
            raise NotDelivered(self._record.topic, f"no answer in {seconds_max:g} s")
        error, message = self._answer
        if error is not None:
            raise NotDelivered(self._record.topic, error.str())
        return int(message.partition() or 0), int(message.offset() or 0)

    def _handle_delivery(self, error: KafkaError | None, message: Message) -> None:
        self._answer = error, message
