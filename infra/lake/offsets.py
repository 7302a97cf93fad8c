"""Offsets in JSON, as Spark writes them: by topic, then by partition."""

from collections.abc import Mapping

from infra.kafka import Offsets, Partition

ByTopic = Mapping[str, Mapping[str, int]]
"""Offset by topic and partition."""


def group_by_topic(offsets: Offsets) -> dict[str, dict[str, int]]:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return by_topic


def flatten_topics(by_topic: ByTopic) -> dict[Partition, int]:
    return {
        (topic, int(partition)): offset
        for topic, partitions in by_topic.items()
        for partition, offset in partitions.items()
    }
