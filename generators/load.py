"""Loads a file of events: sorted by event time, validated row by row, acknowledged.

A reader of a topic remembers ids for the contract's horizon, counted from the newest event that it
has seen. So a load keeps three rules: no row is ahead of the world's time, no row is older than a
reader's memory, and the rows in flight are close together in time.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum

from confluent_kafka import Producer

from contracts import Contract, encode, encode_key
from contracts.documents import from_document
from contracts.faults import WHOLE, Fault, find_faults
from contracts.times import EPOCH, MILLISECOND, render_span, to_instant
from generators.rows import Row
from generators.world_time import WorldTime
from infra.identities import AsSent, Edge
from infra.kafka import Outgoing, send_all

ROWS_PER_CHUNK = 2_000
CHUNK_MS_MAX = 30 * 60_000
"""Kafka acknowledges a chunk before the next one is sent. So no reader finds one partition much
ahead of another: a live pipeline bears an hour of world time."""

EARLY = "ahead of the world"
OLD = "older than what readers remember"
NONE = timedelta()


class Stamp(StrEnum):
    """The source of a record's timestamp."""

    EVENT = "event"  # when it happened
    NOW = "now"  # the world's present


@dataclass(frozen=True, slots=True)
class Rejected:
    row: int
    faults: tuple[Fault, ...]


@dataclass
class Loaded:
    """The rows so far, counted by outcome."""

    rows: int = 0
    published: int = 0
    """Acknowledged by Kafka."""
    late: int = 0
    """Published rows that are late by the contract: they go to quarantine."""
    rejected: int = 0
    reached: dict[int, int] = field(default_factory=dict)
    """By partition, the offset of the last record published."""


@dataclass(frozen=True)
class Moment:
    """The limits of a row's event time: the world's time and the readers' memory."""

    now_ms: int | None
    """World time; None where there is neither a clock nor an event."""
    paced: bool
    """Whether a world clock gives the time; without one it is the newest event's."""
    remembered: bool
    """Whether a reader may have forgotten old ids."""

    @classmethod
    def of(cls, time: WorldTime) -> "Moment":
        return cls(
            now_ms=time.get_now_ms(),
            paced=time.clock is not None,
            remembered=time.followed and time.newest_ms is not None,
        )


@dataclass
class Validator:
    """Validates rows by their contract and by the world's time."""

    contract: Contract
    stamp: Stamp
    moment: Callable[[], Moment]
    edge: Edge = field(default_factory=AsSent)
    late: int = field(default=0, init=False)
    """Valid rows that are late by the contract."""

    def validate(self, row: Row) -> Outgoing | Rejected:
        """The record to publish, or every fault of the row."""
        if row.fault is not None:
            return Rejected(row.number, (Fault(WHOLE, row.fault, "another"),))
        try:
            document = row.columns if row.text is None else json.loads(row.text)
        except (ValueError, RecursionError) as error:
            return Rejected(row.number, (Fault(WHOLE, "one JSON object", str(error)),))
        event = from_document(self.contract, document)
        wrong = find_faults(self.contract, event)
        if wrong:
            return Rejected(row.number, wrong)
        happened_ms = (event[self._time] - EPOCH) // MILLISECOND
        at = self.moment()
        if ill_timed := self._check_timing(happened_ms, at):
            return Rejected(row.number, (ill_timed,))
        published_ms = happened_ms if self.stamp is Stamp.EVENT else at.now_ms or happened_ms
        passed = self.edge.replace(event)
        found = encode(self.contract, passed)
        return Outgoing(self.contract.name, encode_key(self.contract, passed), found, published_ms)

    @property
    def _time(self) -> str:
        return str(self.contract.event_time)

    def _check_timing(self, happened_ms: int, at: Moment) -> Fault | None:
        if happened_ms < 1:
            return Fault(self._time, "after the beginning of 1970", _render_time(happened_ms))
        if at.now_ms is None:
            return None
        found = f"{_render_time(happened_ms)}, and it is {_render_time(at.now_ms)}"
        skew, horizon = self.contract.skew or NONE, self.contract.horizon or NONE
        if at.paced and happened_ms > at.now_ms + _to_ms(skew):
            return Fault(self._time, f"{EARLY}: at most {render_span(skew)} from now", found)
        if happened_ms >= at.now_ms - _to_ms(horizon):
            return None
        if self.stamp is Stamp.NOW:
            self.late += self.contract.horizon is not None
        elif at.remembered:
            return Fault(self._time, f"{OLD}: at most {render_span(horizon)} ago", found)
        return None


def load(
    rows: Iterable[Row],
    validator: Validator,
    client: Producer,
    rejected: Callable[[Rejected], None],
) -> Iterator[Loaded]:
    """Publish the valid rows and pass the others to `rejected`. Yields the counts after each chunk.

    Raises NotDelivered. Loading the file again applies the records of the first load only once.
    """
    so_far = Loaded()
    chunk: list[Outgoing] = []
    for row in rows:
        so_far.rows += 1
        found = validator.validate(row)
        if isinstance(found, Rejected):
            so_far.rejected += 1
            rejected(found)
        else:
            if _is_full(chunk, found):
                yield _send(client, chunk, so_far, validator)
            chunk.append(found)
        if so_far.rows % ROWS_PER_CHUNK == 0:
            yield so_far
    yield _send(client, chunk, so_far, validator)


def check(
    rows: Iterable[Row], validator: Validator, rejected: Callable[[Rejected], None]
) -> Loaded:
    """Validate as `load` does, without publishing and without writing pseudonyms."""
    validator = replace(validator, edge=AsSent())
    so_far = Loaded()
    for row in rows:
        so_far.rows += 1
        if isinstance(found := validator.validate(row), Rejected):
            so_far.rejected += 1
            rejected(found)
    return so_far


def _is_full(chunk: list[Outgoing], following: Outgoing) -> bool:
    if not chunk:
        return False
    apart_ms = abs(following.timestamp_ms - chunk[0].timestamp_ms)
    return len(chunk) >= ROWS_PER_CHUNK or apart_ms > CHUNK_MS_MAX


def _send(client: Producer, chunk: list[Outgoing], so_far: Loaded, validator: Validator) -> Loaded:
    validator.edge.save()
    so_far.reached |= dict(send_all(client, chunk))
    so_far.published += len(chunk)
    so_far.late = validator.late
    chunk.clear()
    return so_far


def _to_ms(length: timedelta) -> int:
    return length // MILLISECOND


def _render_time(milliseconds: int) -> str:
    at = to_instant(milliseconds)
    return f"{milliseconds} ms of 1970" if at is None else at.isoformat(timespec="milliseconds")
