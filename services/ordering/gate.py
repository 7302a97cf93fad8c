"""The gate: minute by minute it waits until every event is known, decides, and orders once.

It answers every minute in turn, however late; after more than a day, that of the last day. The
orders of a minute and the note that it is answered are one transaction.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Event
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from contracts import (
    HEARTBEATS,
    POSITION_CHANGES,
    PROPOSALS,
    PURCHASE_ORDERS,
    Contract,
    Row,
    encode,
    encode_key,
)
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from infra.errors import UserError
from infra.kafka import (
    Offsets,
    create_admin,
    create_consumer,
    create_producer,
    fetch_committed,
    read_between,
    read_end_offsets,
    read_high_watermarks,
)
from infra.settings import Settings
from ops.control.reading import Reader
from ops.control.world_clock import read_beat_ms
from ops.generations.marker import Marker, read_marker
from ops.generations.record import Generation, read_generations
from services import liveness
from services.ordering.decision import DAY_MS, KEPT_MS, Level, Order, Positions, Shelf

PIPELINE = "reorder"
MINUTE_MS = 60_000
SETTLE_MS = MINUTE_MS
"""World time after a minute in which a till whose clock is slow may still publish into it."""
LOOK_SECONDS = 1.0
GROUP = "ordering"
TRANSACTIONAL_ID = "ordering"
"""A fixed id, so that the next gate fences the last one."""
ANSWER_SECONDS_MAX = 30.0
TRANSACTION_MS_MAX = 30_000
BEATS = (HEARTBEATS.name, 0)
"""The partition whose commit notes the minute: it exists whichever generation is promoted."""

READER = Reader(create_reader("ordering"))

log = logging.getLogger("ordering")


class Due(NamedTuple):
    """A minute to answer, and where the log ended when it was first seen to be over.

    Record timestamps do not say which records are from before a minute's end: one of another time
    would stand for all that follow. A heartbeat does: all earlier records precede it.
    """

    minute_ms: int
    ends: Offsets

    def is_covered(self, marker: Marker) -> bool:
        """Whether the marker covers every record from before the minute's end."""
        return all(marker.inputs.get(partition, 0) >= end for partition, end in self.ends.items())


class Rows:
    """The good rows of topics, each of them once."""

    def __init__(self, settings: Settings, contract: Contract) -> None:
        self._settings = settings
        self._contract = contract
        self._read: Offsets = {}

    def read_new(self, ends: Offsets) -> Iterator[Row]:
        """The rows below these ends that were not read before. Raises as `read_between`.

        A row that is deleted since its retention is over says nothing new.
        """
        for message in read_between(self._settings, self._read, ends):
            is_deleted = message.value() is None
            row = None if is_deleted else READER.read_message(self._contract, message)
            if row is not None:
                yield row
        self._read = ends


class Answers:
    """The orders called for by one generation's rows, after a minute that was answered."""

    def __init__(self, settings: Settings, generation: Generation, answered_ms: int) -> None:
        """Raises UserError for a generation whose rows do not say what moved by minute."""
        if POSITION_CHANGES.name not in generation.outputs:
            raise UserError(
                f"{generation} should write {POSITION_CHANGES.name}, but was made by older code. "
                f"Let the present code make one: make replay PIPELINE={PIPELINE}"
            )
        self.generation = generation
        self.positions = Positions(answered_ms)
        self._client = create_admin(settings)
        self._rows = {
            contract: Rows(settings, contract)
            for contract in (PROPOSALS, POSITION_CHANGES, PURCHASE_ORDERS)
        }
        self.given: dict[str, int] = {}
        """The orders of the last KEPT_MS, by id: the minute that each answers."""

    def take_until(self, marker: Marker) -> bool:
        """Take the rows below the marker, and every order; False while an order may be unknown.

        A transaction is committed a little before anyone can read its records: without the last
        orders, the same units would be ordered again.
        """
        written = read_high_watermarks(self._client, [PURCHASE_ORDERS.name])
        ends = read_end_offsets(self._client, [PURCHASE_ORDERS.name])
        if any(ends[partition] < end for partition, end in written.items()):
            return False
        for row in self._rows[PROPOSALS].read_new(self._select(marker, PROPOSALS)):
            level = read_review(row)
            self.positions.take_review(read_shelf(row), row["moved_units"], level)
        for row in self._rows[POSITION_CHANGES].read_new(self._select(marker, POSITION_CHANGES)):
            opened = row["order_up_to_units"] is not None
            self.positions.take_change(
                read_shelf(row),
                to_epoch_ms(row["changed_at"]),
                row["moved_units"],
                read_level(row, row["changed_at"], 0) if opened else None,
            )
        for row in self._rows[PURCHASE_ORDERS].read_new(ends):
            order_id, moment_ms = row["purchase_order_id"], to_epoch_ms(row["review_at"])
            if order_id not in self.given:
                self.given[order_id] = moment_ms
                self.positions.take_order(read_shelf(row), row["units"])
        self._forget_given()  # all of its own were read again
        return True

    def answer(self, minute_ms: int) -> list[Order]:
        """The orders until this minute that nobody has given; they count as given then."""
        orders = self.positions.answer(minute_ms)
        new = {order.order_id: order for order in orders if order.order_id not in self.given}
        self.given |= {order_id: order.moment_ms for order_id, order in new.items()}
        self.positions.forget()
        return [*new.values()]

    def _forget_given(self) -> None:
        forgotten_ms = self.positions.answered_ms - KEPT_MS
        self.given = {
            order_id: minute_ms
            for order_id, minute_ms in self.given.items()
            if minute_ms > forgotten_ms
        }

    def _select(self, marker: Marker, view: Contract) -> Offsets:
        topic = self.generation.outputs[view.name]
        return {
            partition: end for partition, end in marker.outputs.items() if partition[0] == topic
        }


def find_due_ms(beat_ms: int) -> int:
    """The newest minute that is over for long enough, by the newest heartbeat."""
    return (beat_ms - SETTLE_MS) // MINUTE_MS * MINUTE_MS


def read_shelf(row: Row) -> Shelf:
    return Shelf(row["store_id"], row["sku"])


def read_level(row: Row, since: Any, review_days: int | None) -> Level:
    """The levels in a row of a view. The oldest reviews do not say how often shelves are looked
    at: once a day.
    """
    return Level(
        to_epoch_ms(since),
        row["reorder_point_units"],
        row["order_up_to_units"],
        row["pack_size_units"],
        row["lead_time_days"],
        row["lead_time_hours"] or 0,
        row["measure"],
        1 if review_days is None else review_days,
    )


def read_review(row: Row) -> Level:
    """The levels in a row of a review. The oldest ones have one point for the day."""
    level = read_level(row, row["review_at"], row["review_days"])
    return replace(level, points=tuple(point["units"] for point in row["reorder_points"] or ()))


class OrderPublisher:
    """A transactional producer of orders; a later one fences it."""

    def __init__(self, settings: Settings) -> None:
        """Abort the open transaction of an earlier gate, and fence that gate."""
        self._consumer: Consumer = create_consumer(settings, GROUP)
        self._producer: Producer = create_producer(
            settings, transactional_id=TRANSACTIONAL_ID, transaction_timeout_ms=TRANSACTION_MS_MAX
        )
        self._producer.init_transactions(ANSWER_SECONDS_MAX)

    def find_answered_ms(self) -> int:
        """The last answered minute, in epoch ms; 0: none. Raises TimeoutError."""
        [noted] = fetch_committed(self._consumer, GROUP, [BEATS])
        return int(noted.metadata or 0)

    def publish(self, orders: Sequence[Order], minute_ms: int, now_ms: int) -> None:
        """Publish orders, and note the minute until which they answer all.

        Raises UserError and KafkaException; this publisher is then unusable.
        """
        try:
            self._producer.begin_transaction()
            self._send(orders, now_ms)
            self._note(minute_ms)
            self._producer.commit_transaction(ANSWER_SECONDS_MAX)
        except KafkaException as error:
            if error.args[0].fatal():
                raise UserError(
                    "Only one gate may order at a time, and another one has begun since, or the "
                    "broker that kept this one's transaction has gone. This gate publishes no more "
                    "orders; whatever supervises it starts it again. See what runs: make status"
                ) from error
            raise

    def close(self) -> None:
        self._consumer.close()

    def _send(self, orders: Sequence[Order], now_ms: int) -> None:
        for order in orders:
            row = {
                "purchase_order_id": order.order_id,
                "ordered_at": now_ms,
                "review_at": order.moment_ms,
                "store_id": order.shelf.store_id,
                "sku": order.shelf.sku,
                "units": order.units,
                "pack_size_units": order.level.pack_size_units,
                "lead_time_days": order.level.lead_time_days,
                "lead_time_hours": order.level.lead_time_hours,
            }
            self._producer.produce(
                PURCHASE_ORDERS.name,
                key=encode_key(PURCHASE_ORDERS, row),
                value=encode(PURCHASE_ORDERS, row),
                timestamp=now_ms,
            )
            self._producer.poll(0)

    def _note(self, minute_ms: int) -> None:
        self._producer.send_offsets_to_transaction(
            [TopicPartition(*BEATS, 0, metadata=str(minute_ms))],
            self._consumer.consumer_group_metadata(),
            ANSWER_SECONDS_MAX,
        )


class Gate:
    """Answers due minutes for the promoted generation."""

    def __init__(self, settings: Settings, publisher: OrderPublisher) -> None:
        self._settings = settings
        self._publisher = publisher
        self._answered_ms = publisher.find_answered_ms()
        self._due: Due | None = None
        self._answers: Answers | None = None

    def look(self) -> None:
        """Answer the due minute if every event and every order is known. Raises as Answers."""
        beat_ms = read_beat_ms(self._settings)
        if beat_ms is None or (self._due is None and find_due_ms(beat_ms) <= self._answered_ms):
            return
        generations = read_generations(self._settings, READER).get(PIPELINE)
        generation = generations and generations.promoted
        marker = generation and read_marker(self._settings, PIPELINE, generation.number, READER)
        if not generation or not marker:
            return
        due = self._due = self._due or self._begin(find_due_ms(beat_ms), marker)
        if not due.is_covered(marker):
            return
        answers = self._find_answers(generation, due)
        if not answers.take_until(marker):
            return
        if answers.positions.is_outdated:
            self._answers = None  # the next look takes every row again
            return
        orders = answers.answer(due.minute_ms)
        self._publisher.publish(orders, due.minute_ms, beat_ms)
        self._answered_ms, self._due = due.minute_ms, None
        if orders:
            log.info("%d orders, by the levels of g%d", len(orders), generation.number)

    def _begin(self, minute_ms: int, marker: Marker) -> Due:
        topics = {topic for topic, _ in marker.inputs}
        return Due(minute_ms, read_end_offsets(create_admin(self._settings), topics))

    def _find_answers(self, generation: Generation, due: Due) -> Answers:
        if self._answers is None or self._answers.generation.number != generation.number:
            since_ms = max(self._answered_ms, due.minute_ms - DAY_MS)
            self._answers = Answers(self._settings, generation, since_ms)
        return self._answers


def keep_gate(settings: Settings, stop: Event) -> None:
    """Order until `stop` is set. Raises UserError, TimeoutError and KafkaException."""
    publisher = OrderPublisher(settings)
    try:
        gate = Gate(settings, publisher)
        liveness.report_start(settings, "ordering")
        while not stop.is_set():
            gate.look()
            stop.wait(LOOK_SECONDS)
    finally:
        publisher.close()
