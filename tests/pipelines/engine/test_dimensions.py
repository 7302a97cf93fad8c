"""The topic alone decides which version holds at a moment: every reader sees the same."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from contracts import NOTICE, ON_ITS_WAY, PRODUCTS, encode, encode_key
from contracts.times import EPOCH
from contracts.validation import VALIDATED
from infra.settings import Settings
from infra.wait import wait_for
from pipelines.common.pipeline import Dimension
from pipelines.common.transform.lines import join_as_of
from pipelines.common.transform.validate import NEVER
from pipelines.engine.dimensions import DimensionReader, DimensionVersion, Versions, to_version
from tests.brokers import get_producer
from tests.transactions import Transactions, write_transaction

COSTS = Dimension(PRODUCTS, "effective_at", {"unit_cost_cents": "cost", "measure": "measure"})
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
DAY_MS = 86_400_000
NO_CALENDAR_MS = 10**15
MINUTE = timedelta(minutes=1)
SKEW = max(topic.skew for topic in VALIDATED.values() if topic.skew)

pytestmark = pytest.mark.spark


def find_cost(
    spark: SparkSession, versions: Iterable[DimensionVersion], sku: str, at_ms: int
) -> Any:
    """What holds at a moment, in milliseconds, by these versions; None where none does."""
    costs = Versions(spark, COSTS)
    for version in versions:  # one by one, as they come
        costs.add([version])
    found = costs.java.call(sku, at_ms)
    return None if found is None else found.getLong(0)


def create_version(sku: str, day: int, cost: int, offset: int) -> DimensionVersion:
    return DimensionVersion(sku, day * DAY_MS, 0, offset, (cost, None))


def test_a_version_holds_until_the_next_one_of_its_key(spark: SparkSession) -> None:
    versions = [
        create_version("A", 3, 30, 1),
        create_version("B", 2, 20, 2),
        create_version("A", 1, 10, 0),
    ]
    never_ms = (NEVER - EPOCH) // timedelta(milliseconds=1)
    moments = (DAY_MS - 1, DAY_MS, 3 * DAY_MS - 1, 3 * DAY_MS)
    assert [find_cost(spark, versions, "A", at_ms) for at_ms in moments] == [None, 10, 10, 30]
    assert find_cost(spark, versions, "B", never_ms - 1) == 20
    assert find_cost(spark, versions, "B", never_ms) is None
    assert find_cost(spark, versions, "C", never_ms - 1) is None


def test_of_two_versions_from_one_moment_on_the_last_one_published_holds(
    spark: SparkSession,
) -> None:
    versions = [create_version("A", 1, 11, 1), create_version("A", 1, 10, 0)]
    assert find_cost(spark, versions, "A", DAY_MS) == 11


def test_a_line_gets_the_columns_of_the_version_that_held(spark: SparkSession) -> None:
    costs = Versions(spark, COSTS)
    costs.add([DimensionVersion("A", DAY_MS, 0, 0, (10, "litre"))])
    lines = spark.createDataFrame(
        [("A", EPOCH + DAY), ("A", EPOCH), ("B", EPOCH + DAY), (None, None)],
        "sku string, event_time timestamp",
    )
    joined = join_as_of(lines, {COSTS: costs.function})
    assert joined.columns == ["sku", "event_time", "cost", "measure"]
    assert joined.select("cost", "measure").collect() == [
        Row(cost=10, measure="litre"),
        *[Row(cost=None, measure=None)] * 3,
    ]


def test_a_query_that_is_planned_already_sees_versions_that_come_later(spark: SparkSession) -> None:
    costs = Versions(spark, COSTS)
    lines = spark.createDataFrame([("A", EPOCH + 40 * DAY)], "sku string, event_time timestamp")
    joined = join_as_of(lines, {COSTS: costs.function}).select("cost")
    ask = joined._jdf.queryExecution().toRdd  # as a batch of a stream: planned, then executed
    planned = [ask() for _ in range(2)]
    for number in range(40):  # more often than a dimension has parts
        costs.add([create_version("A", number, 1_000 + number, number)])
    for rdd in planned:
        [row] = rdd.collect()
        assert row.getLong(0) == 1_039
    assert joined.where(F.col("cost") == 1_039).count() == 1


def announce_cost(cost: int, effective: timedelta, published: timedelta) -> DimensionVersion:
    """A product's cost, announced this long after the beginning of Monday, at the offset `cost`."""
    event = {"sku": "A", "effective_at": to_ms(effective), "unit_cost_cents": cost, "measure": None}
    return to_version(COSTS, 0, cost, to_ms(published), event)


def to_ms(after: timedelta) -> int:
    return (MONDAY + after - EPOCH) // timedelta(milliseconds=1)


@pytest.mark.parametrize("notice", [NOTICE, NOTICE - MINUTE, timedelta(), -DAY])
def test_a_version_holds_when_it_says_and_after_its_notice_at_the_earliest(
    notice: timedelta, spark: SparkSession
) -> None:
    versions = [announce_cost(60, effective=DAY + notice, published=DAY)]
    begins_ms = to_ms(max(DAY + notice, DAY + NOTICE))
    assert find_cost(spark, versions, "A", begins_ms - 1) is None
    assert find_cost(spark, versions, "A", begins_ms) == 60


MINUTES = st.integers(-30, 30).map(lambda minutes: minutes * MINUTE)


@settings(deadline=None)
@given(
    st.lists(st.tuples(MINUTES, MINUTES), max_size=8),
    st.integers(-30, SKEW // MINUTE).map(lambda minutes: minutes * MINUTE),
)
@example([(timedelta(), MINUTE - ON_ITS_WAY)], SKEW)
def test_what_holds_at_the_moment_of_an_event_was_in_the_log_before_it(
    spark: SparkSession, versions: list[tuple[timedelta, timedelta]], happened: timedelta
) -> None:
    """Versions: when each says that it holds, and when it was published. The event is published as
    Monday begins, by a clock that may be ahead."""
    announced = [announce_cost(number, *version) for number, version in enumerate(versions)]
    before = [
        announce_cost(number, *version)
        for number, version in enumerate(versions)
        if version[1] <= -ON_ITS_WAY
    ]
    at_ms = to_ms(happened)
    assert find_cost(spark, before, "A", at_ms) == find_cost(spark, announced, "A", at_ms)


def create_product(event_id: str, cost: int, effective_at: datetime) -> dict[str, Any]:
    (example, *_) = PRODUCTS.examples
    return {
        **example,
        "event_id": event_id,
        "sku": "A",
        "unit_cost_cents": cost,
        "effective_at": effective_at,
        "event_time": MONDAY,
    }


def publish(settings: Settings, events: Iterable[tuple[dict[str, Any], datetime]]) -> None:
    client = get_producer(settings)
    for event, published in events:
        client.produce(
            PRODUCTS.name,
            key=encode_key(PRODUCTS, event),
            value=encode(PRODUCTS, event),
            timestamp=int(published.timestamp() * 1000),
        )
    client.produce(PRODUCTS.name, key=b"A", value=b"noise", timestamp=0)
    assert client.flush(30) == 0


def read_costs(reader: DimensionReader) -> list[tuple[int, int]]:
    """From when on each new version holds, and its cost."""
    return [(version.since_ms, version.values[0]) for version in reader.read_to_end()]


def test_a_reader_goes_on_where_it_stood(kafka: Settings) -> None:
    reader = DimensionReader(kafka, COSTS)
    ahead = create_product("P-1", 60, MONDAY + DAY)
    never = create_product("P-0", 50, MONDAY) | {"effective_at": NO_CALENDAR_MS}
    publish(kafka, [(never, MONDAY), (ahead, MONDAY), (ahead, MONDAY)])
    assert read_costs(reader) == [(to_ms(DAY), 60)]
    behind = create_product("P-2", 70, MONDAY + DAY)
    publish(kafka, [(behind, MONDAY + 2 * DAY)])
    anew = create_product("P-3", 80, MONDAY + 3 * DAY)
    publish(kafka, [(anew, MONDAY + 2 * DAY), (ahead, MONDAY)])
    assert read_costs(reader) == [(to_ms(2 * DAY + NOTICE), 70), (to_ms(3 * DAY), 80)], (
        "what is announced after its time holds once it has had its notice"
    )
    assert reader.read_to_end() == []


def test_a_reader_waits_for_a_version_in_an_open_transaction(kafka: Settings) -> None:
    """Its notice counts from its own timestamp: it may hold before it is committed."""
    reader = DimensionReader(kafka, COSTS)
    reader.read_to_end()
    event, partition = create_product("P-4", 90, MONDAY + 4 * DAY), (PRODUCTS.name, 0)
    published_ms = int(MONDAY.timestamp() * 1000)
    write_transaction(kafka, partition, [encode(PRODUCTS, event)], commits=False)
    assert not reader.read_to_end(), "aborted, and an end without a record"
    client = Transactions(kafka)
    client.begin()
    client.write(partition, encode_key(PRODUCTS, event), encode(PRODUCTS, event), published_ms)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(reader.read_to_end)
        assert not wait_for(reading.done, 1.0), "the transaction may still commit"
        client.commit()
        assert len(reading.result(30)) == 1
