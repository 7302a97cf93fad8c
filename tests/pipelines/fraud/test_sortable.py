"""Signals as texts: each comes back as it was, and they sort as the signals do."""

from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from pipelines.fraud.rules import Signal
from pipelines.fraud.signals import NUMBERS, SIGN, decode_signal, encode_signal
from tests.seeds import create_random

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
