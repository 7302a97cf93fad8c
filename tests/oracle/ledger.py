"""The simulator's sealed truth, held against what the log says.

A page of the ledger says where its store stood after a tick: so many of the simulator's records
in its partition of each topic, and so much stock by what they say. So any offsets of the log have,
store by store, a last page that lies wholly before them; there the two must agree.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from contracts import LEDGER, decode
from infra.kafka import Partition, admin, end_offsets
from infra.settings import Settings
from tests.oracle.inventory import Oracle, Row
from tests.oracle.log import read

DIRT = ("duplicates", "late", "beyond_horizon")

Shelf = tuple[str, str]

COLUMNS: dict[str, pa.DataType] = {
    "store_id": pa.string(),
    "topic": pa.string(),
    "records": pa.int64(),
}
PAGE = pa.schema(COLUMNS)


class Units(NamedTuple):
    """The stock of a shelf by the books."""

    on_hand: int = 0
    in_transit: int = 0

    def __str__(self) -> str:
        return f"{self.on_hand} on hand, {self.in_transit} in transit"


NONE = Units()


@dataclass(frozen=True)
class Difference:
    """A shelf on which the ledger and the log disagree."""

    shelf: Shelf
    ledger: Units
    log: Units


@dataclass(frozen=True)
class Audit:
    """The ledger's book stock held against the log."""

    pages: int
    shelves: int
    dirt: Mapping[str, int]
    """Records published otherwise than on time and once, by kind, as the pages count them."""
    quarantined: int
    """Movements that the ledger books and the view lacks: quarantine lists them."""
    differences: list[Difference]


def audit(settings: Settings, oracle: Oracle) -> Audit:
    """Compare at the last pages that lie before where the oracle has read."""
    on_hand: Counter[Shelf] = Counter()
    in_transit: Counter[Shelf] = Counter()
    last: dict[str, Mapping[str, int]] = {}
    pages = 0
    dirt = dict.fromkeys(DIRT, 0)
    simulated = simulated_records(oracle)
    for partition, page in ledger(settings):
        positions = {at["topic"]: at["records"] for at in page["positions"]}
        if any(simulated.get((at, partition), 0) < n for at, n in positions.items()):
            continue
        pages += 1
        dirt = {kind: count + page[kind] for kind, count in dirt.items()}
        store_id = page["store_id"]
        last[store_id] = positions
        for movement in page["movements"]:
            on_hand[store_id, movement["sku"]] += movement["book_units"]
            in_transit[store_id, movement["sku"]] += movement["transit_units"]
    oracle.load("page", page_table(last))
    booked = {shelf: Units(on_hand[shelf], in_transit[shelf]) for shelf in on_hand}
    said = oracle.ask("book_stock")
    return Audit(
        pages=pages,
        shelves=len(booked),
        dirt=dirt,
        quarantined=sum(row["movements_quarantined"] for row in said),
        differences=differences(booked, {shelf_of(row): units_of(row) for row in said}),
    )


def shelf_of(row: Row) -> Shelf:
    return row["store_id"], row["sku"]


def units_of(row: Row) -> Units:
    return Units(row["units_on_hand"], row["units_in_transit"])


def ledger(settings: Settings) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every page, with the number of its partition: its store has the same one everywhere."""
    for record in read(settings, end_offsets(admin(settings), [LEDGER.name])):
        if record.value is not None:
            yield record.partition, dict(decode(record.value).value)


def simulated_records(oracle: Oracle) -> dict[Partition, int]:
    """How many of the simulator's records the oracle has read, by partition."""
    counted = oracle.engine.sql(
        "select topic, partition, max(sequence) + 1 from posted group by all"
    )
    return {(topic, partition): records or 0 for topic, partition, records in counted.fetchall()}


def page_table(last: Mapping[str, Mapping[str, int]]) -> pa.Table:
    rows = [
        {"store_id": store_id, "topic": topic, "records": records}
        for store_id, positions in last.items()
        for topic, records in positions.items()
    ]
    return pa.Table.from_pylist(rows, PAGE)


def differences(ledger: Mapping[Shelf, Units], log: Mapping[Shelf, Units]) -> list[Difference]:
    return [
        Difference(shelf, ledger.get(shelf, NONE), log.get(shelf, NONE))
        for shelf in sorted(ledger.keys() | log.keys())
        if ledger.get(shelf, NONE) != log.get(shelf, NONE)
    ]
