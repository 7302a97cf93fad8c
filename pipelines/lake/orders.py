"""Orders with their confirmations, as a table, from bronze.

Silver has neither: they have no event time. Of an order's records the first one counts, as for
whoever obeys it.
"""

from collections.abc import Iterator
from functools import reduce
from operator import or_

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, Contract
from contracts import Row as Value
from contracts.arrow import build_arrow_schema
from infra.folder import Folder
from infra.kafka import Offsets
from infra.lake import Folders, read_coverage
from pipelines.lake.states import Row, StateTable
from pipelines.lake.views import READER

TABLE = "orders"
ID = "purchase_order_id"
CONFIRMED = ("shipped_units", "dispatches_at", "arrives_at")
COLUMNS = {
    **{name: pc.field(name) for name in ("topic", "partition", "offset", "key", "value")},
    "timestamp": pc.field("timestamp").cast(pa.int64()),  # a calendar may not have it
}
SCHEMA = pa.schema(
    [
        *build_arrow_schema(PURCHASE_ORDERS),
        *map(build_arrow_schema(CONFIRMATIONS).field, CONFIRMED),
    ]
)


def refresh_orders(folders: Folders) -> None:
    """Bring the table up to bronze, if it has new orders or confirmations."""
    table, bronze = StateTable(folders.gold(TABLE), SCHEMA), read_coverage(folders.bronze)
    before = read_coverage(table.folder)
    ends = {**bronze.of(PURCHASE_ORDERS.name), **bronze.of(CONFIRMATIONS.name)}
    if before.ends == ends or not table.is_due():
        return
    rows = {row[ID]: row for row in table.read()} if before.batch else {}
    for topic, value in read_values(folders.bronze, before.ends, ends):
        add(rows, topic, value)
    table.write(rows.values(), before.then(ends))


def add(rows: dict[str, Row], topic: Contract, value: Value) -> None:
    """Add an order or a confirmation to the rows by id, unless there is one.

    A confirmation without its order has a row too: the order comes with a later batch of bronze.
    """
    row = rows.setdefault(value[ID], {name: value.get(name) for name in (ID, "store_id", "sku")})
    if topic is PURCHASE_ORDERS and row.get("ordered_at") is None:
        row.update(value)
    if topic is CONFIRMATIONS and row.get("dispatches_at") is None:
        row.update({name: value[name] for name in CONFIRMED})


def read_values(bronze: Folder, starts: Offsets, ends: Offsets) -> Iterator[tuple[Contract, Value]]:
    """The accepted orders and confirmations between these offsets, each partition in order."""
    parts = [
        (pc.field("topic") == topic)
        & (pc.field("partition") == partition)
        & (pc.field("offset") >= starts.get((topic, partition), 0))
        & (pc.field("offset") < end)
        for (topic, partition), end in ends.items()
    ]
    dataset = DeltaTable(str(bronze)).to_pyarrow_dataset()
    records = dataset.to_table(columns=COLUMNS, filter=reduce(or_, parts))
    for topic in (PURCHASE_ORDERS, CONFIRMATIONS):
        of_topic = records.filter(pc.field("topic") == topic.name).sort_by("offset")
        for record in of_topic.to_pylist():
            place = topic.name, record["partition"], record["offset"]
            published_ms = record["timestamp"] // 1000
            value = READER.read(topic, place, record["key"], record["value"], published_ms)
            if value is not None:
                yield topic, value
