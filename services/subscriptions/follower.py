"""Keeps a worker for every subscription there is, and forgets those that were ended."""

import logging
from threading import Event
from time import monotonic

from contracts import NOTIFICATIONS, PROGRESS
from infra.kafka import Outgoing, create_producer
from infra.settings import Settings
from services import liveness
from services.subscriptions.directory import Directory, follow
from services.subscriptions.finder import read_notifications
from services.subscriptions.records import SUBSCRIPTIONS_MAX
from services.subscriptions.worker import Worker
from services.subscriptions.writer import Writer

SERVICE = "subscriptions"
STOP_SECONDS_MAX = 5.0

log = logging.getLogger(SERVICE)


def serve_subscriptions(settings: Settings, stop: Event) -> None:
    """Find and deliver until `stop` is set. Raises KafkaException, UnknownTopic and OffsetGone."""
    directory, writer = Directory(), Writer(create_producer(settings, linger_ms=0))
    workers: dict[str, Worker] = {}

    def look() -> None:
        start_workers(settings, directory, writer, workers)
        for ended in [one for one in workers if one not in directory.subscriptions]:
            worker = workers.pop(ended)
            worker.stop()
            worker.join(STOP_SECONDS_MAX)
        for ended in [one for one in directory.progress if one not in directory.subscriptions]:
            forget(settings, writer, ended)
            directory.progress.pop(ended)

    liveness.report_start(settings, SERVICE)
    try:
        follow(settings, directory, stop.is_set, look)
    finally:
        until = monotonic() + STOP_SECONDS_MAX
        for worker in workers.values():
            worker.stop()
        for worker in workers.values():
            worker.join(max(0.0, until - monotonic()))


def start_workers(
    settings: Settings, directory: Directory, writer: Writer, workers: dict[str, Worker]
) -> None:
    """Start a worker for each new subscription; tell the others what theirs is now."""
    for identity, subscription in directory.subscriptions.items():
        if identity in workers:
            workers[identity].subscription = subscription
        elif len(workers) < SUBSCRIPTIONS_MAX:
            workers[identity] = Worker(settings, subscription, directory, writer)
            workers[identity].start()
            log.info("subscription %s follows %s", identity, subscription.view)


def forget(settings: Settings, writer: Writer, subscription_id: str) -> None:
    """Remove all that is kept of a subscription that was ended."""
    messages = read_notifications(settings, subscription_id)
    rest = {(one.key() or b"").decode().partition("/")[2] for one in messages}
    writer.remove(NOTIFICATIONS, subscription_id, sorted(rest))
    writer.write([Outgoing(PROGRESS.name, subscription_id.encode(), None)])
    log.info("subscription %s has ended", subscription_id)
