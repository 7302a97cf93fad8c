"""Writes records for all subscriptions with one producer, a thread at a time."""

from collections.abc import Iterable, Sequence
from threading import Lock

from confluent_kafka import Producer

from contracts import Contract
from infra.kafka import Outgoing, send_all


class Writer:
    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._lock = Lock()  # an acknowledgement may arrive in any thread that waits for one

    def write(self, records: Sequence[Outgoing]) -> None:
        """Return once the log holds the records. Raises NotDelivered."""
        if records:
            with self._lock:
                send_all(self._producer, records)

    def remove(self, contract: Contract, subscription_id: str, rest: Iterable[str]) -> None:
        """Remove the records of a subscription that have these other parts in their keys."""
        keys = [f"{subscription_id}/{one}".encode() for one in rest]
        self.write([Outgoing(contract.name, key, None) for key in keys])
