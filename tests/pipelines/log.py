"""A small log in memory: events encoded as producers do, read as the pipelines do."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from contracts import (
    ADJUSTMENTS,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
    Contract,
    encode,
    encode_key,
    get_contract,
)
from contracts.partitions import choose_partition
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Partition, Record

OPENING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

RECORD = T.StructType(
    [
        T.StructField("topic", T.StringType()),
        T.StructField("partition", T.IntegerType()),
        T.StructField("offset", T.LongType()),
        T.StructField("timestamp", T.TimestampType()),
        T.StructField("key", T.BinaryType()),
        T.StructField("value", T.BinaryType()),
    ]
)

numbers = count(1)


@dataclass(frozen=True)
class Published:
    """A record on its way into the log."""

    contract: Contract
    key: bytes
    value: bytes | None
    published: datetime

    def later(self, delay: timedelta) -> "Published":
        """The same event, published once more."""
        return Published(self.contract, self.key, self.value, self.published + delay)


def publish(contract: Contract, event: Mapping[str, Any], after: timedelta) -> Published:
    at = event["event_time"] + after
    return Published(contract, encode_key(contract, event), encode(contract, event), at)


def create_event(kind: str, at: timedelta) -> dict[str, Any]:
    """The fields of every event, with a new id; it happens `at` after the opening."""
    return {
        "event_id": f"{kind}-{next(numbers)}",
        "event_time": OPENING + at,
        "store_id": "S001",
    }


def create_till_event(kind: str, at: timedelta, lines: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """The fields of every receipt and refund; lines are (sku, units), by default one of A."""
    return {
        **create_event(kind, at),
        "register_id": "S001-T1",
        "cashier_id": "S001-C1",
        "card_token": None,
        "lines": [
            {"sku": sku, "units": units, "unit_price_cents": 100}
            for sku, units in lines or (("A", 1),)
        ],
    }


def receipt(
    *lines: tuple[str, int],
    at: timedelta = timedelta(),
    after: timedelta = timedelta(),
    **fields: Any,
) -> Published:
    """A sale, `at` after the opening, published `after` it happened; lines are (sku, units)."""
    event = {
        **create_till_event("R", at, lines),
        "customer_id": None,
    }
    return publish(RECEIPTS, event | fields, after)


def refund(
    *lines: tuple[str, int],
    at: timedelta = timedelta(),
    after: timedelta = timedelta(),
    **fields: Any,
) -> Published:
    """Goods taken back, without a receipt; otherwise as `receipt`."""
    event = {
        **create_till_event("B", at, lines),
        "receipt_event_id": None,
    }
    return publish(REFUNDS, event | fields, after)


def dispatch(*lines: tuple[str, int], **fields: Any) -> Published:
    """A shipment leaves for the store; lines are (sku, units)."""
    return shipment("dispatched", *((sku, units, 0) for sku, units in lines), **fields)


def delivery(*lines: tuple[str, int, int], **fields: Any) -> Published:
    """A shipment is counted at the store; lines are (sku, units dispatched, units received)."""
    return shipment("received", *lines, **fields)


def shipment(
    status: str,
    *lines: tuple[str, int, int],
    at: timedelta = timedelta(),
    after: timedelta = timedelta(),
    **fields: Any,
) -> Published:
    event = {
        **create_event("V", at),
        "shipment_id": "S001-V1",
        "purchase_order_id": None,
        "status": status,
        "lines": [
            {"sku": sku, "dispatched_units": dispatched, "received_units": received}
            for sku, dispatched, received in lines
        ],
    }
    return publish(SHIPMENTS, event | fields, after)


def adjustment(
    units: int,
    sku: str = "A",
    *,
    at: timedelta = timedelta(),
    after: timedelta = timedelta(),
    **fields: Any,
) -> Published:
    """A change of stock, `at` after the opening, published `after` it happened."""
    event = {
        **create_event("A", at),
        "sku": sku,
        "units": units,
        "reason": "opening",
    }
    return publish(ADJUSTMENTS, event | fields, after)


def create_log(spark: SparkSession, *log: Published) -> DataFrame:
    """The log as Kafka hands it over, by partitions of keys, in the order given."""
    offsets: Counter[Partition] = Counter()
    rows = []
    for one in log:
        at = one.contract.name, choose_partition(one.key, one.contract.settings.partitions)
        rows.append((*at, offsets[at], one.published, one.key, one.value))
        offsets[at] += 1
    return spark.createDataFrame(rows, RECORD)


def create_frame(spark: SparkSession, log: Iterable[Record]) -> DataFrame:
    """The records as Kafka hands them over, in one order; their offsets are their places in it."""
    rows = []
    for offset, one in enumerate(log):
        width = get_contract(one.topic).settings.partitions
        published = EPOCH + one.published_ms * MILLISECOND
        at = choose_partition(one.key, width)
        rows.append((one.topic, at, offset, published, one.key, one.value))
    return spark.createDataFrame(rows, RECORD)
