"""What the gate reads, as the simulator, a reorder generation and its promotion would write it."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from contracts import (
    GENERATIONS,
    HEARTBEATS,
    MARKERS,
    POSITION_CHANGES,
    PROPOSALS,
    PURCHASE_ORDERS,
    Contract,
    decode,
    encode,
    encode_key,
)
from infra.kafka import apply_topics, create_admin, read_end_offsets, read_high_watermarks, send
from infra.settings import Settings
from infra.wait import wait_until
from ops.verify.log import read
from tests.brokers import get_producer
from tests.services.writing import list_positions

DAY_MS = 86_400_000
FIRST_REVIEW_MS = round(datetime(2026, 3, 3, tzinfo=UTC).timestamp() * 1000)
MINUTE_MS = 60_000
VIEWS = (PROPOSALS, POSITION_CHANGES)


def name_topic(generation: int, view: Contract = PROPOSALS) -> str:
    return f"{view.name}.g{generation}"


def find_review_ms(number: int) -> int:
    return FIRST_REVIEW_MS + number * DAY_MS


class Reordering:
    """Rows of generations, in a log of their own."""

    def __init__(self, kafka: Settings) -> None:
        self._kafka = kafka
        self._producer = get_producer(kafka)

    def promote(self, number: int, views: Sequence[Contract] = VIEWS) -> None:
        topics = {view: name_topic(number, view) for view in views}
        apply_topics(self._kafka, {topic: view for view, topic in topics.items()})
        example = GENERATIONS.examples[0]
        of_one = {**example["generations"][0], "number": number}
        of_one["outputs"] = [{"view": view.name, "topic": topic} for view, topic in topics.items()]
        record = {"pipeline": "reorder", "promoted": number, "generations": [of_one]}
        self._send(
            GENERATIONS.name, encode_key(GENERATIONS, record), encode(GENERATIONS, record), 0
        )

    def propose(self, generation: int, review: int, moved: dict[str, int], **fields: Any) -> None:
        """Of one store: by sku, how far its position moved in the minute before the review."""
        for sku, units in moved.items():
            row = {"review_at": find_review_ms(review), "review_days": 1, **fields}
            self._write(generation, PROPOSALS, {"sku": sku, "moved_units": units, **row})
        self.change(generation, find_review_ms(review), moved)

    def change(self, generation: int, changed_ms: int, moved: dict[str, int]) -> None:
        """Of one store: by sku, how far its position moved in a minute."""
        for sku, units in moved.items():
            row = {"sku": sku, "moved_units": units, "changed_at": changed_ms}
            self._write(generation, POSITION_CHANGES, row)

    def delete(self, generation: int, changed_ms: int, sku: str) -> None:
        """As the pipeline does with a row whose retention is over."""
        row = {**POSITION_CHANGES.examples[0], "sku": sku, "changed_at": changed_ms}
        topic = name_topic(generation, POSITION_CHANGES)
        self._producer.produce(topic, key=encode_key(POSITION_CHANGES, row), value=None)
        assert self._producer.flush(30) == 0

    def beat(self, review: int) -> None:
        """The world comes to the review, and two minutes further."""
        for minutes in (1, 2):
            self.beat_at(find_review_ms(review) + minutes * MINUTE_MS)

    def beat_at(self, at_ms: int) -> None:
        event = {"event_id": f"beat-{at_ms}", "event_time": at_ms, "world": "world"}
        self._send(HEARTBEATS.name, encode_key(HEARTBEATS, event), encode(HEARTBEATS, event), at_ms)

    def mark(self, generation: int, behind: int = 0, views: Sequence[Contract] = VIEWS) -> None:
        """Mark that the generation has read all heartbeats but so many, and written its rows."""
        inputs = read_end_offsets(create_admin(self._kafka), [HEARTBEATS.name])
        marker = {
            "pipeline": "reorder",
            "generation": generation,
            "batch": 1,
            "inputs": list_positions(
                {partition: end - behind for partition, end in inputs.items()}
            ),
            "outputs": list_positions(
                read_end_offsets(
                    create_admin(self._kafka),
                    [name_topic(generation, view) for view in views],
                )
            ),
            "written_at": find_review_ms(0),
        }
        self._send(MARKERS.name, encode_key(MARKERS, marker), encode(MARKERS, marker), 0)

    def review(self, generation: int, number: int, moved: dict[str, int]) -> None:
        """All of it, to the end."""
        self.propose(generation, number, moved)
        self.beat(number)
        self.mark(generation)

    def orders(self) -> list[dict[str, Any]]:
        """Every purchase order that is committed."""
        client, topics = create_admin(self._kafka), [PURCHASE_ORDERS.name]
        written = read_high_watermarks(client, topics)
        ends = written

        def is_readable() -> bool:
            """The mark of a commit may be written after `written` was read, and is above it."""
            nonlocal ends
            ends = read_end_offsets(client, topics)
            return all(ends[partition] >= end for partition, end in written.items())

        wait_until(is_readable, "no transaction is open")
        return [dict(decode(record.value).value) for record in read(self._kafka, ends)]

    def by_review(self) -> dict[int, Counter[str]]:
        """How often each sku was ordered, by the number of the review."""
        counts: dict[int, Counter[str]] = {}
        for order in self.orders():
            at_ms = round(order["review_at"].timestamp() * 1000)
            number = (at_ms - FIRST_REVIEW_MS) // DAY_MS
            counts.setdefault(number, Counter())[order["sku"]] += 1
        return counts

    def _write(self, generation: int, view: Contract, fields: dict[str, Any]) -> None:
        row = {**view.examples[0], **fields}
        self._send(name_topic(generation, view), encode_key(view, row), encode(view, row), 0)

    def _send(self, to: str, record_key: bytes, value: bytes, at_ms: int) -> None:
        send(self._producer, to, record_key, value, timestamp_ms=at_ms)
