"""A sign that a service has come up: the wall clock, said where anybody may ask for it.

It stands beside an offset that nobody reads by, in a group of its own: the group that a service
reads in takes nothing from a process that has not joined it yet.
"""

from confluent_kafka import Consumer, KafkaException, TopicPartition

from contracts import CLOCKS
from infra.kafka import consumer
from infra.kafka.errors import UNSETTLED, code
from infra.settings import Settings
from infra.wait import until
from services.clock import wall_ms

PLACE = (CLOCKS.name, 0)
ANSWER_SECONDS_MAX = 5.0
SETTLED_SECONDS_MAX = 30.0


def give(settings: Settings, service: str) -> None:
    """Say that the service is at work from now on. Raises TimeoutError and KafkaException."""
    client = consumer(settings, group(service))
    try:
        if not until(lambda: _taken(client), SETTLED_SECONDS_MAX):
            raise TimeoutError(
                f"Kafka should take the sign of {service} within {SETTLED_SECONDS_MAX:g} s, but "
                "does not. See what it waits for: make logs COMPONENT=broker"
            )
    finally:
        client.close()


def given_ms(settings: Settings, service: str) -> int:
    """When the service last came up, in epoch milliseconds; 0: never. Raises KafkaException."""
    client = consumer(settings, group(service))
    try:
        (found,) = client.committed([TopicPartition(*PLACE)], timeout=ANSWER_SECONDS_MAX)
        return int(found.metadata or 0)
    finally:
        client.close()


def group(service: str) -> str:
    return f"{service}.sign"


def _taken(client: Consumer) -> bool:
    try:
        sign = TopicPartition(*PLACE, 0, metadata=str(wall_ms()))
        client.commit(offsets=[sign], asynchronous=False)
    except KafkaException as error:
        if code(error) not in UNSETTLED:
            raise
        return False
    return True
