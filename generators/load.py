"""Loads a file of events: sorted by event time, validated row by row, acknowledged.

A reader of a topic remembers ids for the contract's horizon, counted from the newest event that it
has seen. So a load keeps three rules: no row is ahead of the world's time, no row is older than a
reader's memory, and the rows in flight are close together in time.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from pathlib import Path
from time import monotonic
from typing import BinaryIO

from confluent_kafka import Producer

from contracts import GENERATIONS, Contract, encode, encode_key
from contracts.consumer import create_reader
from contracts.documents import from_document
from contracts.faults import WHOLE, Fault, find_faults
from contracts.times import EPOCH, MILLISECOND, render_span, to_instant
from contracts.validation import VALIDATED
from generators.clock import get_wall_ms
from infra.errors import UserError
from infra.identities import AsSent, Edge
from infra.kafka import (
    Outgoing,
    create_admin,
    read_end_offsets,
    read_newest_ms,
    read_start_offsets,
    send_all,
)
from infra.settings import Settings
from ops.control.reading import Reader
from ops.control.world_clock import AnnouncedClock, read_clock

SUFFIXES = (".jsonl", ".ndjson")
LINE_BYTES_MAX = 1_048_576  # one event: as much as Kafka takes
ROWS_MAX = 2_000_000  # their places are kept in memory
ROWS_PER_CHUNK = 2_000
CHUNK_MS_MAX = 30 * 60_000
"""Kafka acknowledges a chunk before the next one is sent. So no reader finds one partition much
ahead of another: a live pipeline bears an hour of world time."""
LOOK_SECONDS = 5.0

EARLY = "ahead of the world"
OLD = "older than what readers remember"
NONE = timedelta()

READER = Reader(create_reader("load"))

Row = tuple[int, bytes]
"""The number of a line, from 1, and the line; of a line that is too long, its beginning."""


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
    rejected: int = 0
    reached: dict[int, int] = field(default_factory=dict)
    """By partition, the offset of the last record published."""


@dataclass(frozen=True)
class WorldTime:
    """The world's time, read once. All times are epoch milliseconds."""

    clock: AnnouncedClock | None
    """The announced clock; None if none was announced."""
    newest_ms: int | None
    """The newest timestamp of an event's record; None in a log without events."""
    followed: bool
    """Whether a pipeline has begun to read: it forgets ids beyond the horizon."""

    def get_now_ms(self, wall: Callable[[], int] = get_wall_ms) -> int | None:
        """World time now, at least the newest event's; None with neither a clock nor an event."""
        if self.clock is None:
            return self.newest_ms
        now_ms = self.clock.world_at(wall())
        return max(now_ms, self.newest_ms or now_ms)


class Watch:
    """World time, read again every LOOK_SECONDS: a simulator may stop or start."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._next_look = 0.0
        self._found = WorldTime(None, None, followed=False)

    def look(self) -> WorldTime:
        """World time. Raises UnknownTopic."""
        if monotonic() >= self._next_look:
            client = create_admin(self._settings)
            topics = [GENERATIONS.name]
            self._found = WorldTime(
                clock=read_clock(self._settings, READER),
                newest_ms=max(read_newest_ms(client, VALIDATED).values(), default=None),
                followed=read_end_offsets(client, topics) != read_start_offsets(client, topics),
            )
            self._next_look = monotonic() + LOOK_SECONDS
        return self._found


def sort_rows(file: Path, time_field: str) -> Iterator[Row]:
    """The file's lines without empty ones, by time; those without a time come first.

    Raises UserError for a file that cannot be loaded.
    """
    if file.suffix not in SUFFIXES:
        raise UserError(f"{file} should end in {' or '.join(SUFFIXES)}: one event per line")
    if not file.is_file():
        raise UserError(f"{file} should be a file to load, but there is none")
    places: list[tuple[float, int, int]] = []  # event time, number, offset
    with file.open("rb") as lines:
        for number, (offset, line) in enumerate(_read_lines(lines), 1):
            if line.strip() or len(line) > LINE_BYTES_MAX:
                places.append((_find_seconds(line, time_field), number, offset))
            if len(places) > ROWS_MAX:
                raise UserError(f"{file} should have at most {ROWS_MAX:,} rows. Split it")
        for _, number, offset in sorted(places):
            lines.seek(offset)
            yield number, lines.readline(LINE_BYTES_MAX + 1)


def _read_lines(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Every line with its offset. A line that is too long is cut, one byte after the limit."""
    offset = 0
    while line := lines.readline(LINE_BYTES_MAX + 1):
        yield offset, line
        while line and not line.endswith(b"\n"):
            offset += len(line)
            line = lines.readline(LINE_BYTES_MAX)
        offset += len(line)


def _find_seconds(line: bytes, time_field: str) -> float:
    try:
        moment = datetime.fromisoformat(json.loads(line)[time_field])
    except (ValueError, TypeError, LookupError, RecursionError):
        return -inf
    return (moment - EPOCH).total_seconds() if moment.tzinfo else -inf


@dataclass(frozen=True)
class Validator:
    """Validates rows by their contract and by the world's time."""

    contract: Contract
    look: Callable[[], WorldTime]
    edge: Edge = field(default_factory=AsSent)

    def validate(self, row: Row) -> Outgoing | Rejected:
        """The record to publish, or every fault of the row."""
        number, line = row
        if len(line) > LINE_BYTES_MAX:
            limit = f"a line of at most {LINE_BYTES_MAX} bytes"
            return Rejected(number, (Fault(WHOLE, limit, "a longer one"),))
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            return Rejected(number, (Fault(WHOLE, "one JSON object", str(error)),))
        event = from_document(self.contract, document)
        if wrong := find_faults(self.contract, event):
            return Rejected(number, wrong)
        happened_ms = (event[self._time] - EPOCH) // MILLISECOND
        if ill_timed := self._check_timing(happened_ms):
            return Rejected(number, (ill_timed,))
        passed = self.edge.replace(event)
        found = encode(self.contract, passed)
        return Outgoing(self.contract.name, encode_key(self.contract, passed), found, happened_ms)

    @property
    def _time(self) -> str:
        return str(self.contract.event_time)

    def _check_timing(self, happened_ms: int) -> Fault | None:
        if happened_ms < 1:
            return Fault(self._time, "after the beginning of 1970", _render_time(happened_ms))
        world = self.look()
        now_ms = world.get_now_ms()
        if now_ms is None:
            return None
        found = f"{_render_time(happened_ms)}, and it is {_render_time(now_ms)}"
        skew, horizon = self.contract.skew or NONE, self.contract.horizon or NONE
        # Without a clock the time is the newest event's, and the file may go on from there.
        if world.clock and happened_ms > now_ms + skew // MILLISECOND:
            return Fault(self._time, f"{EARLY}: at most {render_span(skew)} from now", found)
        is_forgotten = world.followed and world.newest_ms is not None
        if is_forgotten and happened_ms < now_ms - horizon // MILLISECOND:
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

    def send() -> Loaded:
        validator.edge.save()
        so_far.reached |= dict(send_all(client, chunk))
        so_far.published += len(chunk)
        chunk.clear()
        return so_far

    for row in rows:
        so_far.rows += 1
        found = validator.validate(row)
        if isinstance(found, Rejected):
            so_far.rejected += 1
            rejected(found)
        else:
            if chunk and abs(found.timestamp_ms - chunk[0].timestamp_ms) > CHUNK_MS_MAX:
                yield send()
            chunk.append(found)
        if so_far.rows % ROWS_PER_CHUNK == 0:
            yield send()
    yield send()


def _render_time(milliseconds: int) -> str:
    at = to_instant(milliseconds)
    return f"{milliseconds} ms of 1970" if at is None else at.isoformat(timespec="milliseconds")
