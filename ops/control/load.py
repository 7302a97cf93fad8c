"""The load of the simulated world, as an operator turns it while the world runs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from contracts import LOADS, Row, encode, encode_key
from infra.kafka import Outgoing, create_producer, send_all
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS, read_table
from ops.control.world_clock import WORLD

RECEIPTS_PER_SECOND_MIN, RECEIPTS_PER_SECOND_MAX = 0.1, 1_000.0
SPEED_MIN, SPEED_MAX = 1.0, 1_000.0
"""In a slower world the next turn would wait for minutes: it is heard at a minute of the world."""
FACTOR_MIN, FACTOR_MAX = 0.01, 100.0
"""Of a hit, relative to the usual demand."""
QUIET_STORES_MAX = HITS_MAX = 100


class Load(NamedTuple):
    """What was turned; None and nothing: as when the world began."""

    load_id: str = ""
    receipts_milli: int | None = None
    """Per wall second at the default speed, in thousandths."""
    speed_milli: int | None = None
    """World milliseconds per wall second. It is no part of the world: it paces it."""
    quiet_stores: Sequence[str] = ()
    hits: Mapping[str, int] = {}
    """By sku: demand in percent of the usual demand."""

    @classmethod
    def parse(cls, row: Row) -> "Load":
        return cls(
            row["load_id"],
            row["receipts_milli"],
            row["speed_milli"],
            [quiet["store_id"] for quiet in row["quiet_stores"]],
            {hit["sku"]: hit["demand_percent"] for hit in row["hits"]},
        )

    def to_row(self, turned_ms: int) -> Row:
        """The inverse of `parse`: the value of a record."""
        return {
            "world": WORLD,
            "load_id": self.load_id,
            "turned_at": turned_ms,
            "receipts_milli": self.receipts_milli,
            "speed_milli": self.speed_milli,
            "quiet_stores": [{"store_id": store_id} for store_id in self.quiet_stores],
            "hits": [{"sku": sku, "demand_percent": percent} for sku, percent in self.hits.items()],
        }


def read_load(settings: Settings) -> Load:
    """The load as it was turned last. Raises as `read_table` does."""
    row = read_table(settings, ALL_FIELDS, LOADS).get(encode_key(LOADS, {"world": WORLD}))
    return Load.parse(row) if row else Load()


def publish_load(settings: Settings, load: Load, turned_ms: int) -> None:
    """Publish the load for the simulator. Raises NotDelivered."""
    row = load.to_row(turned_ms)
    record = Outgoing(LOADS.name, encode_key(LOADS, row), encode(LOADS, row))
    send_all(create_producer(settings), [record])
