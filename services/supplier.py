"""The supplier: it confirms every purchase order once, and may deliver late or short.

Confirmation and offset are one transaction. Several processes share the stores.
"""

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from socket import gethostname
from threading import Event

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, Row, encode, encode_key
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from contracts.validation import Rejection
from infra.errors import UserError
from infra.kafka import create_admin, create_consumer, create_producer, read_end_offsets
from infra.settings import Settings
from ops.control.reading import Reader, read_rows
from services import liveness
from services.process import run

GROUP = "supplier"
TRANSACTIONAL_ID = f"supplier-{gethostname()}"
"""One per machine: the next supplier here aborts the open transaction of the last one."""
ORDERS_PER_BATCH_MAX = 1_000
BATCH_SECONDS = 0.5
ANSWER_SECONDS_MAX = 30.0
TRANSACTION_MS_MAX = 30_000
LAST_ORDERED_AT = datetime(9998, 1, 1, tzinfo=UTC)
"""No calendar has the time at which a later order arrives."""
SESSION_MS_MAX = 10_000
"""How long the partitions of a killed supplier wait for another one."""

log = logging.getLogger("supplier")
READER = Reader(create_reader("supplier"))


def confirm_orders(settings: Settings, stop: Event) -> None:
    """Confirm the orders of this process's share of the partitions until `stop` is set.

    Raises UserError, TimeoutError and KafkaException.
    """
    client = create_producer(
        settings, transactional_id=TRANSACTIONAL_ID, transaction_timeout_ms=TRANSACTION_MS_MAX
    )
    client.init_transactions(ANSWER_SECONDS_MAX)
    confirmed: set[str] = set()

    def take_over(_: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Read the confirmations of others, after their open transactions have ended."""
        ends = read_end_offsets(create_admin(settings), [CONFIRMATIONS.name])
        for row in read_rows(settings, READER, CONFIRMATIONS, ends):
            confirmed.add(row["purchase_order_id"])
        log.info("%d partitions, %d orders confirmed so far", len(partitions), len(confirmed))

    following = create_consumer(settings, GROUP, session_timeout_ms=SESSION_MS_MAX)
    following.subscribe([PURCHASE_ORDERS.name], on_assign=take_over)
    liveness.report_start(settings, "supplier")
    try:
        while not stop.is_set():
            batch = read_batch(following)
            if batch:
                orders = filter(None, map(read_order, batch))
                new = [order for order in orders if order["purchase_order_id"] not in confirmed]
                unique = {order["purchase_order_id"]: order for order in new}
                publish_confirmations(settings, client, following, list(unique.values()), batch)
                confirmed |= unique.keys()
                log.info("%d of %d orders confirmed", len(unique), len(batch))
    finally:
        following.close()


def read_batch(following: Consumer) -> Sequence[Message]:
    orders = []
    for message in following.consume(ORDERS_PER_BATCH_MAX, timeout=BATCH_SECONDS):
        error = message.error()
        if error is None:
            orders.append(message)
        elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(error)
    return orders


def read_order(message: Message) -> Row | None:
    """The order; None for a record that is set aside, or whose delivery no calendar has."""
    order = READER.read_message(PURCHASE_ORDERS, message)
    if order is None or order["ordered_at"] < LAST_ORDERED_AT:
        return order
    place = str(message.topic()), int(message.partition() or 0), int(message.offset() or 0)
    READER.set_aside(place, Rejection("beyond-calendar", f"ordered at {order['ordered_at']}"))
    return None


def publish_confirmations(
    settings: Settings,
    client: Producer,
    following: Consumer,
    orders: Sequence[Row],
    batch: Sequence[Message],
) -> None:
    """Publish the confirmations and commit the offsets of the batch, in one transaction."""
    try:
        client.begin_transaction()
        for order in orders:
            row = create_confirmation(order, settings.simulator_seed, Reliability())
            client.produce(
                CONFIRMATIONS.name,
                key=encode_key(CONFIRMATIONS, row),
                value=encode(CONFIRMATIONS, row),
                timestamp=max(to_epoch_ms(order["ordered_at"]), 1),  # 0 is the time of sending
            )
            client.poll(0)
        client.send_offsets_to_transaction(
            list_offsets(batch), following.consumer_group_metadata(), ANSWER_SECONDS_MAX
        )
        client.commit_transaction(ANSWER_SECONDS_MAX)
    except KafkaException as error:
        if error.args[0].fatal():
            raise UserError(
                "Only one supplier per machine may confirm orders, and another one has begun here "
                "since. This one confirms nothing more. See what runs: make status"
            ) from error
        if error.args[0].txn_requires_abort():
            client.abort_transaction(ANSWER_SECONDS_MAX)  # so that nobody waits for its timeout
        raise


def list_offsets(batch: Sequence[Message]) -> list[TopicPartition]:
    """Per partition, the offset after its last message."""
    after = {
        (str(message.topic()), int(message.partition() or 0)): int(message.offset() or 0) + 1
        for message in batch
    }
    return [TopicPartition(*partition, offset) for partition, offset in after.items()]


@dataclass(frozen=True)
class Reliability:
    """How reliably the supplier delivers."""

    packing: timedelta = timedelta(minutes=30)  # from the order to its dispatch
    late_share: float = 0.1  # one delivery in ten, as with the simulator's own vans
    late_max: timedelta = timedelta(hours=2)
    short_share: float = 0.04  # of the deliveries: some or all packs are missing


def create_confirmation(order: Row, seed: int, reliability: Reliability) -> Row:
    """The supplier's confirmation of an order."""
    draw = Random(f"{seed}/{order['purchase_order_id']}")
    late = draw.random() < reliability.late_share
    delay = reliability.late_max * draw.random() if late else timedelta()
    packs = order["units"] // order["pack_size_units"]
    short = draw.random() < reliability.short_share
    shipped = int(draw.random() * packs) if short else packs
    dispatches_at = order["ordered_at"] + reliability.packing
    lead_time = timedelta(days=order["lead_time_days"], hours=order["lead_time_hours"] or 0)
    promised_at = order["ordered_at"] + lead_time
    return {
        "purchase_order_id": order["purchase_order_id"],
        "store_id": order["store_id"],
        "sku": order["sku"],
        "ordered_units": order["units"],
        "shipped_units": shipped * order["pack_size_units"],
        "dispatches_at": dispatches_at,
        "arrives_at": max(promised_at, dispatches_at + reliability.packing) + delay,
    }


if __name__ == "__main__":
    sys.exit(run("supplier", confirm_orders))
