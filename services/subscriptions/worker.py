"""One subscription at work: finds changes and delivers them, in one thread."""

import copy
from contextlib import ExitStack
from time import monotonic

from contracts import NOTIFICATIONS
from infra.settings import Settings
from services.api.store.background import Background
from services.api.store.changelog import Changelog
from services.subscriptions.addresses import create_allow_list
from services.subscriptions.courier import PLACE, Courier, park
from services.subscriptions.directory import Directory
from services.subscriptions.finder import Finder
from services.subscriptions.matching import TooManyRows
from services.subscriptions.records import Progress, Subscription
from services.subscriptions.signature import derive_secret, read_key
from services.subscriptions.writer import Writer

SAVE_SECONDS = 0.5
"""The longest time between a delivery and its note; what is delivered after it comes twice."""
IDLE_SECONDS = 0.05


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
            self._await_resumption(progress)
        finally:
            self._save(progress, at_once=True)

    def _save(self, progress: Progress, *, at_once: bool) -> bool:
        """Write down the progress if it has changed, at once or when it is due."""
        if progress == self._saved or not (at_once or monotonic() >= self._due):
            return False
        self._writer.write([progress.to_record()])
        self._saved, self._due = copy.deepcopy(progress), monotonic() + SAVE_SECONDS
        return True

    def _await_resumption(self, progress: Progress) -> None:
        while not self.stopping.wait(IDLE_SECONDS):
            if self.subscription.resumed_at != progress.resumed_at:
                return
