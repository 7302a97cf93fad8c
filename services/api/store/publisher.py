"""Publishes events that clients post, and reports the outcome of each."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from infra.kafka import Headers, Outgoing
from services.api.store.background import Background

DELIVERY_SECONDS_MAX = 5.0
REPORT_SECONDS_MAX = DELIVERY_SECONDS_MAX + 2.0  # the client itself gives up earlier
AT_ONCE_MAX = 64
POLL_SECONDS = 0.1

OVERRIDES: dict[str, int] = {
    "message_timeout_ms": int(DELIVERY_SECONDS_MAX * 1000),
    "queue_buffering_max_messages": 2 * AT_ONCE_MAX,
    "linger_ms": 0,  # a client waits for each record
    "topic_metadata_propagation_max_ms": 2_000,  # a missing topic is reported soon
}
"""Settings that differ from those of a program that publishes a stream."""

NEVER_STORED = frozenset(
    {
        KafkaError._UNKNOWN_TOPIC,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
    }
)

log = logging.getLogger("api.publisher")


@dataclass(frozen=True)
class Stored:
    """The place of a record in the log."""

    partition: int
    offset: int


class NotPublished(Exception):
    """The log has not acknowledged the record."""


class Full(NotPublished):
    """The publisher has too many records in flight."""

    def __str__(self) -> str:
        return "as many records are on their way as the API takes at once"


class Refused(NotPublished):
    """The record is not in the log and will not be."""


class OutcomeUnknown(NotPublished):
    """The record may or may not be in the log."""


class Publisher(Background):
    """One idempotent producer for all requests, and the thread that polls its reports."""

    def __init__(self, create: Callable[[], Producer]) -> None:
        super().__init__("publisher")
        self._create = create
        self._client = create()
        self._in_flight = 0  # only the event loop touches it

    async def publish(self, record: Outgoing, headers: Headers = ()) -> Stored:
        """Return once the log holds the record. Raises Full, Refused and OutcomeUnknown."""
        if self._in_flight >= AT_ONCE_MAX:
            raise Full
        self._in_flight += 1
        try:
            async with asyncio.timeout(REPORT_SECONDS_MAX):
                return await self._produce(record, headers)
        except TimeoutError as error:
            raise OutcomeUnknown("nothing was heard of it") from error
        finally:
            self._in_flight -= 1

    async def _produce(self, record: Outgoing, headers: Headers) -> Stored:
        loop = asyncio.get_running_loop()
        report: asyncio.Future[Stored] = loop.create_future()

        def settle(error: KafkaError | None, message: Message) -> None:
            if report.done():
                return  # the request has given up
            if error is None:
                report.set_result(Stored(message.partition() or 0, message.offset() or 0))
            else:
                kind = Refused if error.code() in NEVER_STORED else OutcomeUnknown
                report.set_exception(kind(error.str()))

        def delivered(error: KafkaError | None, message: Message) -> None:
            with suppress(RuntimeError):  # the loop is closed: the API has stopped
                loop.call_soon_threadsafe(settle, error, message)

        try:
            self._client.produce(
                record.topic,
                record.value,
                record.key,
                timestamp=record.timestamp_ms,
                headers=list(headers),
                on_delivery=delivered,
            )
        except BufferError as error:
            raise Full from error
        except KafkaException as error:
            if error.args[0].fatal():  # for example when the log lost records
                log.warning("the producer is replaced: %s", error)
                self._client = self._create()
            raise Refused(str(error)) from error
        return await report

    def run_once(self) -> None:
        self._client.poll(POLL_SECONDS)
