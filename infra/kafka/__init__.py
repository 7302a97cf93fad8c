"""Kafka clients with safe settings, and the questions that every room asks a broker."""

from infra.kafka.clients import Config, admin, client_config, consumer, producer
from infra.kafka.errors import KafkaDown, UnknownTopic
from infra.kafka.groups import fetch_committed
from infra.kafka.offsets import (
    Offsets,
    Partition,
    committed_ends,
    end_offsets,
    newest_ms,
    offsets_at,
    partitions,
    start_offsets,
)
from infra.kafka.read import read_all, read_between, read_to_end
from infra.kafka.record import Headers, Record, to_record
from infra.kafka.send import NotDelivered, Outgoing, send, send_all
from infra.kafka.topics import HasTopicSettings, TopicSettings, answers, apply_topics

__all__ = [
    "Config",
    "HasTopicSettings",
    "Headers",
    "KafkaDown",
    "NotDelivered",
    "Offsets",
    "Outgoing",
    "Partition",
    "Record",
    "TopicSettings",
    "UnknownTopic",
    "admin",
    "answers",
    "apply_topics",
    "client_config",
    "committed_ends",
    "consumer",
    "end_offsets",
    "fetch_committed",
    "newest_ms",
    "offsets_at",
    "partitions",
    "producer",
    "read_all",
    "read_between",
    "read_to_end",
    "send",
    "send_all",
    "start_offsets",
    "to_record",
]
