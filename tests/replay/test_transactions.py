"""What somebody else's transactions leave in the log: only what is committed counts, live too."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from contracts import ADJUSTMENTS, HEARTBEATS, encode, encode_key
from infra.settings import Settings
from infra.wait import wait_until
from tests.brokers import get_producer
from tests.replay.answer import answer
from tests.replay.checking import count_units
from tests.replay.playing import see_through
from tests.replay.running import InSession, Work
from tests.timeline import BEFORE
from tests.transactions import open_transaction

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(300)]

PARTITION = 0
OPENED = BEFORE + timedelta(days=1)
OPENED_MS = round(OPENED.timestamp() * 1000)
MINUTE_MS = 60_000


def adjust(units: int, number: int = 0) -> dict[str, Any]:
    example = ADJUSTMENTS.examples[0]
    event_id = f"theirs-{units}-{number}"
    return {**example, "event_id": event_id, "event_time": OPENED, "units": units}


def beat(work: Work, at_ms: int) -> None:
    event = {**HEARTBEATS.examples[0], "event_time": at_ms, "event_id": f"beat-{at_ms}"}
    get_producer(work.settings).produce(
        HEARTBEATS.name, encode(HEARTBEATS, event), encode_key(HEARTBEATS, event), timestamp=at_ms
    )
    assert get_producer(work.settings).flush(30) == 0


class StockJava:
    """Java's own producer with its own defaults, but for the id that transactions need."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        java: Any = spark._jvm
        self._clients = java.org.apache.kafka.clients.producer
        options = java.java.util.HashMap()
        options.put("bootstrap.servers", settings.bootstrap_servers)
        options.put("transactional.id", "java")
        serializer = java.org.apache.kafka.common.serialization.ByteArraySerializer
        self._client = self._clients.KafkaProducer(options, serializer(), serializer())
        self._client.initTransactions()

    def write(self, units: int, commits: bool) -> None:
        event = adjust(units)
        record = self._clients.ProducerRecord(
            ADJUSTMENTS.name,
            PARTITION,
            OPENED_MS,
            encode_key(ADJUSTMENTS, event),
            encode(ADJUSTMENTS, event),
        )
        self._client.beginTransaction()
        self._client.send(record).get()
        if commits:
            self._client.commitTransaction()
        else:
            self._client.abortTransaction()

    def close(self) -> None:
        self._client.close()


def test_aborted_records_of_the_stock_java_client_do_not_count(
    work: Work, running: InSession, spark: SparkSession
) -> None:
    client = StockJava(spark, work.settings)
    for units, commits in ((10, False), (7, True), (9, False), (1, True)):
        client.write(units, commits)
        see_through(running)
    client.close()
    running.stop()
    assert count_units(work) == 8
    books = answer(work).books
    assert books[ADJUSTMENTS.name, PARTITION].read == 2, "records, and neither gaps nor ends"


def test_a_transaction_may_stay_open_for_long(
    work: Work, running: InSession, caplog: pytest.LogCaptureFixture
) -> None:
    """Heartbeats go on for hours of the world: what is behind the open one is not too late."""
    caplog.set_level(logging.INFO, "pipeline")
    partition = (ADJUSTMENTS.name, PARTITION)
    beat(work, OPENED_MS)
    event = adjust(5)
    with open_transaction(work.settings, partition, [b"aborted"], OPENED_MS):
        get_producer(work.settings).produce(
            partition[0],
            encode(ADJUSTMENTS, event),
            encode_key(ADJUSTMENTS, event),
            partition[1],
            timestamp=OPENED_MS,
        )
        see_through(running)
        beat(work, OPENED_MS + 600 * MINUTE_MS)
        waits = "waits for an open transaction"
        wait_until(lambda: waits in caplog.text, "the pipeline waits", 60)
    see_through(running)
    running.stop()
    assert count_units(work) == 5
