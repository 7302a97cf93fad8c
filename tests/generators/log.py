"""What the simulator's topics hold."""

import time

from confluent_kafka import TopicPartition

from generators.log_end import parse_published
from generators.resume import Published
from generators.world import TOPICS
from infra.kafka import Partition, create_admin, create_consumer, read_end_offsets
from infra.settings import Settings

WORLD_NAMES = [topic.name for topic in TOPICS]
SECONDS_MAX = 60.0


def log(settings: Settings) -> dict[Partition, list[Published]]:
    """Every record, by partition and in order."""
    ends = read_end_offsets(create_admin(settings), WORLD_NAMES)
    records: dict[Partition, list[Published]] = {partition: [] for partition in ends}
    reader = create_consumer(settings)
    reader.assign([TopicPartition(*partition, 0) for partition in ends])
    deadline = time.monotonic() + SECONDS_MAX
    while sum(map(len, records.values())) < sum(ends.values()):
        assert time.monotonic() < deadline, "the log should be read by now"
        for message in reader.consume(1000, timeout=0.1):
            records[message.topic() or "", message.partition() or 0].append(
                parse_published(message)
            )
    reader.close()
    return records
