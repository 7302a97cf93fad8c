"""What every gate does: moment by moment it waits until every event is known, decides, and
publishes once.

It answers every moment in turn, however late; after more than a day, those of the last day. What it
publishes and the note that a moment is answered are one transaction.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple, Protocol

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from contracts import HEARTBEATS, Contract, Row, encode, encode_key
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
from services.moves import DAY_MS

SETTLE_MS = 60_000
"""World time after a moment in which a till whose clock is slow may still publish before it."""
LOOK_SECONDS = 5.0
ANSWER_SECONDS_MAX = 30.0
TRANSACTION_MS_MAX = 30_000
BEATS = (HEARTBEATS.name, 0)
"""The partition whose commit notes the moment: it exists whichever generation is promoted."""


class Answers(Protocol):
    """What one generation's rows call for, after a moment that was answered."""

    generation: Generation

    @property
    def is_outdated(self) -> bool:
        """Whether a row corrects what is forgotten: then only all rows give the answer."""

    def take_until(self, marker: Marker) -> bool:
        """Take the rows below the marker, and all that was published; False while some of that may
        be unknown.
        """

    def answer(self, moment_ms: int, now_ms: int) -> list[Row]:
        """What is to be published at `now_ms` for the moments until this one. It counts as
        published then.
        """


@dataclass(frozen=True)
class Duty:
    """What one gate decides."""

    name: str
    """Of the service and its group, and its fixed transactional id: the next gate fences the last.
    """
    pipeline: str
    """Whose promoted generation counts."""
    step_ms: int
    """The time from one moment to the next."""
    reader: Reader
    publishes: Contract
    says: str
    """What is published, and by what of a generation, in words."""
    begin: Callable[[Settings, Generation, int], Answers]
    """The answers of a generation after a moment. May raise UserError."""


class Due(NamedTuple):
    """A moment to answer, and where the log ended when it was first seen to be over.

    Record timestamps do not say which records are from before a moment: one of another time would
    stand for all that follow. A heartbeat does: all earlier records precede it.
    """

    moment_ms: int
    ends: Offsets

    def is_covered(self, marker: Marker) -> bool:
        """Whether the marker covers every record from before the moment."""
        return all(marker.inputs.get(partition, 0) >= end for partition, end in self.ends.items())


class Rows:
    """The good rows of a topic, each of them once."""

    def __init__(self, settings: Settings, reader: Reader, contract: Contract) -> None:
        self._settings = settings
        self._reader = reader
        self._contract = contract
        self._read: Offsets = {}

    def read_new(self, ends: Offsets) -> Iterator[Row]:
        """The rows below these ends that were not read before. Raises as `read_between`.

        A row that is deleted since its retention is over says nothing new.
        """
        return (row for row, _ in self.read_dated(ends))

    def read_dated(self, ends: Offsets) -> Iterator[tuple[Row, int]]:
        """As `read_new`, each with the time of its publication, in epoch milliseconds."""
        for message in read_between(self._settings, self._read, ends):
            is_deleted = message.value() is None
            row = None if is_deleted else self._reader.read_message(self._contract, message)
            if row is not None:
                yield row, message.timestamp()[1]
        self._read = ends


def find_published(client: AdminClient, topic: Contract) -> Offsets | None:
    """The ends of the topic; None while some record before them cannot be read yet.

    A transaction is committed a little before anyone can read its records: without the last ones,
    the same would be published again.
    """
    written = read_high_watermarks(client, [topic.name])
    ends = read_end_offsets(client, [topic.name])
    return None if any(ends[partition] < end for partition, end in written.items()) else ends


def select_outputs(generation: Generation, marker: Marker, view: Contract) -> Offsets:
    """The ends of the view's changelog at the marker."""
    topic = generation.outputs[view.name]
    return {partition: end for partition, end in marker.outputs.items() if partition[0] == topic}


class Publisher:
    """A transactional producer of a gate's rows; a later one fences it."""

    def __init__(self, settings: Settings, duty: Duty) -> None:
        """Abort the open transaction of an earlier gate, and fence that gate."""
        self._duty = duty
        self._consumer: Consumer = create_consumer(settings, duty.name)
        self._producer: Producer = create_producer(
            settings, transactional_id=duty.name, transaction_timeout_ms=TRANSACTION_MS_MAX
        )
        self._producer.init_transactions(ANSWER_SECONDS_MAX)

    def find_answered_ms(self) -> int:
        """The last answered moment, in epoch ms; 0: none. Raises TimeoutError."""
        [noted] = fetch_committed(self._consumer, self._duty.name, [BEATS])
        return int(noted.metadata or 0)

    def publish(self, rows: Sequence[Row], moment_ms: int, now_ms: int) -> None:
        """Publish rows, and note the moment until which they answer all.

        Raises UserError and KafkaException; this publisher is then unusable.
        """
        try:
            self._producer.begin_transaction()
            self._send(rows, now_ms)
            self._note(moment_ms)
            self._producer.commit_transaction(ANSWER_SECONDS_MAX)
        except KafkaException as error:
            if error.args[0].fatal():
                raise UserError(
                    f"Only one gate of {self._duty.name} may publish at a time, and another one "
                    "has begun since, or the broker that kept this one's transaction has gone. "
                    "This gate publishes nothing more; whatever supervises it starts it again. "
                    "See what runs: make status"
                ) from error
            raise

    def close(self) -> None:
        self._consumer.close()

    def _send(self, rows: Sequence[Row], now_ms: int) -> None:
        topic = self._duty.publishes
        for row in rows:
            key, value = encode_key(topic, row), encode(topic, row)
            self._producer.produce(topic.name, key=key, value=value, timestamp=now_ms)
            self._producer.poll(0)

    def _note(self, moment_ms: int) -> None:
        self._producer.send_offsets_to_transaction(
            [TopicPartition(*BEATS, 0, metadata=str(moment_ms))],
            self._consumer.consumer_group_metadata(),
            ANSWER_SECONDS_MAX,
        )


class Gate:
    """Answers due moments for the promoted generation."""

    def __init__(self, settings: Settings, duty: Duty, publisher: Publisher) -> None:
        self._settings = settings
        self._duty = duty
        self._publisher = publisher
        self._answered_ms = publisher.find_answered_ms()
        self._client = create_admin(settings)
        self._due: Due | None = None
        self._answers: Answers | None = None

    def look(self) -> None:
        """Answer the due moment if all is known that is published before it. Raises as Answers."""
        duty = self._duty
        beat_ms = read_beat_ms(self._settings)
        if beat_ms is None or (
            self._due is None and self._find_due_ms(beat_ms) <= self._answered_ms
        ):
            return
        generations = read_generations(self._settings, duty.reader).get(duty.pipeline)
        generation = generations and generations.promoted
        marker = generation and read_marker(
            self._settings, duty.pipeline, generation.number, duty.reader
        )
        if not generation or not marker:
            return
        due = self._due = self._due or self._begin(self._find_due_ms(beat_ms), marker)
        if not due.is_covered(marker):
            return
        answers = self._find_answers(generation, due)
        if not answers.take_until(marker):
            return
        if answers.is_outdated:
            self._answers = None  # the next look takes every row again
            return
        rows = answers.answer(due.moment_ms, beat_ms)
        self._publisher.publish(rows, due.moment_ms, beat_ms)
        self._answered_ms, self._due = due.moment_ms, None
        if rows:
            logging.getLogger(duty.name).info(
                "%d %s of g%d", len(rows), duty.says, generation.number
            )

    def _find_due_ms(self, beat_ms: int) -> int:
        """The newest moment that is over for long enough, by the newest heartbeat."""
        return (beat_ms - SETTLE_MS) // self._duty.step_ms * self._duty.step_ms

    def _begin(self, moment_ms: int, marker: Marker) -> Due:
        topics = {topic for topic, _ in marker.inputs}
        return Due(moment_ms, read_end_offsets(self._client, topics))

    def _find_answers(self, generation: Generation, due: Due) -> Answers:
        if self._answers is None or self._answers.generation.number != generation.number:
            since_ms = max(self._answered_ms, due.moment_ms - DAY_MS)
            self._answers = self._duty.begin(self._settings, generation, since_ms)
        return self._answers


def keep_gate(duty: Duty, settings: Settings, stop: Event) -> None:
    """Publish until `stop` is set. Raises UserError, TimeoutError and KafkaException."""
    publisher = Publisher(settings, duty)
    try:
        gate = Gate(settings, duty, publisher)
        liveness.report_start(settings, duty.name)
        while not stop.is_set():
            gate.look()
            stop.wait(LOOK_SECONDS)
    finally:
        publisher.close()
