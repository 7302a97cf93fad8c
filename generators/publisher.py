"""Publishes every record in order, once, or raises the reason why not."""

from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from contracts import DIMENSIONS, HEARTBEATS
from generators import wire
from generators.event import Publication
from infra.errors import UserError

FULL_SECONDS_MAX = 120.0  # without an accepted record: give up
POLL_SECONDS = 1.0
FLUSH_SECONDS_MAX = 300.0  # the producer retries as long; a broker restarts sooner
NUMBER_BYTES = 8

Headers = list[tuple[str, str | bytes | None]]


class PublishingFailed(UserError):
    """Kafka did not accept a record; nothing after it is published."""

    def __init__(self, reason: object) -> None:
        super().__init__(
            f"Kafka did not accept a record: {reason}. "
            "A simulator that is started again continues where the log ends."
        )


class Publisher:
    """Sends publications to Kafka; a record's timestamp is world time.

    Header `sequence`: the count of the simulator's records before it in its partition.
    Header `sent_at`, where a wall clock is given: wall milliseconds, for figures of latency.
    Both are 8 bytes, big-endian.
    A heartbeat waits until Kafka has every record before it. So does a record after a dimension
    version: no event comes into the log before the versions that hold at its time.
    """

    def __init__(
        self, producer: Producer, wall_ms: Callable[[], int] | None = None, beats_held_max: int = 1
    ) -> None:
        """`beats_held_max`: so many heartbeats are held back, to wait once for all of them."""
        self._producer = producer
        self._wall_ms = wall_ms
        self._beats_held_max = beats_held_max
        self._beats: list[Publication] = []
        self._told_facts = False
        self._error: KafkaError | None = None
        self._on_delivery = self._handle_delivery

    def publish(self, publication: Publication) -> None:
        """Queue a record; wait while the queue is full. Raises PublishingFailed."""
        if publication.topic in DIMENSIONS:
            self._told_facts = True
        elif self._told_facts:
            self._await()
        if publication.topic != HEARTBEATS.name:
            self._queue(publication)
            return
        self._beats.append(publication)
        if len(self._beats) >= self._beats_held_max:
            self._release()

    def flush(self) -> None:
        """Wait until Kafka has everything. Raises PublishingFailed."""
        self._release()
        self._await()

    def _release(self) -> None:
        """Publish the waiting heartbeats."""
        if not self._beats:
            return
        self._await()
        beats, self._beats = self._beats, []
        for beat in beats:
            self._queue(beat)

    def _queue(self, publication: Publication) -> None:
        published_ms, topic, partition, sequence, key, _, _ = publication
        headers: Headers = [("sequence", sequence.to_bytes(NUMBER_BYTES, "big"))]
        if self._wall_ms:
            headers.append(("sent_at", self._wall_ms().to_bytes(NUMBER_BYTES, "big")))
        value = wire.encode_value(publication)
        self.send(topic, partition, key.encode(), value, published_ms, headers)

    def send(
        self,
        topic: str,
        partition: int,
        key: bytes,
        value: bytes,
        published_ms: int,
        headers: Headers,
    ) -> None:
        """Queue any record; otherwise as `publish`."""
        waited_seconds = 0.0
        while True:
            try:
                self._producer.produce(
                    topic,
                    value,
                    key,
                    partition,
                    on_delivery=self._on_delivery,
                    timestamp=published_ms,
                    headers=headers,
                )
                return
            except BufferError:
                if waited_seconds >= FULL_SECONDS_MAX:
                    raise PublishingFailed(f"it took nothing for {waited_seconds:g} s") from None
                waited_seconds += POLL_SECONDS
                if self._producer.poll(POLL_SECONDS):
                    waited_seconds = 0.0
            except KafkaException as error:
                raise PublishingFailed(error) from error
            self.check()

    def check(self) -> None:
        """Raise PublishingFailed if Kafka has refused a record."""
        self._producer.poll(0)
        if self._error is not None:
            raise PublishingFailed(self._error)

    def _await(self) -> None:
        self._told_facts = False
        left = self._producer.flush(FLUSH_SECONDS_MAX)
        self.check()
        if left:
            raise PublishingFailed(f"{left} records were not taken in {FLUSH_SECONDS_MAX:g} s")

    def _handle_delivery(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None and self._error is None:
            self._error = error
