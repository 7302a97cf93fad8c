"""The lake of one drawn log: killed on the way, and read with other readers than Spark."""

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from operator import attrgetter, itemgetter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from contracts import (
    PRICE_CHANGES,
    PURCHASE_ORDERS,
    RECEIPTS,
    SHIPMENTS,
    STOCK_LEVELS,
    Contract,
    encode,
    encode_key,
)
from contracts.times import to_epoch_ms
from infra.checks import locate_quality
from infra.folder import Folder
from infra.kafka import Record, create_admin, create_producer, read_end_offsets
from infra.lake import PROPERTIES, read_coverage
from infra.processes import find_engines, start_module
from infra.reports import locate_reports
from infra.settings import Settings
from infra.wait import wait_until
from ops.cli.sql import connect
from ops.verify.inventory import Oracle, Row
from ops.verify.lake import check_tables
from ops.verify.log import read
from ops.verify.tables import Tables as Prices
from pipelines.lake.tables import EVENTS, TOPICS, Lake, Table, locate_lake
from services.api.lake import movements
from services.api.lake import tables as history
from services.api.lake.movements import Span, sum_movements
from tests.command import run_command
from tests.notebook import run_notebook
from tests.pipelines.lake.oracle import Events, collect_events, sum_daily_facts
from tests.replay.log import draw_log
from tests.replay.playing import publish
from tests.seeds import create_random
from tests.services.broker import KafkaLog
from tests.services.writing import Writing, promote
from tests.transactions import Transactions

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(2_400)]

SECONDS_MAX = 900
ABORTED = b"aborted"
SKUS = ("A", "B")


@pytest.fixture(scope="module")
def log(kafka: Settings) -> Settings:
    """A broker with a drawn world's log, orders in transactions, and a record of a stranger.

    A generation of inventory is promoted. The lake is where a URL says.
    """
    entries = draw_log(create_random("lake"))
    publish(kafka, entries)
    order(kafka)
    promote(changelog := KafkaLog(kafka), inventory := Writing(changelog))
    inventory.rows(1, SKUS, 3)
    inventory.mark()
    stranger = create_producer(kafka)
    headers: list[tuple[str, str | bytes | None]] = [("a", b"\0"), ("b", None)]
    stranger.produce(RECEIPTS.name, headers=headers, partition=0, timestamp=1)
    stranger.flush(SECONDS_MAX)
    return kafka.model_copy(
        update={
            "pipeline_records_per_batch_max": len(entries) // 2 + 1,
            "store_url": (kafka.data_dir / "another lake").as_uri(),
        }
    )


def order(kafka: Settings) -> None:
    """An order, one that is taken back, and one more."""
    gate, example = Transactions(kafka), PURCHASE_ORDERS.examples[0]
    key, value = encode_key(PURCHASE_ORDERS, example), encode(PURCHASE_ORDERS, example)
    for finish, written in ((gate.commit, key), (gate.abort, ABORTED), (gate.commit, key)):
        gate.begin()
        gate.write((PURCHASE_ORDERS.name, 0), written, value, published_ms=1)
        finish()


@pytest.fixture(scope="module")
def tables(log: Settings) -> Lake:
    """The lake when it holds the whole log, having been killed at a drawn point on the way.

    The table of receipts was there before their lines had a measure.
    """
    all_tables = locate_lake(log)
    make_narrow(all_tables.silver(RECEIPTS))
    kill(log, create_random("a kill"), all_tables)
    running = start(log)
    assert running.wait(SECONDS_MAX) == 0, read_log(log)
    return all_tables


def make_narrow(receipts: Table) -> None:
    text, moment = pa.string(), pa.timestamp("us", "UTC")
    line = pa.struct([("sku", text), ("units", pa.int32()), ("unit_price_cents", pa.int32())])
    columns: dict[str, pa.DataType] = {
        "event_id": text,
        "event_time": moment,
        **dict.fromkeys(("store_id", "register_id", "cashier_id", "card_token"), text),
        "customer_id": text,
        "lines": pa.list_(line),
        "_partition": pa.int32(),
        "_offset": pa.int64(),
        "_published": moment,
    }
    DeltaTable.create(str(receipts.folder), pa.schema(columns), configuration=dict(PROPERTIES))


def kill(settings: Settings, chance: Random, tables: Lake) -> None:
    """Run the lake until a drawn table has one more batch, and then no further."""
    of_spark = [tables.bronze, tables.silver(RECEIPTS), tables.silver(SHIPMENTS), tables.gold]
    states = map(tables.folders.gold, ("stock", "orders", "prices"))
    folder: Folder = chance.choice([*(table.folder for table in of_spark), *states])
    before = read_coverage(folder).batch
    running = start(settings)
    wait_until(
        lambda: running.poll() is not None or read_coverage(folder).batch > before,
        f"a batch comes into {folder.name}: {read_log(settings)}",
        SECONDS_MAX,
    )
    victims = find_engines(running.pid)
    running.kill()
    running.wait(SECONDS_MAX)
    for victim in victims:
        victim.kill()
        victim.wait(SECONDS_MAX)


def start(settings: Settings) -> "subprocess.Popen[bytes]":
    return start_module(settings, locate_log(settings), "pipelines.lake", "--once")


def read_log(settings: Settings) -> str:
    return locate_log(settings).read_text()


def locate_log(settings: Settings) -> Path:
    return settings.data_dir / "lake.log"


@pytest.fixture(scope="module")
def published(log: Settings) -> list[Record]:
    """Every record that a reader of the log gets."""
    ends = read_end_offsets(create_admin(log), [topic.name for topic in TOPICS])
    return list(read(log, ends))


@pytest.fixture(scope="module")
def expected(published: list[Record]) -> Events:
    return collect_events(published, [topic.name for topic in EVENTS])


def read_rows(folder: Folder) -> list[dict[str, Any]]:
    """The table's rows, as delta-rs reads them."""
    rows: list[dict[str, Any]] = DeltaTable(str(folder)).to_pyarrow_table().to_pylist()
    return rows


def test_bronze_has_every_record_of_the_log_once(tables: Lake, published: list[Record]) -> None:
    records = [
        Record(
            row["topic"],
            row["partition"],
            row["offset"],
            round(row["timestamp"].timestamp() * 1000),
            row["key"],
            row["value"],
            [(header["key"], header["value"]) for header in row["headers"] or ()],
        )
        for row in read_rows(tables.bronze.folder)
    ]
    place = attrgetter("topic", "partition", "offset")
    assert sorted(records, key=place) == sorted(published, key=place)


def test_what_was_not_committed_is_not_there(tables: Lake) -> None:
    orders = [
        row for row in read_rows(tables.bronze.folder) if row["topic"] == PURCHASE_ORDERS.name
    ]
    assert len(orders) == 2
    assert ABORTED not in {row["key"] for row in orders}


def test_every_table_says_up_to_where_it_holds_the_log(log: Settings, tables: Lake) -> None:
    ends = read_end_offsets(create_admin(log), [topic.name for topic in TOPICS])
    assert read_coverage(tables.bronze.folder).ends == ends
    for topic in EVENTS:
        of_topic = {partition: end for partition, end in ends.items() if partition[0] == topic.name}
        assert read_coverage(tables.silver(topic).folder).ends == of_topic
    assert read_coverage(tables.gold.folder).ends.items() <= ends.items()


def test_bronze_has_no_gap_below_what_any_version_says(tables: Lake) -> None:
    newest = DeltaTable(str(tables.bronze.folder)).version()
    for version in range(newest + 1):
        coverage = read_coverage(tables.bronze.folder, version)
        table = DeltaTable(str(tables.bronze.folder), version=version)
        columns = table.to_pyarrow_table(columns=["topic", "partition"])
        counted = Counter(
            zip(columns["topic"].to_pylist(), columns["partition"].to_pylist(), strict=True)
        )
        plain = {topic.name for topic in EVENTS}  # the others are written in transactions
        assert {
            partition: end
            for partition, end in coverage.ends.items()
            if partition[0] in plain and end
        } == {partition: count for partition, count in counted.items() if partition[0] in plain}


@pytest.mark.parametrize("topic", EVENTS, ids=lambda topic: topic.entity)
def test_silver_has_the_oracles_events(tables: Lake, expected: Events, topic: Contract) -> None:
    events = {
        (row.pop("_partition"), row.pop("_offset")): {
            name: value for name, value in row.items() if name != "_published"
        }
        for row in read_rows(tables.silver(topic).folder)
    }
    assert events == expected[topic.name]


def test_gold_has_the_oracles_facts(tables: Lake, expected: Events) -> None:
    facts = read_rows(tables.gold.folder)
    assert facts
    assert index_by_key(facts) == index_by_key(sum_daily_facts(expected))


def test_shelves_added_up_from_it_are_the_oracles(log: Settings, tables: Lake) -> None:
    """As the API tells them of any moment, from the lake alone: at the end, at the same offsets."""
    with history.Lake(tables.folders).open(*movements.TOPICS) as snapshot:
        ends = {
            partition: end
            for table in snapshot.tables.values()
            for partition, end in table.ends.items()
        }
        expected = Oracle(read(log, ends), ends).compute_view()
        shelves = [sum_movements(snapshot, Span(row["store_id"], row["sku"])) for row in expected]
    assert expected
    assert shelves == [to_ms_row(row) for row in expected]


def to_ms_row(row: Row) -> Row:
    """A row of the view without its key, times in milliseconds of 1970."""
    times = {name: round(row[name].timestamp() * 1000) for name in STOCK_LEVELS.times}
    return {name: value for name, value in {**row, **times}.items() if name not in STOCK_LEVELS.key}


def test_a_day_ends_with_the_oracles_sums(log: Settings, tables: Lake, expected: Events) -> None:
    query = "select day, store_id, sku, units_on_hand from gold.stock_days"
    rows = connect(log).sql(query).fetchall()
    held = {(day, store_id, sku): units for day, store_id, sku, units in rows}
    totals: Counter[tuple[str, str]] = Counter()
    for fact in sorted(sum_daily_facts(expected), key=itemgetter("day")):
        shelf = fact["store_id"], fact["sku"]
        gained = fact["units_received"] + fact["units_adjusted"] + fact["units_refunded"]
        totals[shelf] += gained - fact["units_sold"]
        assert held[fact["day"], *shelf] == totals[shelf]
    last = max(day for day, _, _ in held)
    assert {shelf: held[last, *shelf] for shelf in totals} == totals


def test_prices_hold_when_the_oracle_says(tables: Lake, published: list[Record]) -> None:
    changes = (record for record in published if record.topic == PRICE_CHANGES.name)
    versions = Prices(changes).select("select sku, since, price_cents from price")
    rows = read_rows(tables.folders.gold("prices"))
    assert {(row["sku"], row["since"], row["price_cents"]) for row in versions} == {
        (row["sku"], to_epoch_ms(row["holds_from"]), row["price_cents"]) for row in rows
    }
    assert len(rows) == len(versions) > 0


def test_an_order_that_was_given_twice_is_one_row(tables: Lake) -> None:
    [row] = read_rows(tables.folders.gold("orders"))
    assert row["purchase_order_id"] == PURCHASE_ORDERS.examples[0]["purchase_order_id"]


def test_the_promoted_stock_is_a_table(log: Settings, tables: Lake) -> None:
    assert {row["sku"] for row in read_rows(tables.folders.gold("stock"))} == set(SKUS)
    [check] = check_tables(log, "inventory")
    assert check.comparison is not None
    assert check.agrees


def test_the_notebook_draws_it(log: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert log.store_url is not None
    monkeypatch.setenv("STORE_URL", log.store_url)
    names = run_notebook(log, monkeypatch)
    assert not names["week"].empty


def index_by_key(facts: list[dict[str, Any]]) -> Mapping[tuple[Any, ...], dict[str, Any]]:
    named = {(row["day"], row["store_id"], row["sku"]): row for row in facts}
    assert len(named) == len(facts)
    return named


def test_a_batch_leaves_one_file_at_most_in_each_partition_of_a_table(tables: Lake) -> None:
    for table in (tables.bronze, *map(tables.silver, EVENTS)):
        for commit in DeltaTable(str(table.folder)).history():
            if commit["operation"] == "WRITE":
                added = int(commit["operationMetrics"].get("numFiles", 0))
                assert added <= (len(TOPICS) if table == tables.bronze else 1)


def test_it_leaves_one_file_in_each_partition_of_a_table(tables: Lake) -> None:
    for table in tables.tables:
        files = DeltaTable(str(table.folder)).file_uris()
        assert len(files) == len({Path(file).parent for file in files})


def test_its_quality_is_told_table_by_table(log: Settings, tables: Lake) -> None:
    """Everything is as expected; only the comparison with a view lacks an API."""
    verdicts = run_command(log, "verify", "--lake", "--json", seconds_max=SECONDS_MAX)
    assert verdicts.returncode == 1, verdicts.stderr
    document = json.loads(verdicts.stdout.splitlines()[-1])
    assert "API" in document["not_compared"] or "answer" in document["not_compared"]
    assert [table for table in document["tables"] if table["trouble"]] == []
    assert {table["table"] for table in document["tables"]} >= {
        str(table.folder).removeprefix(f"{tables.folders.root}/") for table in tables.tables
    }
    broken = [
        (table["table"], outcome)
        for table in document["tables"]
        for outcome in table["outcomes"]
        if not outcome["success"]
    ]
    assert broken == []
    assert (locate_quality(locate_reports(log)) / "index.html").exists()
