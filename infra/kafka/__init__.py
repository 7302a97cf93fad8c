"""Kafka clients with safe settings, and the requests to a broker that every room uses."""

# ruff: noqa: F401
# mypy: implicit-reexport

from infra.kafka.clients import build_client_config, create_admin, create_consumer, create_producer
from infra.kafka.errors import KafkaDown, UnknownTopic
from infra.kafka.offsets import (
    EndOffsets,
    Offsets,
    Partition,
    fetch_committed,
    find_offsets_at,
    list_partitions,
    read_end_offsets,
    read_high_watermarks,
    read_newest_ms,
    read_start_offsets,
)
from infra.kafka.read import (
    Headers,
    Record,
    consume_arrived,
    get_place,
    read_assigned,
    read_between,
    read_to_end,
    to_record,
)
from infra.kafka.send import NotDelivered, Outgoing, send, send_all
from infra.kafka.topics import apply_topics, is_answering
