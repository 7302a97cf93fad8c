"""The oracle of the analytics pipeline: computes sales by a batch read of the log."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from contracts import CONTRACTS, NOTICE, Contract
from contracts.consumer import CONSUMERS
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Offsets, Record
from ops.verify import inventory
from ops.verify.inventory import TIME, Row
from ops.verify.sums import fit_sums
from ops.verify.validation import Unreadable, read_record

COLUMNS: dict[str, pa.DataType] = {
    "sku": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "event_id": pa.string(),
    "event_time": TIME,
    "since": TIME,
    "unit_cost_cents": pa.int64(),
    "measure": pa.string(),
}
COSTS = pa.schema(COLUMNS)
"""The cost of a product, of a piece or of a whole measure, and the time from which it holds: NOTICE
after its publication, or later."""

VIEWS: Mapping[str, Contract] = {
    CONTRACTS[name].entity.replace("-", "_"): CONTRACTS[name]
    for name in CONSUMERS["analytics"].writes
    if CONTRACTS[name].domain == "analytics"
}
"""The views that the pipeline declares to write, by the name of the query."""


class Oracle(inventory.Oracle):
    """The receipts and refunds below some offsets, and the known products."""

    def __init__(
        self, records: Iterable[Record], ends: Offsets, products: Iterable[Record]
    ) -> None:
        super().__init__(records, ends)
        self.load("announced", pa.Table.from_pylist(list(list_costs(products)), COSTS))
        self.engine.execute(f"create view cost as {inventory.read_query('cost')}")

    def compute_views(self) -> dict[str, list[Row]]:
        views = {}
        for name, contract in VIEWS.items():
            assert contract.grace is not None, "a view of windows says what is on time"
            seconds = int(contract.grace.total_seconds())
            self.engine.execute(f"set variable grace = interval {seconds} seconds")
            views[contract.name] = [fit_sums(row) for row in self.ask(name)]
        return views


def list_costs(products: Iterable[Record]) -> Iterator[dict[str, Any]]:
    for record in products:
        try:
            product = read_record(record).movement
        except Unreadable:
            continue
        noticed = EPOCH + record.published_ms * MILLISECOND + NOTICE
        yield {
            "sku": product["sku"],
            "partition": record.partition,
            "offset": record.offset,
            "event_id": product["event_id"],
            "event_time": product["event_time"],
            "since": max(product["effective_at"], noticed),
            "unit_cost_cents": product["unit_cost_cents"],
            "measure": product.get("measure"),
        }
