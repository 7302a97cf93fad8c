"""Confirmed orders, the world's only input: each is read at one tick, the same on every run.

A confirmation's arrival depends on the wall clock. So the journal syncs it to a file before its
tick begins. A world that is simulated again reads it at the same tick.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from contracts import CONFIRMATIONS
from contracts.consumer import create_reader
from contracts.times import EPOCH, MILLISECOND
from generators.supply import Confirmed
from generators.ticks import to_tick_start_ms
from infra.kafka import create_admin, create_consumer, list_partitions
from infra.settings import Settings
from ops.control.reading import Reader

RECORDS_PER_TICK_MAX = 5_000

READER = Reader(create_reader("simulator"))


class Journal:
    """The confirmations read so far, in a file of one world."""

    def __init__(self, folder: Path, world: str) -> None:
        digest = hashlib.sha256(world.encode()).hexdigest()[:12]
        self._file = folder / f"{digest}-orders.jsonl"
        self._heard: dict[int, list[Confirmed]] = {}
        self._ids: set[str] = set()
        whole = 0
        for line in self._file.read_bytes().splitlines(True) if self._file.exists() else []:
            if not line.endswith(b"\n"):
                break  # cut off: its tick has not begun
            tick, *fields = json.loads(line)
            self._note(tick, Confirmed(*fields))
            whole += len(line)
        if self._file.exists():
            os.truncate(self._file, whole)

    def list_heard(self, tick: int) -> Sequence[Confirmed]:
        return self._heard.get(tick, ())

    def hear(self, tick: int, orders: Sequence[Confirmed]) -> None:
        """Append the new confirmations to the file and sync it."""
        unique = {order.order_id: order for order in orders if order.order_id not in self._ids}
        if not unique:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a") as file:
            for order in unique.values():
                file.write(json.dumps([tick, *order]) + "\n")
                self._note(tick, order)
            file.flush()
            os.fsync(file.fileno())

    def _note(self, tick: int, order: Confirmed) -> None:
        self._heard.setdefault(tick, []).append(order)
        self._ids.add(order.order_id)


class Orders:
    """The confirmations in Kafka, read from the first tick on that was never published."""

    def __init__(self, settings: Settings, journal: Journal, newest_ms: int) -> None:
        """`newest_ms`: world time of the world's newest record in the log."""
        self._journal = journal
        self._newest_ms = newest_ms
        self._reader = create_consumer(settings)
        places = list_partitions(create_admin(settings), [CONFIRMATIONS.name])
        self._reader.assign([TopicPartition(*partition, 0) for partition in places])

    def take_due(self, tick: int) -> Sequence[Confirmed]:
        """The confirmations that the world reads at the beginning of the tick."""
        if to_tick_start_ms(tick) > self._newest_ms:
            self._journal.hear(tick, self._consume_new())
        return self._journal.list_heard(tick)

    def _consume_new(self) -> list[Confirmed]:
        orders = []
        for message in self._reader.consume(RECORDS_PER_TICK_MAX, timeout=0):
            if message.error() is not None:
                raise KafkaException(message.error())
            row = READER.read_message(CONFIRMATIONS, message)
            if row is not None:
                orders.append(_parse_confirmation(row))
        return orders


def _parse_confirmation(row: Any) -> Confirmed:
    return Confirmed(
        row["purchase_order_id"],
        row["store_id"],
        row["sku"],
        row["ordered_units"],
        row["shipped_units"],
        (row["dispatches_at"] - EPOCH) // MILLISECOND,
        (row["arrives_at"] - EPOCH) // MILLISECOND,
    )
