"""The gate: for each review it waits until every event is known, decides, and orders once.

It skips a missed review: the next review sees the same shelves and orders what they lack. The
orders of a review and the note that it is answered are one transaction.
"""

import logging
from collections.abc import Sequence
from threading import Event

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from contracts import HEARTBEATS, PROPOSALS, PURCHASE_ORDERS, encode, encode_key
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from infra.errors import UserError
from infra.kafka import (
    Offsets,
    create_admin,
    create_consumer,
    create_producer,
    fetch_committed,
    read_end_offsets,
    read_high_watermarks,
)
from infra.settings import Settings
from ops.control.reading import Reader, read_rows
from ops.control.world_clock import read_beat_ms
from ops.generations.marker import Marker, read_marker
from ops.generations.record import read_generations
from services import liveness
from services.ordering.decision import Limits, Order, Proposal, Shelf, decide

PIPELINE = "reorder"
DAY_MS = 86_400_000
LOOK_SECONDS = 1.0
GROUP = "ordering"
TRANSACTIONAL_ID = "ordering"
"""A fixed id, so that the next gate fences the last one."""
ANSWER_SECONDS_MAX = 30.0
TRANSACTION_MS_MAX = 30_000
BEATS = (HEARTBEATS.name, 0)
"""The partition whose commit notes the review: it exists whichever generation is promoted."""

READER = Reader(create_reader("ordering"))

log = logging.getLogger("ordering")


class Reviews:
    """Where the log ended when the newest review was first seen to be due.

    Record timestamps do not say which records are from before a review: one of another time would
    stand for all that follow. A heartbeat does: all earlier records precede it.
    """

    def __init__(self, settings: Settings) -> None:
        self._client = create_admin(settings)
        self._review_ms = 0
        self._ends: Offsets = {}

    def is_covered(self, marker: Marker, review_ms: int) -> bool:
        """Whether the marker covers every record from before the review, which is due."""
        if review_ms != self._review_ms:
            topics = {topic for topic, _ in marker.inputs}
            self._ends, self._review_ms = read_end_offsets(self._client, topics), review_ms
        return all(marker.inputs.get(partition, 0) >= end for partition, end in self._ends.items())


def read_proposals(settings: Settings, ends: Offsets) -> list[Proposal]:
    """The newest proposal of each key, up to these ends of the changelog."""
    newest: dict[tuple[Shelf, int], tuple[int, Proposal]] = {}
    for row in read_rows(settings, READER, PROPOSALS, ends):
        shelf, review_ms = Shelf(row["store_id"], row["sku"]), to_epoch_ms(row["review_at"])
        kept = newest.get((shelf, review_ms))
        if kept is None or row["version"] >= kept[0]:
            newest[shelf, review_ms] = (
                row["version"],
                Proposal(
                    shelf,
                    review_ms,
                    row["moved_units"],
                    row["reorder_point_units"],
                    row["order_up_to_units"],
                    row["pack_size_units"],
                    row["lead_time_days"],
                    row["measure"],
                ),
            )
    return [proposal for _, proposal in newest.values()]


def read_orders(settings: Settings) -> list[tuple[str, Shelf, int, int]] | None:
    """Id, shelf, review and units of every purchase order; None while a transaction is open there.

    A transaction is committed a little before anyone can read its records: without the orders of
    the last review, the next would order the same units again.
    """
    client, topics = create_admin(settings), [PURCHASE_ORDERS.name]
    written, ends = read_high_watermarks(client, topics), read_end_offsets(client, topics)
    if any(ends[partition] < end for partition, end in written.items()):
        return None
    return [
        (
            row["purchase_order_id"],
            Shelf(row["store_id"], row["sku"]),
            to_epoch_ms(row["review_at"]),
            row["units"],
        )
        for row in read_rows(settings, READER, PURCHASE_ORDERS, ends)
    ]


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
        """The last answered review, in epoch ms; 0: none. Raises TimeoutError."""
        [noted] = fetch_committed(self._consumer, GROUP, [BEATS])
        return int(noted.metadata or 0)

    def publish(self, orders: Sequence[Order], review_ms: int, now_ms: int, read: Offsets) -> None:
        """Publish orders, and note the review that they answer and the offsets read for it.

        Raises UserError and KafkaException; this publisher is then unusable.
        """
        try:
            self._producer.begin_transaction()
            self._send(orders, now_ms)
            self._note(review_ms, read)
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
                "review_at": order.review_ms,
                "store_id": order.shelf.store_id,
                "sku": order.shelf.sku,
                "units": order.units,
                "pack_size_units": order.pack_size_units,
                "lead_time_days": order.lead_time_days,
            }
            self._producer.produce(
                PURCHASE_ORDERS.name,
                key=encode_key(PURCHASE_ORDERS, row),
                value=encode(PURCHASE_ORDERS, row),
                timestamp=now_ms,
            )
            self._producer.poll(0)

    def _note(self, review_ms: int, read: Offsets) -> None:
        self._producer.send_offsets_to_transaction(
            [
                TopicPartition(*partition, offset, metadata=str(review_ms))
                for partition, offset in {BEATS: 0, **read}.items()
            ],
            self._consumer.consumer_group_metadata(),
            ANSWER_SECONDS_MAX,
        )


def keep_gate(settings: Settings, stop: Event) -> None:
    """Order until `stop` is set. Raises UserError, TimeoutError and KafkaException."""
    reviews, publisher = Reviews(settings), OrderPublisher(settings)
    try:
        answered_ms = publisher.find_answered_ms()
        liveness.report_start(settings, "ordering")
        while not stop.is_set():
            answered_ms = answer_review(settings, reviews, publisher, answered_ms)
            stop.wait(LOOK_SECONDS)
    finally:
        publisher.close()


def answer_review(
    settings: Settings, reviews: Reviews, publisher: OrderPublisher, answered_ms: int
) -> int:
    """Answer the newest review if every event and every order is known.

    Returns the last answered review.
    """
    now_ms = read_beat_ms(settings)  # world time by heartbeats
    if now_ms is None or (review_ms := now_ms // DAY_MS * DAY_MS) <= answered_ms:
        return answered_ms
    generations = read_generations(settings, READER).get(PIPELINE)
    generation = generations and generations.promoted
    marker = generation and read_marker(settings, PIPELINE, generation.number, READER)
    if not generation or not marker or not reviews.is_covered(marker, review_ms):
        return answered_ms
    topic = generation.outputs[PROPOSALS.name]
    read = {partition: end for partition, end in marker.outputs.items() if partition[0] == topic}
    placed = read_orders(settings)
    if placed is None:
        return answered_ms
    ordered = [(shelf, at_ms, units) for _, shelf, at_ms, units in placed]
    wanted = decide(review_ms, read_proposals(settings, read), ordered, Limits())
    published = {order_id for order_id, *_ in placed}  # by any gate
    orders = [order for order in wanted if order.order_id not in published]
    publisher.publish(orders, review_ms, now_ms, read)
    log.info(
        "%d of %d orders let through, proposed by g%d", len(orders), len(wanted), generation.number
    )
    return review_ms
