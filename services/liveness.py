"""Liveness of services: wall time of a service's last start, for others to read.

It is the metadata of an offset in a separate consumer group: a service's main group accepts no
commit from a process that has not joined it yet.
"""

from confluent_kafka import Consumer, KafkaException, TopicPartition

from contracts import CLOCKS
from infra.clock import get_wall_ms
from infra.kafka import create_consumer
from infra.kafka.errors import UNSETTLED, get_error_code
from infra.settings import Settings
from infra.wait import wait_for

PLACE = (CLOCKS.name, 0)
ANSWER_SECONDS_MAX = 5.0
SETTLED_SECONDS_MAX = 30.0


def report_start(settings: Settings, service: str) -> None:
    """Report that the service has started. Raises TimeoutError and KafkaException."""
    client = create_consumer(settings, name_group(service))
    try:
        if not wait_for(lambda: _commit(client), SETTLED_SECONDS_MAX):
            raise TimeoutError(
                f"Expected Kafka to take the start of {service} within {SETTLED_SECONDS_MAX:g} s, "
                "but it did not. See what it waits for: make logs COMPONENT=broker"
            )
    finally:
        client.close()


def read_start_ms(settings: Settings, service: str) -> int:
    """Wall time of the service's last start, in epoch ms; 0: never. Raises KafkaException."""
    client = create_consumer(settings, name_group(service))
    try:
        (committed,) = client.committed([TopicPartition(*PLACE)], timeout=ANSWER_SECONDS_MAX)
        return int(committed.metadata or 0)
    finally:
        client.close()


def name_group(service: str) -> str:
    return f"{service}.sign"


def _commit(client: Consumer) -> bool:
    try:
        start = TopicPartition(*PLACE, 0, metadata=str(get_wall_ms()))
        client.commit(offsets=[start], asynchronous=False)
    except KafkaException as error:
        if get_error_code(error) not in UNSETTLED:
            raise
        return False
    return True
