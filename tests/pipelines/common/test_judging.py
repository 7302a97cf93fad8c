"""Two judges, one verdict: Python says of every record what Spark says."""

from datetime import datetime, timedelta

import pytest
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from contracts import RELEASES, Contract, Row, Unencodable, encode, key
from contracts.judging import JUDGED, Rejection
from contracts.judging import judge as judged
from pipelines.common.events import events
from tests.contracts.strategies import drawn, typed, valid
from tests.pipelines.log import OPENING, RECORD

RECORDS = 150
FAR_MS = 2**60 // 1000  # a time that no calendar has, and Spark does

# A release is held against its original besides, which is not this judge's matter.
EVERY = pytest.mark.parametrize("name", [one for one in JUDGED if one != RELEASES.name])

pytestmark = pytest.mark.spark

Sent = tuple[bytes | None, bytes | None]


@EVERY
def test_python_and_spark_give_the_same_reasons(spark: SparkSession, name: str) -> None:
    agreed = JUDGED[name]
    log = [*sent(agreed), *damaged(agreed)]
    published = [OPENING + timedelta(minutes=number % 400 - 60) for number in range(len(log))]
    ours = [reason(agreed, one, at) for one, at in zip(log, published, strict=True)]
    assert len(set(ours)) > 5
    assert in_spark(spark, agreed, log, published) == ours


def sent(agreed: Contract) -> list[Sent]:
    """Records of the contract: good ones, ones that break a rule, and ones of another time."""
    events = [
        *agreed.examples,
        *(example.value for example in agreed.invalid_examples),
        *drawn(typed(agreed), RECORDS),
        *({**one, "event_time": OPENING} for one in drawn(valid(agreed), RECORDS)),
        *({**agreed.examples[0], "event_time": far} for far in (FAR_MS, -FAR_MS)),
    ]
    found: list[Sent] = []
    for event in events:
        try:
            value = encode(agreed, event)
        except Unencodable:
            continue
        found += [(key_of(agreed, event), value), (None, value)]
    return found


def key_of(agreed: Contract, event: Row) -> bytes | None:
    return None if any(event[name] is None for name in agreed.key) else key(agreed, event)


def damaged(agreed: Contract) -> list[Sent]:
    """A good record with bytes cut off, changed, put in; and noise."""
    example = {**agreed.examples[0], "event_time": OPENING}
    whole, right = encode(agreed, example), key(agreed, example)
    at = st.integers(0, len(whole) - 1)
    change = st.tuples(at, st.binary(max_size=3), at).map(
        lambda drawn: {"value": whole[: drawn[0]] + drawn[1] + whole[drawn[0] + drawn[2] % 3 :]}
    )
    noise = st.binary(max_size=60).map(lambda body: {"value": whole[:5] + body})
    changed = [one["value"] for one in (*drawn(change, RECORDS), *drawn(noise, RECORDS))]
    cut = [whole[:length] for length in range(len(whole))]
    return [(right, value) for value in (None, whole + b"\0\0", *cut, *changed)]


def reason(agreed: Contract, one: Sent, published: datetime) -> str | None:
    found = judged(agreed, *one, round(published.timestamp() * 1000))
    return found.reason if isinstance(found, Rejection) else None


def in_spark(
    spark: SparkSession, agreed: Contract, log: list[Sent], published: list[datetime]
) -> list[str | None]:
    rows = [
        (agreed.name, 0, offset, at, *one)
        for offset, (one, at) in enumerate(zip(log, published, strict=True))
    ]
    records = spark.createDataFrame(rows, RECORD).coalesce(1)
    found = events((agreed,), records).select("_reason").collect()
    return [row["_reason"] for row in found]
