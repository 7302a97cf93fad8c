"""Keeps a worker for every subscription there is, and forgets those that were ended."""

import copy
import logging
from contextlib import ExitStack
from threading import Event
from time import monotonic

from contracts import GENERATIONS, MARKERS, NOTIFICATIONS, PROGRESS, SUBSCRIPTIONS
from infra.kafka import Outgoing, create_producer
from infra.settings import Settings
from services import liveness
from services.api.store.background import Background
from services.api.store.changelog import Changelog, Record, follow
from services.subscriptions.addresses import create_allow_list
from services.subscriptions.courier import PLACE, Courier, park
from services.subscriptions.directory import Directory
from services.subscriptions.finder import Finder, Writer, read_notifications
from services.subscriptions.matching import READER, TooManyRows
from services.subscriptions.records import SUBSCRIPTIONS_MAX, Progress, Subscription
from services.subscriptions.signature import derive_secret, read_key

SERVICE = "subscriptions"
TOPICS = (GENERATIONS.name, MARKERS.name, SUBSCRIPTIONS.name, PROGRESS.name)
STOP_SECONDS_MAX = 5.0
SAVE_SECONDS = 0.5
"""The longest time between a delivery and its note; what is delivered after it comes twice."""
IDLE_SECONDS = 0.05

log = logging.getLogger(SERVICE)


class Worker(Background):
    """A thread. It goes on from what is written, after an error as after a restart."""

    def __init__(
        self, settings: Settings, subscription: Subscription, directory: Directory, writer: Writer
    ) -> None:
        super().__init__(f"subscription {subscription.subscription_id}")
        self.subscription = subscription
        """As it is now: a resumption is another value."""
        self._settings = settings
        self._directory = directory
        self._writer = writer
        self._saved: Progress | None = None
        self._due = 0.0

    def run_once(self) -> None:
        identity = self.subscription.subscription_id
        progress = copy.deepcopy(
            self._saved
            or self._directory.progress.get(identity)
            or Progress(subscription_id=identity)
        )
        secret = derive_secret(read_key(self._settings), identity)
        courier = Courier(self.subscription, secret, create_allow_list(self._settings))
        finder = Finder(self._settings, self.subscription, self._directory, self._writer)
        with ExitStack() as opened:
            opened.callback(finder.close)
            queue = opened.enter_context(Changelog(self._settings, [NOTIFICATIONS.name]))
            queue.start({PLACE: progress.next_offset})
            self._work(finder, courier, queue, progress)

    def _work(self, finder: Finder, courier: Courier, queue: Changelog, progress: Progress) -> None:
        try:
            finder.restore(progress)
            while not self.stopping.is_set():
                is_resumed = courier.heed(self.subscription, progress)
                is_found = finder.find(progress)
                is_tried = courier.deliver(queue, progress)
                has_failed = is_tried and progress.error is not None
                if self._save(progress, at_once=is_resumed or has_failed):
                    finder.drop_expired()
                self.clear_trouble()
                if not is_found and not is_tried:
                    self.stopping.wait(IDLE_SECONDS)
        except TooManyRows as error:
            park(progress, error)
            self._save(progress, at_once=True)
            while self.subscription.resumed_at == progress.resumed_at:
                if self.stopping.wait(IDLE_SECONDS):
                    break
        finally:
            self._save(progress, at_once=True)

    def _save(self, progress: Progress, *, at_once: bool) -> bool:
        """Write down the progress if it has changed, at once or when it is due."""
        if progress == self._saved or not (at_once or monotonic() >= self._due):
            return False
        self._writer.write([progress.to_record()])
        self._saved, self._due = copy.deepcopy(progress), monotonic() + SAVE_SECONDS
        return True


def serve_subscriptions(settings: Settings, stop: Event) -> None:
    """Find and deliver until `stop` is set. Raises KafkaException, UnknownTopic and OffsetGone."""
    directory, writer = Directory(READER), Writer(create_producer(settings, linger_ms=0))
    workers: dict[str, Worker] = {}
    liveness.report_start(settings, SERVICE)
    try:
        with Changelog(settings, TOPICS) as topics:
            extent = topics.read_extent()
            for arrived, is_whole in follow(topics, extent, extent.starts, stop.is_set):
                for each in arrived:
                    if isinstance(each, Record):
                        directory.apply(each)
                if is_whole:  # until then an ended subscription may look alive
                    keep_workers(settings, directory, writer, workers)
    finally:
        until = monotonic() + STOP_SECONDS_MAX
        for worker in workers.values():
            worker.stop()
        for worker in workers.values():
            worker.join(max(0.0, until - monotonic()))


def keep_workers(
    settings: Settings, directory: Directory, writer: Writer, workers: dict[str, Worker]
) -> None:
    """Start a worker for each new subscription, tell the others what theirs is now, and end those
    whose subscription was ended.
    """
    for identity, subscription in directory.subscriptions.items():
        if identity in workers:
            workers[identity].subscription = subscription
        elif len(workers) < SUBSCRIPTIONS_MAX:
            workers[identity] = Worker(settings, subscription, directory, writer)
            workers[identity].start()
            log.info("subscription %s follows %s", identity, subscription.view)
    for ended in workers.keys() - directory.subscriptions.keys():
        worker = workers.pop(ended)
        worker.stop()
        worker.join(STOP_SECONDS_MAX)
    for ended in directory.progress.keys() - directory.subscriptions.keys():
        messages = read_notifications(settings, ended)
        rest = {(one.key() or b"").decode().partition("/")[2] for one in messages}
        writer.remove(NOTIFICATIONS, ended, sorted(rest))
        writer.write([Outgoing(PROGRESS.name, ended.encode(), None)])
        directory.progress.pop(ended)
        log.info("subscription %s has ended", ended)
