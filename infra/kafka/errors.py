"""Errors of a broker, as the user sees them."""

from confluent_kafka import KafkaError, KafkaException

from infra.errors import UserError

UNSETTLED = frozenset(
    {
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
    }
)
"""Errors of a group just after the broker's start, or at its first use."""

UNREACHABLE = frozenset(
    {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT}
)
"""A client's errors when no broker answers."""


class KafkaDown(UserError):
    """Kafka does not answer."""

    def __init__(self, servers: str) -> None:
        super().__init__(f"Kafka does not answer on {servers}. Start it with: make up")


class UnknownTopic(UserError):
    """A topic that the broker does not have."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"The broker has no topic {topic}. Make it with: retail contracts apply")
        self.topic = topic


def get_error_code(error: KafkaException) -> int:
    """The number of the Kafka error inside the exception."""
    cause = error.args[0]
    return cause.code() if isinstance(cause, KafkaError) else KafkaError.UNKNOWN
