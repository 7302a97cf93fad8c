"""A whole small lake: bronze, silver and gold of the same events, by another writer than Spark."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, write_deltalake

from contracts import ADJUSTMENTS, Contract
from infra.lake import Coverage, Folders, read_coverage
from pipelines.lake.tables import EVENTS
from tests.services.silver import PARTITION, Silver
from tests.services.world import NOON, find_minute

PLACE: dict[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
}
AMOUNTS = (
    *("receipts", "units_sold", "sales_cents", "units_refunded", "refunded_cents"),
    *("units_received", "units_adjusted"),
)
FACT: dict[str, pa.DataType] = {
    "day": pa.date32(),
    **dict.fromkeys(("store_id", "sku"), pa.string()),
    **dict.fromkeys(AMOUNTS, pa.int64()),
}
STORE = "S001"


class SmallLake:
    """Adjustments of shelves, published as they happen. `settle` makes it a batch of the lake."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self.silver = Silver(folders, EVENTS)
        self._facts: Counter[tuple[date, str, str]] = Counter()
        self._kept: dict[tuple[str, int], int] = {}

    def adjust(self, sku: str, units: int, minute: int = 0, **changes: Any) -> int:
        """An adjustment so many minutes after noon; its offset."""
        time = find_minute(minute)
        fields = {"event_id": f"{sku}-{minute}", "event_time": time, "store_id": STORE, "sku": sku}
        offset = self.silver.put(ADJUSTMENTS, **{**fields, "units": units, **changes})
        self._facts[time.date(), STORE, sku] += units
        return offset

    def settle(self) -> None:
        """Bring bronze and gold up to silver."""
        ends = read_coverage(self.folders.silver(ADJUSTMENTS)).ends
        records = [
            {"topic": topic, "partition": partition, "offset": offset}
            for (topic, partition), end in ends.items()
            for offset in range(self._kept.get((topic, partition), 0), end)
        ]
        self._kept.update(ends)
        self.write_bronze(records, Coverage(1, ends))
        facts = [
            create_fact(day, store, sku, units_adjusted=units)
            for (day, store, sku), units in self._facts.items()
        ]
        rows = pa.Table.from_pylist(facts, schema=pa.schema(FACT))
        options = {"mode": "overwrite", "partition_by": ["day"]}
        write(str(self.folders.daily_facts), rows, Coverage(1, ends), **options)

    def damage_sum(self, sku: str, units: int) -> None:
        """Have gold say so many units too much, from its next batch on."""
        self._facts[NOON.date(), STORE, sku] += units

    def write_bronze(self, records: Sequence[Mapping[str, Any]], coverage: Coverage) -> None:
        rows = pa.Table.from_pylist([dict(record) for record in records], schema=pa.schema(PLACE))
        write(str(self.folders.bronze), rows, coverage, mode="append", partition_by=["topic"])


def write(folder: str, rows: pa.Table, coverage: Coverage, **options: Any) -> None:
    properties = CommitProperties(custom_metadata={"userMetadata": coverage.to_json()})
    write_deltalake(folder, rows, commit_properties=properties, **options)


def create_fact(day: date, store: str, sku: str, **amounts: int) -> dict[str, Any]:
    return {"day": day, "store_id": store, "sku": sku, **dict.fromkeys(AMOUNTS, 0), **amounts}


def part(topic: Contract) -> tuple[str, int]:
    """The partition that has the events of a small lake."""
    return topic.name, PARTITION
