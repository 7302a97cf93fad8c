"""Publishing what a client posts, and knowing what became of it."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from services.api.background import Background

DELIVERY_SECONDS_MAX = 5.0
REPORT_SECONDS_MAX = DELIVERY_SECONDS_MAX + 2.0  # the client itself gives up before
AT_ONCE_MAX = 64
POLL_SECONDS = 0.1

OVERRIDES: dict[str, int] = {
    "message_timeout_ms": int(DELIVERY_SECONDS_MAX * 1000),
    "queue_buffering_max_messages": 2 * AT_ONCE_MAX,
    "linger_ms": 0,  # somebody waits for each of them
    "topic_metadata_propagation_max_ms": 2_000,  # a topic that is not there is known to be so
}
"""What differs from the producer of a program that publishes a stream."""

NEVER_STORED = frozenset(
    {
        KafkaError._UNKNOWN_TOPIC,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
    }
)

log = logging.getLogger("api.publishing")


@dataclass(frozen=True)
class Record:
    topic: str
    key: bytes
    value: bytes
    published_ms: int  # world time


@dataclass(frozen=True)
class Stored:
    """Where the log holds a record."""

    partition: int
    offset: int


class Full(Exception):
    """As many records are on their way as may be."""


class Refused(Exception):
    """The record is not in the log, and will not be."""


class OutcomeUnknown(Exception):
    """The record may be in the log or not."""


class Publishing(Background):
    """One idempotent producer for all requests, and the thread that hears what became of them."""

    def __init__(self, make: Callable[[], Producer]) -> None:
        super().__init__("publishing")
        self._make = make
        self._client = make()
        self._under_way = 0  # only ever touched in the event loop

    async def publish(self, record: Record) -> Stored:
        """Return when the log holds the record; raises Full, Refused or OutcomeUnknown."""
        if self._under_way >= AT_ONCE_MAX:
            raise Full
        self._under_way += 1
        try:
            async with asyncio.timeout(REPORT_SECONDS_MAX):
                return await self._produce(record)
        except TimeoutError as error:
            raise OutcomeUnknown("nothing was heard of it") from error
        finally:
            self._under_way -= 1

    async def _produce(self, record: Record) -> Stored:
        loop = asyncio.get_running_loop()
        report: asyncio.Future[Stored] = loop.create_future()

        def settle(error: KafkaError | None, message: Message) -> None:
            if report.done():
                return  # nobody waits any more
            if error is None:
                report.set_result(Stored(message.partition() or 0, message.offset() or 0))
            else:
                report.set_exception(_outcome(error))

        def delivered(error: KafkaError | None, message: Message) -> None:
            with suppress(RuntimeError):  # the loop is closed: the API has stopped
                loop.call_soon_threadsafe(settle, error, message)

        try:
            self._client.produce(
                record.topic,
                record.value,
                record.key,
                timestamp=record.published_ms,
                on_delivery=delivered,
            )
        except BufferError as error:
            raise Full from error
        except KafkaException as error:
            self._renew(error)
            raise Refused(str(error)) from error
        return await report

    def _renew(self, error: KafkaException) -> None:
        """After a fatal error, as when the log lost what it had acknowledged, it takes nothing."""
        if error.args[0].fatal():
            log.warning("the producer is made anew: %s", error)
            self._client = self._make()

    def turn(self) -> None:
        self._client.poll(POLL_SECONDS)


def _outcome(error: KafkaError) -> Refused | OutcomeUnknown:
    kind = Refused if error.code() in NEVER_STORED else OutcomeUnknown
    return kind(error.str())
