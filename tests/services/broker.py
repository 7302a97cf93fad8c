"""A log in Kafka, written as tests write the one in memory."""

from collections.abc import Iterable

from confluent_kafka import KafkaException, TopicCollection

from contracts import STOCK_LEVELS
from infra.kafka import Partition, UnknownTopic, apply_topics, create_admin, read_end_offsets
from infra.settings import Settings
from infra.wait import wait_until
from tests.brokers import get_producer

ANSWER_SECONDS_MAX = 10.0


class KafkaLog:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._admin = create_admin(settings)
        self._producer = get_producer(settings)

    def make(self, topic: str, partitions: int) -> None:
        """Make the changelog of a view; an existing one is emptied."""
        if topic in self._admin.list_topics(timeout=ANSWER_SECONDS_MAX).topics:
            self.remove(topic)
        assert partitions == STOCK_LEVELS.settings.partitions
        apply_topics(self._settings, {topic: STOCK_LEVELS})
        wait_until(lambda: self._led(topic), f"every partition of {topic} has a leader")

    def remove(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(ANSWER_SECONDS_MAX)
        wait_until(lambda: not self._there(topic), f"{topic} is gone")

    def publish(
        self, partition: Partition, key: bytes, value: bytes | None, published_ms: int = 0
    ) -> int:
        """Hand the record to the client; it is in the log when `ends` returns.

        Without `published_ms` it has the time of sending.
        """
        topic, number = partition
        self._producer.produce(
            topic, key=key, value=value, partition=number, timestamp=published_ms
        )
        self._producer.poll(0)
        return 0

    def flush(self) -> None:
        assert self._producer.flush(ANSWER_SECONDS_MAX) == 0

    def ends(self, topics: Iterable[str]) -> dict[Partition, int]:
        self.flush()
        return read_end_offsets(self._admin, topics)

    def _led(self, topic: str) -> bool:
        try:
            return bool(read_end_offsets(self._admin, [topic]))
        except (KafkaException, UnknownTopic):
            return False

    def _there(self, topic: str) -> bool:
        described = self._admin.describe_topics(TopicCollection([topic]))[topic]
        return described.exception(ANSWER_SECONDS_MAX) is None
