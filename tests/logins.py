"""Whether Kafka lets a client in."""

from collections.abc import Collection, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from infra.wait import wait_until

ANSWER_SECONDS_MAX = 30.0
LOOK_SECONDS = 0.2
UNEXPLAINED = frozenset({KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN})


def is_refused(config: Mapping[str, Any]) -> bool:
    """Whether the broker refuses the client, for whatever reason."""
    return _find_error(config, passed_over=()) is not None


def find_refusal(config: Mapping[str, Any]) -> int | None:
    """The error that says why the broker refuses the client; None: it lets the client in.

    A client may be told of the first refused connection only that it was lost: the next says why.
    """
    return _find_error(config, passed_over=UNEXPLAINED)


def _find_error(config: Mapping[str, Any], passed_over: Collection[int]) -> int | None:
    found: list[int] = []

    def hear(error: KafkaError) -> None:
        if error.code() not in passed_over:
            found.append(error.code())

    heard: dict[str, Any] = {"error_cb": hear}
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
