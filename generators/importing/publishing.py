"""Publishes events once, in order of event time, and the world's clock with them.

The broker acknowledges each half hour of events before the next one begins; a heartbeat ends it.
So a live reader never finds one partition far ahead of another, and after a kill the log is
complete up to the last heartbeat.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby, islice
from time import monotonic
from typing import Any, TypeVar

import duckdb

from contracts import RECEIPTS
from contracts.consumer import create_reader
from contracts.times import MILLISECOND
from generators.importing.engine import keep
from generators.importing.events import Issued, Refused, to_outgoing
from generators.ticks import HOUR_MS, TICK_MS
from infra.identities import AsSent, Edge
from infra.kafka import (
    Outgoing,
    Partition,
    create_admin,
    find_offsets_at,
    read_between,
    read_end_offsets,
)
from infra.settings import Settings

SLOT_MS = HOUR_MS // 2
CHUNK_RECORDS = 2_000
STEPS_MAX = 4
"""The most hourly heartbeats at the begin of a gap between events; two more end it, an hour apart:
one alone would be taken for one of another time. So many hours exceed every horizon: no event from
before the gap is still on its way to a reader."""
EXAMPLES_MAX = 3
SHOWN_SECONDS = 1.0
HORIZON_MS = (RECEIPTS.horizon or timedelta()) // MILLISECOND

OLD = "time: at most {:g} h before the world's, whose readers have forgotten what lies before"
KNOWN = {"event_id": "varchar"}

Item = TypeVar("Item")

decode = create_reader("import")


@dataclass
class Imported:
    """The files' events so far, counted by outcome."""

    rows: int = 0
    """Rows of the files, read before anything is published."""
    published: Counter[str] = field(default_factory=Counter)
    """By topic."""
    late: int = 0
    """Published events whose event time is before the world's time, within the horizon."""
    in_log: int = 0
    """Events that the log held already."""
    refused: Counter[str] = field(default_factory=Counter)
    """Events by the first reason."""
    examples: dict[str, list[Refused]] = field(default_factory=dict)
    rejected: list[tuple[str | None, str]] = field(default_factory=list)
    """The ids of refused events, with the first reason."""
    account: dict[str, Any] = field(default_factory=dict)
    at_ms: int = 0
    """The world's time after the import."""

    @property
    def events(self) -> int:
        return self.published.total() + self.in_log + self.refused.total()


@dataclass(frozen=True)
class Watch:
    """Callbacks for the steps, the progress and the refusals of an import."""

    step: Callable[[str], None]
    progress: Callable[[Imported], None]
    refused: Callable[[Refused], None]


@dataclass(frozen=True)
class Target:
    """Where events and the world's time are published; by default nowhere, as in a dry run."""

    send: Callable[[list[Outgoing]], object] = lambda _: None
    beat: Callable[[int], None] = lambda _: None
    stand: Callable[[int], None] = lambda _: None
    edge: Edge = field(default_factory=AsSent)


def load_known_ids(
    engine: duckdb.DuckDBPyConnection,
    settings: Settings,
    topics: Iterable[str],
    since: dict[str, int],
) -> None:
    """Make table `known` of the ids in the log; of some topics only from a timestamp on."""
    client = create_admin(settings)
    starts: dict[Partition, int] = {}
    ends = read_end_offsets(client, topics)
    for topic, at_ms in since.items():
        starts |= find_offsets_at(client, [topic], at_ms)

    def read_ids() -> Iterator[tuple[str]]:
        for message in read_between(settings, starts, ends):
            with suppress(ValueError):  # an unreadable record has no id
                yield (str(decode(message.value() or b"").value["event_id"]),)

    keep(engine, "known", read_ids(), KNOWN)


class Run:
    """One import. Table `known` of the engine has the ids in the log."""

    def __init__(
        self,
        engine: duckdb.DuckDBPyConnection,
        target: Target,
        watch: Watch,
        beaten_ms: int,
        rows: int = 0,
    ) -> None:
        """`beaten_ms`: the newest heartbeat; everything before it is in the log."""
        self._engine = engine.cursor()
        self._knows_any = self._engine.execute("from known limit 1").fetchone() is not None
        self._target = target
        self._watch = watch
        self._began_ms = beaten_ms
        self._beaten_ms = beaten_ms
        self._shown = 0.0
        self.imported = Imported(rows=rows, at_ms=beaten_ms)

    def announce(self, events: Iterable[Issued]) -> None:
        """Publish the events that hold before the first sale; the clock stands meanwhile."""
        for chunk in split_into_batches(events, CHUNK_RECORDS):
            self._send(self._select_new(chunk))

    def publish(self, events: Iterable[Issued | Refused]) -> None:
        """Publish the events that the log lacks. Raises NotDelivered."""
        chunks = split_into_batches(events, CHUNK_RECORDS)
        new = (event for chunk in chunks for event in self._admit(chunk))
        for slot, of_slot in groupby(
            new, key=lambda event: self._find_published_ms(event) // SLOT_MS
        ):
            self.advance(slot * SLOT_MS)
            for chunk in split_into_batches(of_slot, CHUNK_RECORDS):
                self._send(chunk)

    def finish(self, until_ms: int | None) -> Imported:
        """Stop the clock after the last event's minute, or at `until_ms` if that is later."""
        self.imported.at_ms = max(self.imported.at_ms, until_ms or 0)
        self.advance(self.imported.at_ms)
        self._target.stand(self._beaten_ms)
        return self.imported

    def advance(self, to_ms: int) -> None:
        """Advance the clock to that time: STEPS_MAX hours, one step, and one hour."""
        for _ in range(STEPS_MAX):
            if self._beaten_ms + HOUR_MS >= to_ms:
                break
            self._beat(self._beaten_ms + HOUR_MS)
        for beat_ms in (to_ms - HOUR_MS, to_ms):
            if beat_ms > self._beaten_ms:
                self._beat(beat_ms)

    def _beat(self, world_ms: int) -> None:
        self._target.beat(world_ms)
        self._beaten_ms = world_ms
        if monotonic() - self._shown > SHOWN_SECONDS:
            self._shown = monotonic()
            self._target.stand(world_ms)
            self._watch.progress(self.imported)

    def _select_new(self, events: list[Issued]) -> list[Issued]:
        if not self._knows_any:  # as in every first import
            return events
        ids = [event.event_id for event in events]
        query = "select event_id from known where event_id in (select unnest(?))"
        ids_in_log = {event_id for [event_id] in self._engine.execute(query, [ids]).fetchall()}
        new = [event for event in events if event.event_id not in ids_in_log]
        self.imported.in_log += len(events) - len(new)
        return new

    def _admit(self, events: list[Issued | Refused]) -> list[Issued]:
        """The new events. The import ends after the last minute of all events."""
        issued = []
        for event in events:
            if isinstance(event, Refused):
                self._refuse(event)
                continue
            issued.append(event)
            if event.at_ms >= self._began_ms:
                over_ms = (event.at_ms // TICK_MS + 1) * TICK_MS
                self.imported.at_ms = max(self.imported.at_ms, over_ms)
        return self._select_new(issued)

    def _find_published_ms(self, event: Issued) -> int:
        return max(event.at_ms, self._began_ms)

    def _send(self, events: list[Issued]) -> None:
        records = []
        for event in events:
            published_ms = self._find_published_ms(event)
            if event.at_ms < published_ms - HORIZON_MS:
                old = OLD.format(HORIZON_MS / HOUR_MS)
                entity, event_id = event.contract.entity, event.event_id
                self._refuse(Refused(entity, event.file, event.row, (old,), (), event_id))
                continue
            record = to_outgoing(event, published_ms, self._target.edge)
            if isinstance(record, Refused):
                self._refuse(record)
                continue
            self.imported.late += event.at_ms < published_ms
            records.append(record)
        if records:
            self._target.edge.save()
            self._target.send(records)
            self.imported.published.update(record.topic for record in records)

    def _refuse(self, refused: Refused) -> None:
        reason = refused.reasons[0]
        self.imported.refused[reason] += 1
        self.imported.rejected.append((refused.event_id, reason))
        examples = self.imported.examples.setdefault(reason, [])
        if len(examples) < EXAMPLES_MAX:
            examples.append(refused)
        self._watch.refused(refused)


def split_into_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split the items into lists of `size`; the last list may be shorter."""
    left = iter(items)
    while chunk := list(islice(left, size)):
        yield chunk
