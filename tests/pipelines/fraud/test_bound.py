"""Signals in state: texts that sort as signals do, and no more of a key than the bound."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from contracts import ALERTS, encode_key
from infra.kafka import Record
from ops.verify.fraud import FraudOracle
from ops.verify.inventory import Row
from pipelines.common.flow import build_running_rows
from pipelines.common.transform.rows import select_view_rows
from pipelines.common.transform.validate import NEVER
from pipelines.engine.archive import RECORD
from pipelines.fraud.pipeline import create_pipeline
from pipelines.fraud.rules import OF_RECEIPT, Signal
from pipelines.fraud.signals import NUMBERS, SIGN, decode_signal, encode_signal
from pipelines.fraud.thresholds import Thresholds
from tests import timeline
from tests.pipelines.fraud.crowds import CROWDS
from tests.pipelines.log import (
    compute_rows,
    create_frame,
    create_lookups,
    index_rows,
    select_inputs,
)
from tests.pipelines.streams import append, read_files, run_to_end
from tests.replay.hostile import LINES_MAX
from tests.rows import collect_rows
from tests.seeds import create_random
from tests.timeline import Timeline

pytestmark = pytest.mark.spark

OPTIONAL = {"about", "amount", "latitude", "longitude"}
INTEGERS = (SIGN, -(2**31), -10, -1, 0, 1, 9, 10, 2**31, -SIGN - 1)
TEXTS = ("a", "aa", "a/", "a0", "b", "\0", "/", "ÿ", "漢", "🂡", "\u2028")
SCHEMA = T.StructType(
    [
        T.StructField(name, T.LongType() if name in NUMBERS else T.StringType())
        for name in Signal._fields
    ]
)


def draw_signal(chance: Random) -> Signal:
    drawn = {
        name: None
        if name in OPTIONAL and chance.random() < 0.3
        else chance.choice(INTEGERS if name in NUMBERS else TEXTS)
        for name in Signal._fields
    }
    return Signal(**drawn)  # type: ignore[arg-type]


def to_sort_key(signal: Signal) -> list[tuple[bool, int | bytes]]:
    """Numbers by value, texts by their bytes, and nothing before anything."""
    return [
        (part is not None, part.encode() if isinstance(part, str) else part or 0) for part in signal
    ]


def test_texts_of_signals_sort_as_the_signals_and_come_back(spark: SparkSession) -> None:
    chance = create_random("sortable")
    signals = [draw_signal(chance) for _ in range(2_000)]
    frame = spark.createDataFrame(signals, SCHEMA).select(encode_signal().alias("text"))
    texts = [row["text"] for row in frame.collect()]
    assert [decode_signal(text) for text in texts] == signals
    assert [decode_signal(text) for text in sorted(texts)] == sorted(signals, key=to_sort_key)
    by_spark = [row["text"] for row in frame.orderBy("text").collect()]
    assert by_spark == sorted(texts)


BOUND = 6
SIZES = (BOUND - 1, BOUND, BOUND + 1, 10 * BOUND)
LIMITS = replace(timeline.LIMITS, signals_max=BOUND, receipt_signals_max=BOUND)
PIPELINE = create_pipeline(LIMITS)
BATCHES = 2


class Stream(NamedTuple):
    """A query that has read a log."""

    written: list[Row]
    """In the order of writing."""
    checkpoint: Path


@pytest.fixture(scope="module")
def log() -> list[Record]:
    """Of each rule a key of each size, read in any order."""
    chance, shop = create_random("crowds"), Timeline()
    for rule, crowd in CROWDS.items():
        for size in SIZES:
            crowd(shop, chance, name_subject(rule, size), size)
    chance.shuffle(shop.records)
    return shop.records


@pytest.fixture(scope="module")
def stream(
    spark: SparkSession, log: list[Record], tmp_path_factory: pytest.TempPathFactory
) -> Stream:
    """It reads the log cut into batches."""
    folder = tmp_path_factory.mktemp("stream")
    source, records = folder / "records", create_frame(spark, select_inputs(PIPELINE, log))
    for batch in range(BATCHES):
        append(records.where(F.col("offset") % BATCHES == batch), source)
    running = build_running_rows(
        PIPELINE,
        read_files(spark, source, RECORD),
        timedelta(days=30),
        create_lookups(spark, PIPELINE.dimensions, log),
        F.lit(NEVER),
        tasks=1,
    )
    found = Stream([], folder / "checkpoint")

    def keep(rows: DataFrame, _batch: int) -> None:
        found.written.extend(collect_rows(select_view_rows(PIPELINE, rows, 0)))

    run_to_end(running.writeStream.outputMode("update").foreachBatch(keep), folder)
    return found


def name_subject(rule: str, size: int) -> str:
    return f"{rule}-{size}"


def test_cut_into_batches_the_rows_are_the_oracles(log: list[Record], stream: Stream) -> None:
    expected = index_rows(ALERTS, FraudOracle(log, LIMITS).compute_view())
    subjects = {(row["rule"], row["subject"]) for row in expected.values()}
    assert subjects >= {(rule, name_subject(rule, size)) for rule in CROWDS for size in SIZES[2:]}
    found: dict[bytes, Row] = {}
    for row in stream.written:
        before = found.get(encode_key(ALERTS, row))
        assert before is None or before["version"] < row["version"]
        found[encode_key(ALERTS, row)] = row
    assert found == expected


def test_state_of_ten_times_the_bound_is_that_of_the_bound(
    spark: SparkSession, stream: Stream
) -> None:
    """Within a tenth: some texts are longer than others."""
    state = spark.read.format("statestore").option("operatorId", "0").load(str(stream.checkpoint))
    sizes = state.select("key.rule", "key.subject", F.length("value.buf").alias("bytes"))
    found = {
        (row["rule"], row["subject"]): row["most"]
        for row in sizes.groupBy("rule", "subject").agg(F.max("bytes").alias("most")).collect()
    }
    for rule in CROWDS:
        small, large = (found[rule, name_subject(rule, size)] for size in SIZES[2:])
        assert large == pytest.approx(small, rel=0.1)


LONG, TWICE = "LONG", "TWICE"


@pytest.mark.thorough
def test_a_refund_of_the_largest_receipt_is_held_against_all_of_its_lines(
    spark: SparkSession,
) -> None:
    """One of two is refunded once, the other one is once more."""
    shop, limits = Timeline(), Thresholds()
    sold, back = timeline.parse_clock("10:00"), timeline.parse_clock("11:00")
    goods = [(f"SKU-{number}", 1, 1_000) for number in range(LINES_MAX)]
    for receipt in (LONG, TWICE):
        shop.sell(sold, *goods, event_id=receipt)
        shop.refund(back, *goods, receipt=receipt, issued=sold)
    shop.refund(back + timedelta(minutes=1), *goods, receipt=TWICE, issued=sold)
    found = compute_rows(spark, create_pipeline(limits), shop.records)
    expected = FraudOracle(shop.records, limits).compute_view()
    assert found == index_rows(ALERTS, expected)
    counted = limits.receipt_signals_max - 2 * LINES_MAX
    assert {
        row["subject"]: (row["status"], row["measured"], row["signals_left_out"])
        for row in found.values()
        if row["rule"] == OF_RECEIPT
    } == {
        LONG: ("withdrawn", 0, 0),
        TWICE: ("open", counted * 1_000, 3 * LINES_MAX - limits.receipt_signals_max),
    }
