"""Clients that are not ours, with their own defaults and transactions: what counts, and once."""

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from contracts import ADJUSTMENTS, HEARTBEATS, Contract, encode, encode_key
from contracts.partitions import choose_partition
from contracts.times import EPOCH, MILLISECOND
from infra.settings import Settings
from infra.wait import wait_until
from ops.generations.folders import end
from ops.generations.lifecycle import make_outputs
from ops.generations.marker import read_marker
from ops.generations.supervisor import ensure_generation
from ops.verify.oracles import ask_oracle
from pipelines.engine.sink import Dropped
from tests.replay.answer import answer, count_units
from tests.replay.playing import see_through
from tests.replay.running import InSession, Work
from tests.timeline import BEFORE
from tests.transactions import open_transaction

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(300)]

OPENED = BEFORE + timedelta(days=1)
OPENED_MS = round(OPENED.timestamp() * 1000)
PARTITION = 0
HOUR = timedelta(hours=1)
LAST = datetime(9999, 12, 31, tzinfo=EPOCH.tzinfo)


class Stranger:
    """A producer as somebody else makes it."""

    def __init__(self, settings: Settings, **options: str) -> None:
        self._client = Producer({"bootstrap.servers": settings.bootstrap_servers, **options})

    def send(
        self, contract: Contract, happened: datetime, published: datetime, **fields: Any
    ) -> None:
        event = {**contract.examples[0], "event_time": happened, **fields}
        self._client.produce(
            contract.name,
            encode(contract, event),
            encode_key(contract, event),
            timestamp=(published - EPOCH) // MILLISECOND,
        )
        assert self._client.flush(30) == 0

    def adjust(self, happened: datetime, units: int, **fields: Any) -> None:
        self.send(ADJUSTMENTS, happened, happened, units=units, **fields)

    def beat(self, happened: datetime, published: datetime | None = None) -> None:
        self.send(HEARTBEATS, happened, published or happened, event_id=f"beat-{happened}")


def find_reasons(work: Work) -> set[str]:
    """Why records are rejected, by the oracle, which counts as many as the pipeline."""
    found = answer(work)
    asked = ask_oracle(work.pipeline.name, work.settings, found.inputs)
    assert sum(book.quarantined for book in found.books.values()) == len(asked.rejected)
    return {reason for reasons in asked.rejected.values() for reason in reasons}


def test_a_till_that_counts_anew_uses_its_ids_again(work: Work, running: InSession) -> None:
    """A live generation forgets an id after three hours; a replay never does. A copy has the time
    of the first use, too.
    """
    till = Stranger(work.settings, partitioner="murmur2_random")
    for hour in range(0, 11, 5):
        till.adjust(OPENED + hour * HOUR, 10, event_id="A-1")
        till.adjust(OPENED + hour * HOUR, 10, event_id="A-1")
        till.adjust(OPENED + hour * HOUR + MILLISECOND, 10, event_id="A-1")
        for later in (0, 3, 4):
            till.beat(OPENED + (hour + later) * HOUR)
            see_through(running)
    running.stop()
    assert count_units(work) == 60


@pytest.mark.parametrize("far", [LAST, EPOCH + MILLISECOND])
def test_one_heartbeat_of_another_time_ends_nothing(
    work: Work, running: InSession, far: datetime
) -> None:
    """Its record's timestamp says the same, or the time at which it was sent."""
    keeper = Stranger(work.settings, partitioner="murmur2_random")
    for hour in range(5):
        now = OPENED + hour * HOUR
        keeper.adjust(now, 1, event_id=f"A-{hour}")
        keeper.beat(now)
        keeper.beat(far)
        keeper.beat(far, published=now)
        see_through(running)
    running.stop()
    assert count_units(work) == 5
    assert find_reasons(work) == {"future" if far == LAST else "late"}


def test_what_comes_hours_later_with_its_old_timestamp_is_counted_by_a_replay(
    work: Work, spark: SparkSession, running: InSession
) -> None:
    """Clients that stamp what they send with the time of the event, after an outage, do so.

    A live generation cannot know whether it is a copy: it gives up, and another one replays.
    """
    till = Stranger(work.settings, partitioner="murmur2_random")
    for hour in range(6):
        till.adjust(OPENED + hour * HOUR, 1, event_id=f"A-{hour}")
        till.beat(OPENED + hour * HOUR)
        see_through(running)
    till.adjust(OPENED, 1, event_id="A-0")
    till.adjust(OPENED, 100, event_id="B-0")
    till.beat(OPENED + 5 * HOUR)
    marked = read_marker(work.settings, work.pipeline.name, 1)
    with pytest.raises(Dropped, match=r"Spark dropped [12] records"):  # a batch may begin between
        see_through(running)
    running.stop()
    assert read_marker(work.settings, work.pipeline.name, 1) == marked
    end(work.settings, work.generation, "Spark dropped 2 records")
    [_, candidate] = ensure_generation(work.settings, work.pipeline.name)
    running.work = again = replace(work, generation=candidate)
    make_outputs(work.settings, work.pipeline, candidate)
    running.forget()
    see_through(running)
    running.stop()
    assert count_units(again) == 106


def test_a_copy_by_another_partitioner_is_set_aside(work: Work, running: InSession) -> None:
    theirs, ours = Stranger(work.settings), Stranger(work.settings, partitioner="murmur2_random")
    stores = [f"S{number:03d}" for number in range(12)]
    for number, store in enumerate(stores):
        for client in (theirs, ours):
            client.adjust(OPENED, 1, event_id=f"A-{number}", store_id=store)
    ours.beat(OPENED)
    see_through(running)
    running.stop()
    assert count_units(work) == len(stores)
    assert find_reasons(work) == {"wrong-partition"}
    assert {choose_partition(store.encode(), 4) for store in stores} == set(range(4))


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
        theirs = {"event_id": f"theirs-{units}", "event_time": OPENED, "units": units}
        event = {**ADJUSTMENTS.examples[0], **theirs}
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
    keeper = Stranger(work.settings, partitioner="murmur2_random")
    keeper.beat(OPENED)
    partition = (ADJUSTMENTS.name, PARTITION)
    with open_transaction(work.settings, partition, [b"aborted"], OPENED_MS):
        keeper.adjust(OPENED, 5)
        see_through(running)
        keeper.beat(OPENED + 10 * HOUR)
        waits = "waits for an open transaction"
        wait_until(lambda: waits in caplog.text, "the pipeline waits", 60)
    see_through(running)
    running.stop()
    assert count_units(work) == 5
