"""The world's inputs, from topics that others write: each is read at one tick, the same on every
run.

An input's arrival depends on the wall clock. So the journal syncs it to a file before its tick
begins. A world that is simulated again reads it at the same tick.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Message, TopicPartition

from contracts import CONFIRMATIONS, CONTRACTS, LOADS, PRICE_CHANGES, Contract, Row, holds_from
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from generators.parameters import Parameters
from generators.prices import PriceSet
from generators.resume import is_numbered
from generators.supply import Confirmed
from generators.ticks import to_tick_start_ms
from generators.world import Input
from infra.kafka import create_admin, create_consumer, list_partitions
from infra.settings import Settings
from ops.control.load import Load
from ops.control.reading import Reader

RECORDS_PER_TICK_MAX = 5_000

READER = Reader(create_reader("simulator"))
KINDS: Mapping[str, Callable[..., Input]] = {"order": Confirmed, "price": PriceSet, "load": Load}
"""By the word that the journal has for them. The first field of each is its id."""
WORDS: Mapping[Any, str] = {kind: word for word, kind in KINDS.items()}


class Journal:
    """The inputs read so far, in a file of one world."""

    def __init__(self, folder: Path, world: str) -> None:
        digest = hashlib.sha256(world.encode()).hexdigest()[:12]
        self._file = folder / f"{digest}-inputs.jsonl"
        self._heard: dict[int, list[Input]] = {}
        self._ids: set[tuple[str, str]] = set()
        whole = 0
        for line in self._file.read_bytes().splitlines(True) if self._file.exists() else []:
            if not line.endswith(b"\n"):
                break  # cut off: its tick has not begun
            tick, word, *fields = json.loads(line)
            self._note(tick, KINDS[word](*fields))
            whole += len(line)
        if self._file.exists():
            os.truncate(self._file, whole)

    def list_heard(self, tick: int) -> Sequence[Input]:
        return self._heard.get(tick, ())

    def hear(self, tick: int, inputs: Sequence[Input]) -> None:
        """Append the new inputs to the file and sync it."""
        unique: dict[tuple[str, str], Input] = {}
        for given in inputs:
            if identify(given) not in self._ids:
                unique.setdefault(identify(given), given)
        if not unique:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a") as file:
            for given in unique.values():
                file.write(json.dumps([tick, WORDS[type(given)], *given]) + "\n")
                self._note(tick, given)
            file.flush()
            os.fsync(file.fileno())

    def _note(self, tick: int, given: Input) -> None:
        self._heard.setdefault(tick, []).append(given)
        self._ids.add(identify(given))


def identify(given: Input) -> tuple[str, str]:
    """The name of an input: the same one read twice counts once."""
    return WORDS[type(given)], given[0]


class Inputs:
    """The inputs in Kafka, read from the first tick on that was never published."""

    def __init__(
        self, settings: Settings, parameters: Parameters, journal: Journal, newest_ms: int
    ) -> None:
        """`newest_ms`: world time of the world's newest record in the log."""
        self._journal = journal
        self._newest_ms = newest_ms
        self._reader = create_consumer(settings)
        topics = [PRICE_CHANGES.name, LOADS.name]
        if parameters.refill == "orders":
            topics.append(CONFIRMATIONS.name)
        places = list_partitions(create_admin(settings), topics)
        self._reader.assign([TopicPartition(*partition, 0) for partition in places])

    def take_due(self, tick: int) -> Sequence[Input]:
        """The inputs that the world reads at the beginning of the tick."""
        if to_tick_start_ms(tick) > self._newest_ms:
            self._journal.hear(tick, self._consume_new())
        return self._journal.list_heard(tick)

    def _consume_new(self) -> list[Input]:
        inputs = []
        for message in self._reader.consume(RECORDS_PER_TICK_MAX, timeout=0):
            if message.error() is not None:
                raise KafkaException(message.error())
            contract = CONTRACTS[message.topic() or ""]
            if is_numbered(message):
                continue  # the simulator's own price
            row = READER.read_message(contract, message)
            if row is not None:
                inputs.append(_parse(contract, row, message))
        return inputs


def _parse(contract: Contract, row: Row, message: Message) -> Input:
    if contract is CONFIRMATIONS:
        return _parse_confirmation(row)
    if contract is LOADS:
        return Load.parse(row)
    _, published_ms = message.timestamp()
    effective_ms = holds_from(to_epoch_ms(row["effective_at"]), published_ms)
    return PriceSet(row["event_id"], row["sku"], row["price_cents"], effective_ms)


def _parse_confirmation(row: Row) -> Confirmed:
    return Confirmed(
        row["purchase_order_id"],
        row["store_id"],
        row["sku"],
        row["ordered_units"],
        row["shipped_units"],
        to_epoch_ms(row["dispatches_at"]),
        to_epoch_ms(row["arrives_at"]),
    )
