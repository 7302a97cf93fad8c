"""The simulator's ledger, compared with the log.

A page of the ledger states the position of its store after a tick: the number of the simulator's
records in its partition of each topic, and the stock by all readable events. So for any offsets
each store has a last page that is wholly before them. There, ledger and log must agree.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from contracts import LEDGER
from infra.settings import Settings
from ops.verify.inventory import Oracle, define_columns
from ops.verify.log import read_simulated

SEEN: Mapping[str, tuple[str, ...]] = {
    "repeated": ("duplicates",),
    "untimely": ("beyond_horizon", "future"),
    "unreadable": ("malformed", "unknown_schema", "broken_rule"),
}
"""The kinds of dirt in the ledger that a reader can find in the log."""
# A reader does not count a late record: within the horizon it is like any other.
DIRT = ("late", *(kind for kinds in SEEN.values() for kind in kinds))

Shelf = tuple[str, str]

PAGE = pa.schema(define_columns("store_id topic", "records"))


class Units(NamedTuple):
    """The book stock of a shelf, in units."""

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
    """The ledger's book stock compared with the log."""

    pages: int
    shelves: int
    dirt: Mapping[str, int]
    """Late, repeated and unreadable records by kind, as the pages count them."""
    simulated: int
    """The number of the simulator's records before the marker, also beyond these pages."""
    quarantined: int
    """The number of the ledger's movements that are in the quarantine, and so not in the view."""
    differences: list[Difference]
    seen: Mapping[str, tuple[int, int]]
    """The numbers of repeated, untimely and unreadable records: by the ledger, by the log."""

    @property
    def made(self) -> bool:
        """Whether the comparison was possible: before the first page it is not."""
        return self.pages > 0 or self.simulated == 0

    @property
    def agrees(self) -> bool:
        return not self.differences and all(ledger == log for ledger, log in self.seen.values())


def audit_ledger(settings: Settings, oracle: Oracle) -> Audit:
    """Compare at the last pages below the oracle's offsets."""
    on_hand: Counter[Shelf] = Counter()
    in_transit: Counter[Shelf] = Counter()
    last: dict[str, Mapping[str, int]] = {}
    pages = 0
    dirt = dict.fromkeys(DIRT, 0)
    # A store has the same partition in all topics.
    for partition, page in read_simulated(settings, LEDGER):
        positions = {position["topic"]: position["records"] for position in page["positions"]}
        if any(oracle.simulated[topic, partition] < n for topic, n in positions.items()):
            continue
        pages += 1
        dirt = {kind: count + page[kind] for kind, count in dirt.items()}
        store_id = page["store_id"]
        last[store_id] = positions
        for movement in page["movements"]:
            shelf = store_id, movement["sku"]
            on_hand[shelf] += movement["book_units"] - movement["unreadable_units"]
            transit_units = movement["transit_units"] - movement["unreadable_transit_units"]
            in_transit[shelf] += transit_units
    rows = [
        {"store_id": store_id, "topic": topic, "records": records}
        for store_id, positions in last.items()
        for topic, records in positions.items()
    ]
    oracle.load("page", pa.Table.from_pylist(rows, PAGE))
    booked = {shelf: Units(on_hand[shelf], in_transit[shelf]) for shelf in on_hand}
    on_log = oracle.ask("book_stock")
    (dirt_on_log,) = oracle.ask("book_dirt")
    return Audit(
        pages=pages,
        shelves=len(booked),
        dirt=dirt,
        simulated=sum(oracle.simulated.values()),
        quarantined=sum(row["movements_quarantined"] for row in on_log),
        differences=find_differences(
            booked,
            {
                (row["store_id"], row["sku"]): Units(row["units_on_hand"], row["units_in_transit"])
                for row in on_log
            },
        ),
        seen={
            what: (sum(dirt[kind] for kind in kinds), dirt_on_log[what])
            for what, kinds in SEEN.items()
        },
    )


def find_differences(ledger: Mapping[Shelf, Units], log: Mapping[Shelf, Units]) -> list[Difference]:
    return [
        Difference(shelf, ledger.get(shelf, NONE), log.get(shelf, NONE))
        for shelf in sorted(ledger.keys() | log.keys())
        if ledger.get(shelf, NONE) != log.get(shelf, NONE)
    ]
