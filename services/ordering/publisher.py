"""Publishes a review's orders, and the note that the review is answered, in one transaction."""

from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from contracts import HEARTBEATS, PURCHASE_ORDERS, encode, encode_key
from infra.errors import UserError
from infra.kafka import Offsets, create_consumer, create_producer, fetch_committed
from infra.settings import Settings
from services.ordering.decision import Order

GROUP = "ordering"
TRANSACTIONAL_ID = "ordering"
"""A fixed id, so that the next gate fences the last one."""
ANSWER_SECONDS_MAX = 30.0
TRANSACTION_MS_MAX = 30_000
BEATS = TopicPartition(HEARTBEATS.name, 0)
"""The partition whose commit notes the review: it exists whichever generation is promoted."""


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
        [noted] = fetch_committed(self._consumer, GROUP, [(BEATS.topic, BEATS.partition)])
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
        places = [BEATS, *[TopicPartition(*at, offset) for at, offset in read.items()]]
        self._producer.send_offsets_to_transaction(
            [
                TopicPartition(at.topic, at.partition, max(at.offset, 0), metadata=str(review_ms))
                for at in places
            ],
            self._consumer.consumer_group_metadata(),
            ANSWER_SECONDS_MAX,
        )
