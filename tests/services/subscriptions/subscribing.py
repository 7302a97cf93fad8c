"""A view in Kafka, a receiver, and subscriptions that lead from one to the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

from contracts import NOTIFICATIONS, PROGRESS, STOCK_LEVELS, SUBSCRIPTIONS, decode
from infra.kafka import Outgoing, read_end_offsets, read_to_end, send_all
from infra.kafka.clients import create_admin
from infra.settings import Settings
from infra.wait import wait_until
from services.clock import get_wall_ms
from services.subscriptions.follower import serve_subscriptions
from services.subscriptions.records import Progress, Subscription, create_record, select_places
from tests.brokers import get_producer
from tests.services.at_work import at_work
from tests.services.broker import KafkaLog
from tests.services.subscriptions.receiver import Receiver
from tests.services.writing import Writing, promote

LOW = "units_on_hand<=5"
SECONDS_MAX = 30.0

_numbers = count(1)


class Subscribed:
    """A generation of its own for each test, and what a test does to it."""

    def __init__(self, kafka: Settings, receiver: Receiver) -> None:
        self.receiver = receiver
        self.settings = kafka.model_copy(
            update={
                "subscription_hosts": receiver.place,
                "subscription_networks": "127.0.0.0/8",
            }
        )
        self._log = KafkaLog(kafka)
        self._producer = get_producer(kafka)
        self._subscriptions: list[Subscription] = []
        self.stock = self.create_generation()
        self._versions = count(1)

    def create_generation(self) -> Writing:
        return Writing(self._log, next(_numbers))

    def row(self, sku: str, units: int, stock: Writing | None = None) -> None:
        """What a shelf holds now; the version only grows."""
        (stock or self.stock).row(1, sku, units, next(self._versions))

    def mark(self, stock: Writing | None = None) -> None:
        self._log.flush()
        (stock or self.stock).mark()
        self._log.flush()

    def rows(self, **units: int) -> None:
        """So many units on the shelves of these products, and a marker after them."""
        for sku, number in units.items():
            self.row(sku, number)
        self.mark()

    def promote(self, stock: Writing) -> None:
        promote(self._log, stock)
        self._log.flush()
        self.stock = stock

    def subscribe(
        self, *filters: str, from_beginning: bool = False, address: str | None = None
    ) -> Subscription:
        """From the newest marker on."""
        ends = read_end_offsets(create_admin(self.settings), [self.stock.topic])
        subscription = Subscription(
            subscription_id=f"{next(_numbers):016x}",
            view=STOCK_LEVELS.name,
            filters=filters or (LOW,),
            address=address or self.receiver.address,
            generation=self.stock.generation,
            batch=0,
            offsets=select_places(ends, self.stock.topic),
            from_beginning=from_beginning,
            created_at=get_wall_ms(),
            created_by="operator",
        )
        self._subscriptions.append(subscription)
        return self.put(subscription)

    def put(self, subscription: Subscription) -> Subscription:
        send_all(self._producer, [create_record(SUBSCRIPTIONS, subscription.to_row())])
        return subscription

    def resume(self, subscription: Subscription, skipped: int | None = None) -> None:
        self.put(replace(subscription, resumed_at=get_wall_ms(), skipped=skipped))

    def end(self, subscription: Subscription) -> None:
        key = subscription.subscription_id.encode()
        send_all(self._producer, [Outgoing(SUBSCRIPTIONS.name, key, None)])

    def end_all(self) -> None:
        for one in self._subscriptions:
            self.end(one)

    @contextmanager
    def working(self) -> Iterator[None]:
        with at_work(serve_subscriptions, self.settings):
            yield

    def read_progress(self, subscription: Subscription) -> Progress:
        found = read_to_end(self.settings, PROGRESS.name)
        value = found.get(subscription.subscription_id.encode())
        empty = Progress(subscription_id=subscription.subscription_id)
        return Progress.parse(decode(value).value) if value else empty

    def await_progress(self, subscription: Subscription, **wanted: Any) -> Progress:
        def is_there() -> bool:
            progress = self.read_progress(subscription)
            return all(getattr(progress, name) == value for name, value in wanted.items())

        wait_until(is_there, f"progress {wanted}", SECONDS_MAX)
        return self.read_progress(subscription)

    def await_started(self, subscription: Subscription) -> Progress:
        """Wait until what matched at its marker is known."""
        return self.await_progress(subscription, generation=self.stock.generation)

    def list_kept(self, subscription_id: str) -> list[bytes]:
        """The keys that are kept of a subscription."""
        keys = (*read_to_end(self.settings, NOTIFICATIONS.name),)
        keys += (*read_to_end(self.settings, PROGRESS.name),)
        return [one for one in keys if one.startswith(subscription_id.encode())]
