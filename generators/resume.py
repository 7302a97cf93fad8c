"""Continues where the log ends, from a snapshot: no record is lost or published twice."""

import hashlib
import logging
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import Consumer, Message, TopicPartition

from generators import wire
from generators.event import Counts, Publication
from generators.publisher import NUMBER_BYTES
from generators.ticks import TICKS_PER_HOUR
from infra.errors import UserError
from infra.kafka import (
    Partition,
    create_admin,
    create_consumer,
    read_assigned,
    read_high_watermarks,
    read_start_offsets,
)
from infra.settings import Settings

if TYPE_CHECKING:  # its names of people and places take long to import
    from generators.world import World

SNAPSHOT_TICKS = 4 * TICKS_PER_HOUR
SNAPSHOTS_MAX = 2  # the newest may be ahead of the log; the one before is not
SEQUENCE = "sequence"
"""The header with the number of the simulator's record in its partition."""
CHUNK_RECORDS = 250  # of each partition, backwards from its end; doubled each time
CHUNK_RECORDS_MAX = 16_000
IDLE_SECONDS_MAX = 30.0
DIGEST_BYTES = 32

log = logging.getLogger("simulator")


class OtherWorld(UserError):
    """The log holds another world's records."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(
            f"The log holds another world: expected {expected}, found {found}. "
            "Set the SIMULATOR_* settings back, or empty the log with: make reset. "
            "The load of a running world is turned by: retail simulate"
        )


class Published(NamedTuple):
    """The last record of the simulator in a partition."""

    published_ms: int
    sequence: int
    key: bytes
    value: bytes


class Logged:
    """The records in the log when the simulator started; the world skips them."""

    def __init__(self, ends: Mapping[tuple[str, int], Published]) -> None:
        """`ends`: by topic and partition."""
        self._ends = ends
        self._ahead = dict(ends)

    @property
    def newest_ms(self) -> int:
        """World time of the newest record; zero in an empty log."""
        return max((end.published_ms for end in self._ends.values()), default=0)

    def holds(self, counts: Counts) -> bool:
        """Whether the log has so many of the world's records in each partition."""
        there = {place: end.sequence + 1 for place, end in self._ends.items()}
        return all(
            count <= there.get((topic, place), 0)
            for topic, partitions in counts.items()
            for place, count in enumerate(partitions)
        )

    def skip(self, counts: Counts) -> None:
        """Skip the records that the world has published already."""
        self._ahead = {
            (topic, place): end
            for (topic, place), end in self._ahead.items()
            if end.sequence >= counts[topic][place]
        }

    def select_missing(self, publications: list[Publication]) -> list[Publication]:
        """The publications that the log lacks.

        Raises OtherWorld if a partition's last record differs from this world's.
        """
        if not self._ahead:
            return publications
        return [publication for publication in publications if not self._has(publication)]

    def _has(self, publication: Publication) -> bool:
        where = publication.topic, publication.partition
        end = self._ahead.get(where)
        if end is None or publication.sequence > end.sequence:
            return False
        if publication.sequence == end.sequence:
            again = Published(
                publication.published_ms,
                publication.sequence,
                publication.key.encode(),
                wire.encode_value(publication),
            )
            if again != end:
                place = f"{publication.topic}/{publication.partition}, sequence {end.sequence}"
                raise OtherWorld(f"{again} as {place}", str(end))
            del self._ahead[where]
        return True


class Snapshots:
    """The last states of one world, one file each: a digest, and the pickled world after it.

    They only save time: without them, or with broken ones, the simulator computes the same world
    from its start. So does other code of this room, which need not fit a state of this one.
    """

    def __init__(self, folder: Path, world: str) -> None:
        """`world`: the parameters as text; files of another world are never read."""
        code = (file.read_bytes() for file in sorted(Path(__file__).parent.rglob("*.py")))
        self._folder = folder
        self._world = hashlib.sha256(b"".join([world.encode(), *code])).hexdigest()[:12]

    def save(self, world: "World") -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / f"{self._world}-{world.next_tick:010d}.pickle"
        draft, state = target.with_suffix(".new"), pickle.dumps(world)
        with draft.open("wb") as file:
            file.write(hashlib.sha256(state).digest() + state)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
        kept = self._list_files()[-SNAPSHOTS_MAX:]
        for file_old in set(self._folder.glob("*.pickle")) - set(kept):
            file_old.unlink()

    def find_newest(self, logged: Logged) -> "World | None":
        """The last state that is not ahead of the log; None if there is none."""
        for file in reversed(self._list_files()):
            content = file.read_bytes()
            digest, state = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
            if hashlib.sha256(state).digest() != digest:
                log.warning("%s is damaged; an earlier state is taken", file)
                continue
            world: World = pickle.loads(state)
            if logged.holds(world.counts):
                return world
        return None

    def _list_files(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self._world}-*.pickle"))


def find_last_published(
    settings: Settings,
    topics: list[str],
    header: str,
    is_own: Callable[[Message], bool] = lambda _: True,
) -> dict[Partition, Message]:
    """The last own record with the header, of each partition of the topics that has one.

    Others may publish to the same topics: their records do not have the simulator's headers. A
    record behind their open transactions is in the log, though nobody may read it yet.
    """
    client = create_admin(settings)
    starts, ends = read_start_offsets(client, topics), read_high_watermarks(client, topics)
    reader = create_consumer(
        settings, enable_partition_eof=True, isolation_level="read_uncommitted"
    )
    messages: dict[Partition, Message] = {}
    chunk_records = CHUNK_RECORDS
    try:
        while stretches := {
            partition: (max(starts[partition], end - chunk_records), end)
            for partition, end in ends.items()
            if partition not in messages and end > starts[partition]
        }:
            for message in _read_records(reader, stretches):
                if get_header(message, header) is not None and is_own(message):
                    messages[message.topic() or "", message.partition() or 0] = message
            ends = {partition: begin for partition, (begin, _) in stretches.items()}
            chunk_records = min(2 * chunk_records, CHUNK_RECORDS_MAX)
    finally:
        reader.close()
    return messages


def parse_published(message: Message) -> Published:
    _, timestamp_ms = message.timestamp()
    return Published(
        timestamp_ms,
        int.from_bytes(get_header(message, SEQUENCE) or b"", "big"),
        message.key() or b"",
        message.value() or b"",
    )


def is_numbered(message: Message) -> bool:
    """Whether the record has a number as the simulator writes it."""
    return len(get_header(message, SEQUENCE) or b"") == NUMBER_BYTES


def get_header(message: Message, name: str) -> bytes | None:
    value = dict(message.headers() or ()).get(name)
    return value if isinstance(value, bytes) else None


def _read_records(
    reader: Consumer, stretches: dict[Partition, tuple[int, int]]
) -> Iterator[Message]:
    """The records from a first offset to before the last, in order within a partition.

    Raises UserError.
    """
    ends = {partition: end for partition, (_, end) in stretches.items()}
    places = [TopicPartition(*partition, begin) for partition, (begin, _) in stretches.items()]
    reader.assign(places)
    try:
        yield from read_assigned(reader, ends, IDLE_SECONDS_MAX)
    except TimeoutError as error:
        raise UserError(
            f"The ends of the log should come within {IDLE_SECONDS_MAX:g} s, "
            f"but do not: {stretches}. See what the broker does: make logs COMPONENT=broker"
        ) from error
