"""Sending one record and knowing that it arrived."""

from confluent_kafka import KafkaError, Message, Producer

from infra.errors import Trouble

SEND_SECONDS_MAX = 30.0


class NotDelivered(Trouble):
    """A record that the broker did not acknowledge."""

    def __init__(self, topic: str, why: str) -> None:
        super().__init__(f"A record for {topic} was not delivered: {why}. Is Kafka up? make status")


def send(
    producer: Producer,
    topic: str,
    key: bytes,
    value: bytes,
    *,
    seconds_max: float = SEND_SECONDS_MAX,
) -> None:
    """Send the record and wait until it is acknowledged; raises NotDelivered."""
    errors: list[KafkaError | None] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        errors.append(error)

    producer.produce(topic, key=key, value=value, on_delivery=delivered)
    producer.flush(seconds_max)
    if not errors:
        raise NotDelivered(topic, f"no answer in {seconds_max:g} s")
    if errors[0] is not None:
        raise NotDelivered(topic, errors[0].str())
