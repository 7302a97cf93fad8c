"""Whether Kafka lets a client in."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from infra.wait import wait_until

ANSWER_SECONDS_MAX = 30.0
LOOK_SECONDS = 0.2


def find_refusal(config: Mapping[str, Any]) -> int | None:
    """The error with which the broker refuses the client; None: it lets the client in."""
    found: list[int] = []
    heard: dict[str, Any] = {"error_cb": lambda error: found.append(error.code())}
    client = AdminClient({**config, **heard})

    def is_answered() -> bool:
        client.poll(0)
        if found:
            return True
        try:
            client.list_topics(timeout=LOOK_SECONDS)
        except KafkaException:
            return False
        return True

    wait_until(is_answered, "the client is let in or refused", ANSWER_SECONDS_MAX)
    return found[0] if found else None
