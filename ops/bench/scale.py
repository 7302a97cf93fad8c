"""How much the bench measures: everything, or enough to show that it works."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    name: str
    history_days: int
    """World days that are backfilled, at the default rate: 170,000 receipts each."""
    beside_days: int
    """World days that are replayed beside a shop. Whole weeks: on the morning after them about as
    much is sold as on the first."""
    replays: int
    """How often a log is replayed; the median counts."""
    sizes: tuple[int, ...]
    """Receipts in the log that grows."""
    size_replays: int
    counted: int
    """Receipts in the log that each system counts, copies apart: whole chunks of ten thousand."""
    warm_seconds: float
    """How long a shop runs before its latencies count: Java compiles hot code meanwhile."""
    probe_seconds: float
    read_seconds: float
    live_seconds: float
    """How long a shop runs before its memory counts."""
    hour_seconds: float
    """The age of a shop before the growth of its memory counts."""
    slope_seconds: float
    """How long that growth is watched."""
    starts: int
    """How often an existing shop is started; the median counts."""
    age_seconds: float
    """The age of a live shop before its batches count."""
    batch_seconds: float
    """How long the batches of one pipeline are counted."""
    compile_seconds: float
    """How long they are made before, while Java compiles the code of that pipeline."""
    settle_seconds: float
    """How long they are made before they count, where Java has compiled that code already."""
    remembered: tuple[int, ...]
    """Ids in the state of a live batch."""
    hot_refunds: int
    """Refunds of one cashier in one shift."""
    hot_receipts: int
    """Receipts of one customer on one day."""
    hot_movements: int
    """Movements of one shelf."""
    faults: int
    """Faults that are drawn for one world."""
    pause_seconds: float
    """How long a fault lasts that pauses a process or cuts the network."""


FULL = Scale(
    name="full",
    history_days=10,
    beside_days=7,
    replays=3,
    sizes=(1_000_000, 4_000_000, 8_000_000),
    size_replays=2,
    counted=1_000_000,
    warm_seconds=240,
    probe_seconds=60,
    read_seconds=30,
    live_seconds=60,
    hour_seconds=3_600,
    slope_seconds=900,
    starts=3,
    age_seconds=600,
    batch_seconds=40,
    compile_seconds=60,
    settle_seconds=20,
    remembered=(10_000, 100_000, 1_000_000),
    hot_refunds=100_000,
    hot_receipts=100_000,
    hot_movements=1_000_000,
    faults=50,
    pause_seconds=20,
)

QUICK = Scale(
    name="quick",
    history_days=1,
    beside_days=1,
    replays=1,
    sizes=(100_000, 400_000, 800_000),
    size_replays=1,
    counted=200_000,
    warm_seconds=20,
    probe_seconds=10,
    read_seconds=10,
    live_seconds=10,
    hour_seconds=60,
    slope_seconds=30,
    starts=1,
    age_seconds=30,
    batch_seconds=10,
    compile_seconds=10,
    settle_seconds=5,
    remembered=(1_000, 10_000, 100_000),
    hot_refunds=5_000,
    hot_receipts=5_000,
    hot_movements=100_000,
    faults=6,
    pause_seconds=3,
)
