"""What the inventory pipeline writes, record by record, so that a test can tell its story."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol
from zlib import crc32

from contracts import (
    ADJUSTMENTS,
    ALERTS,
    BOOKS,
    GENERATIONS,
    MARKERS,
    RECEIPTS,
    STOCK_LEVELS,
    Contract,
    encode,
    encode_key,
)
from infra.kafka import Offsets, Partition

MORNING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
PARTITIONS = STOCK_LEVELS.settings.partitions
INPUT_PARTITIONS = 4


class Log(Protocol):
    """Where the records go: memory or Kafka."""

    def make(self, topic: str, partitions: int) -> None: ...

    def publish(
        self, partition: Partition, key: bytes, value: bytes | None, published_ms: int = 0
    ) -> int: ...

    def ends(self, topics: Iterable[str]) -> dict[Partition, int]: ...


class Writing:
    """One generation at work: rows, books, markers."""

    def __init__(
        self,
        log: Log,
        generation: int = 1,
        pipeline: str = "inventory",
        views: Sequence[Contract] = (STOCK_LEVELS,),
    ) -> None:
        self.pipeline = pipeline
        self.generation = generation
        self.topics = {view.name: f"{view.name}.g{generation}" for view in views}
        self.topic = next(iter(self.topics.values()))
        self.read: dict[Partition, int] = {
            (topic, partition): 0
            for topic in (ADJUSTMENTS.name, RECEIPTS.name)
            for partition in range(INPUT_PARTITIONS)
        }
        self.gaps: dict[Partition, int] = {}
        """How many of the offsets read hold no record: ends of transactions, aborted records."""
        self._name = {"pipeline": pipeline, "generation": generation}
        self._log = log
        self._batch = -1
        for topic in self.topics.values():
            log.make(topic, PARTITIONS)

    @property
    def outputs(self) -> dict[str, str]:
        return {**self.topics, BOOKS.name: BOOKS.name}

    def put(self, view: Contract, **changes: Any) -> None:
        """A row of any view: its contract's example, changed."""
        value = {**view.examples[0], **changes}
        encoded = encode_key(view, value)
        partition = (self.topics[view.name], crc32(encoded) % PARTITIONS)
        self._log.publish(partition, encoded, encode(view, value))

    def row(self, store: int, sku: str, units: int, version: int = 1) -> None:
        """A shelf of store S00n: what it holds after so many events."""
        value = create_shelf(store, sku, units, version)
        partition = (self.topic, store % PARTITIONS)
        self._log.publish(partition, encode_key(STOCK_LEVELS, value), encode(STOCK_LEVELS, value))

    def rows(self, store: int, skus: Iterable[str], units: int) -> None:
        """Shelves of store S00n, which all hold the same."""
        for sku in skus:
            self.row(store, sku, units)

    def book(self, partition: Partition, applied: int, quarantined: int) -> None:
        place = {"topic": partition[0], "partition": partition[1], "published_max": MORNING}
        counts = {"applied": applied, "quarantined": quarantined, "version": applied + quarantined}
        publish(self._log, BOOKS, self._name | place | counts)

    def mark(self, **read: int) -> int:
        """End the batch: all that was written so far belongs to it. Returns its number.

        `sold` and `adjusted` are more input records read, from partition 0 of their topic.
        """
        self.read[RECEIPTS.name, 0] += read.get("sold", 0)
        self.read[ADJUSTMENTS.name, 0] += read.get("adjusted", 0)
        self._batch += 1
        self.mark_again(self._batch)
        return self._batch

    def mark_again(self, batch: int, outputs: Offsets | None = None, **effort: int) -> None:
        """Write the marker of this batch, as of now or of the outputs' ends given.

        `took_ms` and `state_bytes` are what the batch took. It is in the log on return.
        """
        ends = outputs or self._log.ends(self.outputs.values())
        value = {
            **self._name,
            "batch": batch,
            "inputs": [
                {**place, "records": self.read[partition] - self.gaps.get(partition, 0)}
                for place, partition in zip(
                    list_positions(self.read), sorted(self.read), strict=True
                )
            ],
            "outputs": list_positions(ends),
            "written_at": MORNING,
            **effort,
        }
        publish(self._log, MARKERS, value)
        self._log.ends([MARKERS.name])


def publish(log: Log, contract: Contract, value: Mapping[str, Any], published_ms: int = 0) -> None:
    """Append a row of a topic with one partition."""
    key, encoded = encode_key(contract, value), encode(contract, value)
    log.publish((contract.name, 0), key, encoded, published_ms)


def all_on_time(**measures: int) -> dict[str, int]:
    """The fields of a window in which nothing was late."""
    return {**measures, **{f"{name}_on_time": value for name, value in measures.items()}}


def promote(log: Log, promoted: Writing, *others: Writing) -> None:
    """The control record that names the promoted generation among those there are."""
    _publish_control(log, (promoted, *others), promoted)


def promote_fraud(log: Log) -> None:
    """The fraud pipeline with generation 1, which is promoted, and generation 2, its candidate."""
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    candidate = Writing(log, generation=2, pipeline="fraud", views=(ALERTS,))
    fraud.mark()
    candidate.mark(sold=3)
    promote(log, fraud, candidate)


def invalidate(log: Log, invalid: Writing, reason: str, promoted: Writing | None = None) -> None:
    """The control record that says why a generation may not be trusted, and which one is read."""
    _publish_control(log, (invalid, promoted) if promoted else (invalid,), promoted, reason)


def prune(log: Log, pipeline: str) -> None:
    """The end of a pipeline in the control topic."""
    log.publish((GENERATIONS.name, 0), encode_key(GENERATIONS, {"pipeline": pipeline}), None)


def _publish_control(
    log: Log, every: Sequence[Writing], promoted: Writing | None, reason: str | None = None
) -> None:
    other = "invalid" if reason else "ready"
    value = {
        "pipeline": every[0].pipeline,
        "promoted": promoted.generation if promoted else None,
        "newest": max(each.generation for each in every),
        "generations": [
            {
                "number": each.generation,
                "state": "promoted" if each is promoted else other,
                "reason": reason,
                "code_digest": "9f31c0",
                "state_partitions": 2 if each is promoted else None,
                "created_at": MORNING,
                "outputs": [{"view": view, "topic": topic} for view, topic in each.outputs.items()],
            }
            for each in sorted(every, key=lambda writing: writing.generation)
        ],
    }
    publish(log, GENERATIONS, value)


def create_shelf(store: int, sku: str, units: int, version: int = 1) -> dict[str, Any]:
    unmoved = ("units_sold", "units_refunded", "units_received", "units_in_transit")
    return {
        "store_id": f"S{store:03}",
        "sku": sku,
        "units_on_hand": units,
        "units_adjusted": units,
        **dict.fromkeys(unmoved, 0),
        "first_event_time": MORNING,
        "last_event_time": MORNING,
        "version": version,
    }


def list_positions(offsets: Offsets) -> list[dict[str, str | int]]:
    return [
        {"topic": topic, "partition": partition, "offset": offset}
        for (topic, partition), offset in sorted(offsets.items())
    ]
