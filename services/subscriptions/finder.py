"""Reads a view's changelog for one subscription, and writes down what is to be sent.

It reads the promoted generation up to its newest marker. Another generation is compared with what
is known, as a whole, before its changes are followed.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from threading import Lock

from confluent_kafka import Message, Producer

from contracts import NOTIFICATIONS, Contract, get_contract
from infra.kafka import Outgoing, create_admin, read_between, read_end_offsets, send_all
from infra.settings import Settings
from ops.generations.record import Generation
from services.api.store.changelog import Changelog, End, Record
from services.subscriptions.directory import Directory
from services.subscriptions.matching import READER, Matching
from services.subscriptions.records import (
    Notification,
    Progress,
    Subscription,
    digest,
    is_of,
    select_places,
)

RECORDS_PER_ROUND_MAX = 500
"""So many changes are looked at before something is sent again."""


class Writer:
    """Writes records for all subscriptions with one producer, a thread at a time."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._lock = Lock()  # an acknowledgement may arrive in any thread that waits for one

    def write(self, records: Sequence[Outgoing]) -> None:
        """Return once the log holds the records. Raises NotDelivered."""
        if records:
            with self._lock:
                send_all(self._producer, records)

    def remove(self, contract: Contract, subscription_id: str, rest: Iterable[str]) -> None:
        """Remove the records of a subscription that have these other parts in their keys."""
        keys = [f"{subscription_id}/{one}".encode() for one in rest]
        self.write([Outgoing(contract.name, key, None) for key in keys])


class Finder:
    """Finds the notifications of one subscription, in order by key, and writes them once."""

    def __init__(
        self, settings: Settings, subscription: Subscription, directory: Directory, writer: Writer
    ) -> None:
        self._settings = settings
        self._subscription = subscription
        self._directory = directory
        self._writer = writer
        self._matching = Matching(subscription, get_contract(subscription.view))
        self._generation: Generation | None = None
        self.held: deque[Record | End] = deque()
        """What was read, and is looked at when a marker covers it."""
        self._open = ExitStack()
        self._changes: Changelog | None = None

    def close(self) -> None:
        self._open.close()

    def restore(self, progress: Progress) -> None:
        """Take up the notifications that were written before, and count those that wait."""
        newest: dict[bytes, Notification] = {}
        progress.waiting = 0
        for message in read_notifications(self._settings, self._subscription.subscription_id):
            key, value = message.key() or b"", message.value()
            if value is None:
                newest.pop(key, None)
                continue
            row = READER.read_message(NOTIFICATIONS, message)
            if row is None:
                continue
            newest[key] = Notification.parse(row)
            progress.waiting += newest[key].sent and (message.offset() or 0) >= progress.next_offset
        for one in newest.values():
            self._matching.remember(one)

    def find(self, progress: Progress) -> bool:
        """Look at the next changes, if there are any; returns whether there were."""
        generation = self._choose_generation(progress)
        if generation is None or self._directory.find_marker(generation) is None:
            return False
        topic = generation.outputs[self._subscription.view]
        if progress.generation != generation.number:
            self._compare(generation, topic, progress)
        if self._generation != generation:
            self._enter(generation, topic, progress)
        if not self.held and self._changes is not None:
            self.held.extend(self._changes.read())
        return self.look(generation, progress)

    def look(self, generation: Generation, progress: Progress) -> bool:
        """Look at what is held, up to the newest marker; returns whether it came further."""
        made: list[Notification] = []
        places = dict(progress.offsets)
        for each in self._take(self._find_ends(generation)):
            if isinstance(each, Record):
                made += filter(None, [self._matching.follow(generation.number, each)])
            at = each.partition[1]
            places[at] = max(places.get(at, 0), each.offset + isinstance(each, Record))
        self._write(made, progress)
        is_news = places != progress.offsets
        progress.offsets = places
        return is_news

    def drop_expired(self) -> None:
        """Remove what is known of rows that the view does not keep any more."""
        keys = self._matching.drop_expired()
        self._writer.remove(NOTIFICATIONS, self._subscription.subscription_id, map(digest, keys))

    def _choose_generation(self, progress: Progress) -> Generation | None:
        """The promoted one; at first that of the stated marker, if it is still there."""
        promoted = self._directory.find_promoted(self._subscription.view)
        if progress.generation:
            return promoted
        stated = self._directory.find_generation(
            self._subscription.view, self._subscription.generation
        )
        return stated or promoted

    def _find_ends(self, generation: Generation) -> dict[int, int]:
        """Where the newest marker says that the changelog stands."""
        marker = self._directory.find_marker(generation)
        topic = generation.outputs[self._subscription.view]
        return select_places(marker.outputs, topic) if marker else {}

    def _compare(self, generation: Generation, topic: str, progress: Progress) -> None:
        """Compare the whole changelog with what is known, and go on after it.

        At the marker from which the subscription starts, rows that match are known and not sent.
        """
        first = not progress.generation and generation.number == self._subscription.generation
        ends = dict(self._subscription.offsets) if first else self._find_ends(generation)
        goal = {(topic, partition): offset for partition, offset in ends.items()}
        changes = map(_to_record, read_between(self._settings, {}, goal))
        made = self._matching.compare(generation.number, changes)
        is_sent = not first or self._subscription.from_beginning
        self._write([replace(one, sent=is_sent) for one in made], progress)
        progress.generation, progress.offsets = generation.number, ends

    def _enter(self, generation: Generation, topic: str, progress: Progress) -> None:
        self._open.close()
        self.held.clear()
        self._changes = self._open.enter_context(Changelog(self._settings, [topic]))
        self._changes.start({(topic, at): offset for at, offset in progress.offsets.items()})
        self._generation = generation

    def _take(self, ends: dict[int, int]) -> Iterator[Record | End]:
        """The next records that the marker covers."""
        for _ in range(min(RECORDS_PER_ROUND_MAX, len(self.held))):
            first = self.held[0]
            if isinstance(first, Record) and first.offset >= ends.get(first.partition[1], 0):
                return
            yield self.held.popleft()

    def _write(self, made: Sequence[Notification], progress: Progress) -> None:
        self._writer.write([one.to_record() for one in made])
        progress.waiting += sum(one.sent for one in made)


def read_notifications(settings: Settings, subscription_id: str) -> Iterator[Message]:
    """Every record of the subscription's notifications, those of removed rows too."""
    ends = read_end_offsets(create_admin(settings), [NOTIFICATIONS.name])
    for message in read_between(settings, {}, ends):
        if is_of(subscription_id, message.key()):
            yield message


def _to_record(message: Message) -> Record:
    at = (str(message.topic()), int(message.partition() or 0))
    return Record(
        at,
        int(message.offset() or 0),
        message.key() or b"",
        message.value(),
        message.timestamp()[1],
    )
