"""Deletes from the changelogs the rows whose retention is over, so that compaction removes them.
A row that somebody adds up stays.

A row is over if it began longer before the newest row, at the marker, than its view's retention.
Every reader drops it by the same rule, at that marker and at every later one: the newest row only
becomes newer. So a deletion changes no answer, whenever it is written, and however often.
"""

import logging
from collections.abc import Iterable, Mapping
from threading import Event

from confluent_kafka import KafkaException

from contracts import CONTRACTS, MARKDOWN_PROPOSALS, PROPOSALS, Contract
from contracts.times import MILLISECOND
from infra.kafka import (
    NotDelivered,
    Offsets,
    Outgoing,
    UnknownTopic,
    create_producer,
    read_between,
    send_all,
)
from infra.settings import Settings
from ops.generations.marker import read_marker
from ops.generations.record import Generation

LOOK_SECONDS = 600.0
NEWEST_RECORDS = 1_000
"""How many of a partition's last records are read for the newest row. An older one deletes less."""
SHARE = 4
"""A changelog is read whole once its newest row is newer by so large a part of the retention."""
DELETIONS_MAX = 50_000
"""How many rows are deleted at a time; the next look deletes the others."""
READ_WHOLE = frozenset({PROPOSALS.name})
"""The views of whose changelog somebody adds up every row."""
ADDED_UP: Mapping[str, bytes] = {MARKDOWN_PROPOSALS.name: b"day"}
"""By view: the part of the key of those rows that somebody adds up, which stay."""

log = logging.getLogger("pipeline")


def sweep_all(generations: Iterable[tuple[Settings, Generation]], stopping: Event) -> None:
    """Look at the changelogs of these generations again and again, beside their queries."""
    sweeps = [Sweep(*each) for each in generations]
    while not stopping.wait(LOOK_SECONDS):
        for sweep in sweeps:
            try:
                sweep.look()
            except (KafkaException, NotDelivered, TimeoutError, UnknownTopic) as error:
                log.warning("rows that are over stay for now: %s", error)


class Sweep:
    """The changelogs of a generation."""

    def __init__(self, settings: Settings, generation: Generation) -> None:
        self._settings = settings
        self.generation = generation
        self._floors: dict[str, int] = {}
        """By view: what began before is deleted, in epoch milliseconds."""

    def look(self) -> int:
        """Delete what is over at the newest marker; returns the number of rows.

        Raises KafkaException, NotDelivered, TimeoutError and UnknownTopic.
        """
        generation = self.generation
        marker = read_marker(self._settings, generation.pipeline, generation.number)
        if marker is None:
            return 0
        return sum(
            self._look_at(CONTRACTS[name], generation.outputs[name], marker.outputs)
            for name in generation.views
            if name in CONTRACTS and CONTRACTS[name].retention and name not in READ_WHOLE
        )

    def _look_at(self, view: Contract, topic: str, outputs: Offsets) -> int:
        assert view.retention is not None
        retention_ms = view.retention // MILLISECOND
        ends = {partition: end for partition, end in outputs.items() if partition[0] == topic}
        newest_ms = find_newest_ms(self._settings, view, ends)
        if newest_ms is None:
            return 0
        floor, before = newest_ms - retention_ms, self._floors.get(view.name)
        if before is not None and floor < before + retention_ms // SHARE:
            return 0
        over = find_over(self._settings, view, ends, floor)
        send_all(create_producer(self._settings), over)
        if len(over) < DELETIONS_MAX:
            self._floors[view.name] = floor
        return len(over)


def find_newest_ms(settings: Settings, view: Contract, ends: Offsets) -> int | None:
    """When the newest row among the last ones began, in epoch milliseconds."""
    starts = {partition: max(0, end - NEWEST_RECORDS) for partition, end in ends.items()}
    began = (parse_began(view, each.key()) for each in read_between(settings, starts, ends))
    return max((at_ms for at_ms in began if at_ms is not None), default=None)


def find_over(settings: Settings, view: Contract, ends: Offsets, floor_ms: int) -> list[Outgoing]:
    """The deletions of the rows that began before; at most DELETIONS_MAX."""
    over: dict[bytes, Outgoing] = {}
    for message in read_between(settings, {}, ends):
        key, began_ms = message.key() or b"", parse_began(view, message.key())
        if began_ms is None or began_ms >= floor_ms or is_added_up(view, key):
            continue
        over.pop(key, None)
        if message.value() is not None and len(over) < DELETIONS_MAX:
            partition = int(message.partition() or 0)
            over[key] = Outgoing(str(message.topic()), key, None, partition=partition)
    return list(over.values())


def is_added_up(view: Contract, key: bytes) -> bool:
    """Whether somebody adds up the row, however old it is."""
    return ADDED_UP.get(view.name) in key.split(b"/")


def parse_began(view: Contract, key: bytes | None) -> int | None:
    """When the row of a key began, in epoch milliseconds; None for a key of another form."""
    assert view.began is not None
    parts = (key or b"").split(b"/")
    try:
        return int(parts[view.key.index(view.began)]) if len(parts) == len(view.key) else None
    except ValueError:
        return None
