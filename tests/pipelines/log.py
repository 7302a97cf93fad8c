"""Small logs in memory, read as the pipelines do."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from contracts import ADJUSTMENTS, PRODUCTS, RECEIPTS, REFUNDS, SHIPMENTS, Contract, Row, encode_key
from contracts.times import EPOCH, MILLISECOND
from contracts.validation import Rejection, validate
from infra.kafka import Partition, Record
from ops.verify import analytics, inventory
from ops.verify.fraud import FraudOracle
from ops.verify.oracles import PricingOracle, ReorderOracle, VisitsOracle
from pipelines.common.flow import build_rows
from pipelines.common.pipeline import Dimension, Pipeline, load
from pipelines.common.transform.lines import Lookups
from pipelines.engine.archive import RECORD
from pipelines.engine.dimensions import DimensionVersion, Versions, to_version
from pipelines.fraud.pipeline import create_pipeline
from pipelines.pricing.pipeline import LIMITS as PRICING_LIMITS
from pipelines.reorder.pipeline import POLICY
from pipelines.visits.pipeline import LIMITS as VISIT_LIMITS
from tests.rows import collect_rows
from tests.timeline import LIMITS, Timeline

OPENING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
NONE = timedelta()

Units = tuple[str, int]
"""Sku and units of a line."""


@dataclass(frozen=True)
class Event:
    """An event of store S001, unless its fields say otherwise."""

    contract: Contract
    happens: timedelta
    """How long after the opening it happens."""
    after: timedelta
    """How long after that it is published."""
    fields: Row


def receipt(*lines: Units, **fields: Any) -> Event:
    """A sale, of one A by default."""
    unsaid = {"card_token": None, "customer_id": None, "lines": price(lines)}
    return create_event(RECEIPTS, unsaid, **fields)


def refund(*lines: Units, **fields: Any) -> Event:
    """Goods taken back, without a receipt, one A by default."""
    unsaid = {"card_token": None, "receipt_event_id": None, "lines": price(lines)}
    return create_event(REFUNDS, unsaid, **fields)


def price(lines: Iterable[Units]) -> list[Row]:
    priced = lines or (("A", 1),)
    return [{"sku": sku, "units": units, "unit_price_cents": 100} for sku, units in priced]


def dispatch(*lines: Units, **fields: Any) -> Event:
    """A shipment leaves for the store."""
    return shipment("dispatched", *((sku, units, 0) for sku, units in lines), **fields)


def delivery(*lines: tuple[str, int, int], **fields: Any) -> Event:
    """A shipment is counted at the store; lines are (sku, units dispatched, units received)."""
    return shipment("received", *lines, **fields)


def shipment(status: str, *lines: tuple[str, int, int], **fields: Any) -> Event:
    names = ("sku", "dispatched_units", "received_units")
    listed = [dict(zip(names, line, strict=True)) for line in lines]
    unsaid = {"status": status, "purchase_order_id": None, "lines": listed}
    return create_event(SHIPMENTS, unsaid, **fields)


def adjustment(units: int, sku: str = "A", **fields: Any) -> Event:
    """A change of stock."""
    return create_event(ADJUSTMENTS, {"sku": sku, "units": units, "reason": "opening"}, **fields)


def create_event(
    contract: Contract,
    unsaid: Row,
    happens: timedelta = NONE,
    after: timedelta = NONE,
    **fields: Any,
) -> Event:
    """The event with these fields, and with those of `unsaid` that are not among them."""
    return Event(contract, happens, after, {"store_id": "S001", **unsaid, **fields})


def build_log(*events: Event) -> list[Record]:
    shop = Timeline()
    shop.records.clear()
    for event in events:
        happened = OPENING + event.happens
        shop.put(event.contract, happened, happened + event.after, **event.fields)
    return shop.records


def create_log(spark: SparkSession, *events: Event) -> DataFrame:
    """The log of the events, as `create_frame`."""
    return create_frame(spark, build_log(*events))


def create_frame(spark: SparkSession, log: Iterable[Record]) -> DataFrame:
    """The records as Kafka hands them over, each partition in the order given."""
    offsets: Counter[Partition] = Counter()
    rows = []
    for record in log:
        partition = record.topic, record.partition
        published = EPOCH + record.published_ms * MILLISECOND
        rows.append((*partition, offsets[partition], published, record.key, record.value))
        offsets[partition] += 1
    return spark.createDataFrame(rows, RECORD)


def select_inputs(pipeline: Pipeline, log: Iterable[Record]) -> list[Record]:
    inputs = {topic.name for topic in pipeline.inputs}
    return [record for record in log if record.topic in inputs]


def load_pipeline(name: str) -> Pipeline:
    """The pipeline of that name; that of fraud with low thresholds."""
    return create_pipeline(LIMITS) if name == "fraud" else load(name)


def ask_oracle(pipeline: Pipeline, log: Sequence[Record]) -> inventory.Log:
    """The pipeline's oracle, over the log in memory."""
    read = select_inputs(pipeline, log)
    ends = {(record.topic, record.partition): record.offset + 1 for record in read}
    if pipeline.name == "inventory":
        return inventory.Oracle(read, ends)
    if pipeline.name == "analytics":
        products = [record for record in log if record.topic == PRODUCTS.name]
        return analytics.Oracle([*read, *products], ends)
    if pipeline.name == "fraud":
        return FraudOracle(log, LIMITS, ends)
    if pipeline.name == "visits":
        return VisitsOracle(read, VISIT_LIMITS, ends)
    if pipeline.name == "pricing":
        return PricingOracle(log, PRICING_LIMITS, ends)
    return ReorderOracle(log, POLICY, ends)


def compute_rows(
    spark: SparkSession, pipeline: Pipeline, log: Sequence[Record], view: int = 0
) -> dict[bytes, dict[str, Any]]:
    """The pipeline's rows of one of its views, by key, of the records in this order."""
    frame = create_frame(spark, select_inputs(pipeline, log))
    lookups = create_lookups(spark, pipeline.dimensions, log)
    rows = collect_rows(build_rows(pipeline, frame, lookups, view))
    return index_rows(pipeline.writes[view], rows)


class Examples(Timeline):
    """A timeline of which the oracle says what one counts oneself, and a pipeline the same."""

    def __init__(self, spark: SparkSession | None) -> None:
        super().__init__()
        self._spark = spark

    def judge(
        self, pipeline: Pipeline, expected: list[dict[str, Any]], view: int = 0
    ) -> list[dict[str, Any]]:
        """The oracle's rows; those of the pipeline's view with this number must be the same."""
        if self._spark is not None:
            rows = compute_rows(self._spark, pipeline, self.records, view)
            assert rows == index_rows(pipeline.writes[view], expected)
        return expected


def select_fields(rows: Iterable[Row], *fields: str) -> list[tuple[Any, ...]]:
    return [tuple(row[field] for field in fields) for row in rows]


def index_rows(view: Contract, rows: Iterable[dict[str, Any]]) -> dict[bytes, dict[str, Any]]:
    return {encode_key(view, row): row for row in rows}


def create_lookups(
    spark: SparkSession, dimensions: Iterable[Dimension], log: Sequence[Record] = ()
) -> Lookups:
    """What holds of each dimension by the log, and from when on."""
    lookups = {}
    for dimension in dimensions:
        versions = Versions(spark, dimension)
        versions.add(list(list_versions(dimension, log)))
        lookups[dimension] = versions.function
    return lookups


def list_versions(dimension: Dimension, log: Iterable[Record]) -> Iterator[DimensionVersion]:
    for record in log:
        if record.topic != dimension.topic.name:
            continue
        event = validate(dimension.topic, record.key, record.value, record.published_ms)
        assert not isinstance(event, Rejection)
        yield to_version(dimension, record.partition, record.offset, record.published_ms, event)
