"""Reading purchase orders and confirming each once: the answer and its place in one transaction."""

import logging
from collections.abc import Mapping, Sequence
from socket import gethostname
from threading import Event
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, encode, key
from contracts.consumer import reader
from infra.errors import Trouble
from infra.kafka import admin, committed_ends, consumer, producer, read_all
from infra.settings import Settings
from services import sign
from services.supplier.shipping import Reliability, confirmation

GROUP = "supplier"
TRANSACTIONAL_ID = f"supplier-{gethostname()}"
"""Of the supplier on this machine: the next one here ends what the last one has left open."""
ORDERS_PER_BATCH_MAX = 1_000
BATCH_SECONDS = 0.5
ANSWER_SECONDS_MAX = 30.0
TRANSACTION_MS_MAX = 30_000
SESSION_MS_MAX = 10_000
"""How long the orders of a supplier that was killed wait for the next one."""

log = logging.getLogger("supplier")
decode = reader("supplier")


class Replaced(Trouble):
    """Another supplier has begun since."""

    def __init__(self) -> None:
        super().__init__(
            "One supplier on a machine may confirm, and another one has begun here since: this "
            "one has confirmed nothing more. See what runs: make status"
        )


def obey(settings: Settings, stop: Event) -> None:
    """Confirm the orders of its share of the partitions until told to stop.

    Raises Replaced, TimeoutError and KafkaException.
    """
    client = producer(
        settings, transactional_id=TRANSACTIONAL_ID, transaction_timeout_ms=TRANSACTION_MS_MAX
    )
    client.init_transactions(ANSWER_SECONDS_MAX)
    obeyed: set[str] = set()

    def take_over(_: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Learn what others have obeyed; what they leave open is not read before it is decided."""
        obeyed.update(confirmed(settings))
        log.info("%d partitions, %d orders obeyed so far", len(partitions), len(obeyed))

    following = consumer(settings, GROUP, session_timeout_ms=SESSION_MS_MAX)
    following.subscribe([PURCHASE_ORDERS.name], on_assign=take_over)
    sign.give(settings, "supplier")
    try:
        while not stop.is_set():
            batch = read(following)
            if batch:
                new = [one for one in map(order, batch) if one["purchase_order_id"] not in obeyed]
                unique = {one["purchase_order_id"]: one for one in new}
                confirm(settings, client, following, list(unique.values()), batch)
                obeyed |= unique.keys()
                log.info("%d of %d orders confirmed", len(unique), len(batch))
    finally:
        following.close()


def confirmed(settings: Settings) -> set[str]:
    """The ids of all orders that are confirmed by now, whoever did it."""
    ends = committed_ends(admin(settings), [CONFIRMATIONS.name])
    found = read_all(settings, CONFIRMATIONS.name, ends)
    return {decode(value).value["purchase_order_id"] for value in found}


def read(following: Consumer) -> Sequence[Message]:
    found = []
    for message in following.consume(ORDERS_PER_BATCH_MAX, timeout=BATCH_SECONDS):
        error = message.error()
        if error is None:
            found.append(message)
        elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(error)
    return found


def order(message: Message) -> Mapping[str, Any]:
    return decode(message.value() or b"").value


def confirm(
    settings: Settings,
    client: Producer,
    following: Consumer,
    orders: Sequence[Mapping[str, Any]],
    batch: Sequence[Message],
) -> None:
    """Publish the answers, and that the batch is read: both, or neither."""
    try:
        client.begin_transaction()
        for one in orders:
            row = confirmation(one, settings.simulator_seed, Reliability())
            client.produce(
                CONFIRMATIONS.name,
                key=key(CONFIRMATIONS, row),
                value=encode(CONFIRMATIONS, row),
                timestamp=round(one["ordered_at"].timestamp() * 1000),
            )
            client.poll(0)
        client.send_offsets_to_transaction(
            places(batch), following.consumer_group_metadata(), ANSWER_SECONDS_MAX
        )
        client.commit_transaction(ANSWER_SECONDS_MAX)
    except KafkaException as error:
        if error.args[0].fatal():
            raise Replaced from error
        if error.args[0].txn_requires_abort():
            client.abort_transaction(ANSWER_SECONDS_MAX)  # nobody is to wait for it to time out
        raise


def places(batch: Sequence[Message]) -> list[TopicPartition]:
    """After the last message of each partition."""
    after = {
        (str(one.topic()), int(one.partition() or 0)): int(one.offset() or 0) + 1 for one in batch
    }
    return [TopicPartition(*at, offset) for at, offset in after.items()]
