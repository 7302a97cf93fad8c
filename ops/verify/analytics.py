"""The oracle of the analytics pipeline: computes sales by a batch read of the log."""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

import pyarrow as pa

from contracts import CONTRACTS, NOTICE, PRODUCTS, Contract
from contracts.consumer import CONSUMERS
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Offsets, Record
from ops.verify import inventory
from ops.verify.inventory import Row, define_columns
from ops.verify.sums import fit_sums
from ops.verify.validation import Content

ANNOUNCED = pa.schema(
    define_columns("sku event_id measure", "partition offset unit_cost_cents", "event_time since")
)
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

    schemas: ClassVar[Mapping[str, pa.Schema]] = {
        **inventory.Oracle.schemas,
        "announced": ANNOUNCED,
    }

    def __init__(self, records: Iterable[Record], ends: Offsets) -> None:
        super().__init__(records, ends)
        self.engine.execute(f"create view cost as {inventory.read_query('cost')}")

    def build_rows(
        self, record: Record, sequence: int | None, content: Content | None
    ) -> Iterator[tuple[str, Row]]:
        if record.topic != PRODUCTS.name:
            yield from super().build_rows(record, sequence, content)
        elif content is not None:
            product = content.movement
            noticed = EPOCH + record.published_ms * MILLISECOND + NOTICE
            place = {"partition": record.partition, "offset": record.offset}
            since = max(product["effective_at"], noticed)
            yield "announced", {**product, **place, "since": since}

    def compute_views(self) -> dict[str, list[Row]]:
        views = {}
        for name, contract in VIEWS.items():
            assert contract.grace is not None, "a view of windows says what is on time"
            seconds = int(contract.grace.total_seconds())
            self.engine.execute(f"set variable grace = interval {seconds} seconds")
            views[contract.name] = [fit_sums(row) for row in self.ask(name)]
        return views
