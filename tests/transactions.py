"""Clients of somebody else, by librdkafka's own defaults but one, that publish in transactions."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count

from confluent_kafka import Producer

from infra.kafka import (
    Partition,
    create_admin,
    read_end_offsets,
    read_high_watermarks,
)
from infra.settings import Settings
from infra.wait import wait_until

SECONDS_MAX = 30.0
TIMEOUT_MS = 900_000
NUMBERS = count()


class Transactions:
    def __init__(self, settings: Settings) -> None:
        self._client = Producer(
            {
                "bootstrap.servers": settings.bootstrap_servers,
                "transactional.id": f"theirs-{next(NUMBERS)}",
                # Kafka's maximum: a test may take longer than the minute of the default.
                "transaction.timeout.ms": TIMEOUT_MS,
            }
        )
        self._client.init_transactions(SECONDS_MAX)

    oldest_ms: int | None = None
    """The smallest timestamp in the open transaction; None: none is open."""

    def begin(self) -> None:
        self._client.begin_transaction()

    def write(self, partition: Partition, key: bytes, value: bytes, published_ms: int) -> None:
        """Put a record into the log, where it is while the transaction is open."""
        self.oldest_ms = min(published_ms, self.oldest_ms or published_ms)
        self._client.produce(partition[0], value, key, partition[1], timestamp=published_ms)
        assert self._client.flush(SECONDS_MAX) == 0

    def commit(self) -> None:
        self._client.commit_transaction(SECONDS_MAX)
        self.oldest_ms = None

    def abort(self) -> None:
        self._client.abort_transaction(SECONDS_MAX)
        self.oldest_ms = None


@contextmanager
def open_transaction(
    settings: Settings, partition: Partition, values: Iterable[bytes], published_ms: int = 1
) -> Iterator[Transactions]:
    """A transaction with these values in a partition. It is aborted when the block ends.

    What is behind it can be read then: the mark of its end comes into the log a little later.
    """
    client = Transactions(settings)
    client.begin()
    for value in values:
        client.write(partition, b"", value, published_ms)
    try:
        yield client
    finally:
        client.abort()
        kafka, topics = create_admin(settings), [partition[0]]
        marked = read_high_watermarks(kafka, topics)[partition]
        wait_until(
            lambda: read_end_offsets(kafka, topics)[partition] >= marked,
            "nothing is behind the transaction any more",
        )


def write_transaction(
    settings: Settings, partition: Partition, values: Iterable[bytes], commits: bool
) -> None:
    client = Transactions(settings)
    client.begin()
    for value in values:
        client.write(partition, b"", value, 1)
    if commits:
        client.commit()
    else:
        client.abort()
