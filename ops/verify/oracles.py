"""The oracle of each pipeline, which computes the same answer by other means."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from contracts import PRODUCTS, PROMOTIONS, PROPOSALS, VISITS
from infra.errors import UserError
from infra.kafka import Offsets, Record, create_admin, read_end_offsets
from infra.settings import Settings, locate_root
from ops.verify import analytics, inventory
from ops.verify.fraud import ask_fraud_oracle
from ops.verify.inventory import Log, Row, read_query
from ops.verify.log import read
from ops.verify.sums import fit_sums
from ops.verify.tables import Tables, load_limits, restore_times
from pipelines.reorder.policy import Policy
from pipelines.visits.thresholds import Thresholds

MINUTE_MS = 60_000


class VisitsOracle(Tables):
    def __init__(self, records: Iterable[Record], limits: Thresholds, ends: Offsets) -> None:
        super().__init__(records, ends)
        pause_ms = limits.pause_minutes * MINUTE_MS
        self.engine.execute(f"set variable pause = {pause_ms:d}::bigint")
        self.engine.execute(f"set variable stores_max = {limits.stores_max:d}::bigint")

    def compute_views(self) -> dict[str, list[Row]]:
        times = "slot_start", "visit_start", "visit_end", "window_end"
        rows = self.select(read_query("visit"))
        return {VISITS.name: [fit_sums(restore_times(row, *times)) for row in rows]}


class ReorderOracle(Tables):
    """The proposals of some records: of the reviews at each midnight."""

    def __init__(
        self, records: Iterable[Record], policy: Policy, ends: Offsets | None = None
    ) -> None:
        super().__init__(records, ends)
        for name, value in asdict(policy).items():
            self.engine.execute(f"set variable {name} = {value}::double")

    def compute_views(self) -> dict[str, list[Row]]:
        rows = self.select(read_query("proposal"))
        return {PROPOSALS.name: [restore_times(row, "review_at") for row in rows]}


def ask_analytics_oracle(settings: Settings, ends: Offsets, _code: Path) -> analytics.Oracle:
    """It reads products to the current end of their topic."""
    product_ends = read_end_offsets(create_admin(settings), [PRODUCTS.name])
    return analytics.Oracle(read(settings, ends), ends, read(settings, product_ends))


def ask_reorder_oracle(settings: Settings, ends: Offsets, code: Path) -> ReorderOracle:
    """It reads products and promotions to the current end of their topics."""
    dimension_ends = read_end_offsets(create_admin(settings), [PRODUCTS.name, PROMOTIONS.name])
    return ReorderOracle(
        read(settings, {**ends, **dimension_ends}), load_limits(code, "reorder", "Policy"), ends
    )


Ask = Callable[[Settings, Offsets, Path], Log]
"""Creates the oracle of a log below some offsets, by the thresholds and the policy in a copy of the
code."""

ORACLES: Mapping[str, Ask] = {
    "inventory": lambda settings, ends, _: inventory.Oracle(read(settings, ends), ends),
    "analytics": ask_analytics_oracle,
    "fraud": ask_fraud_oracle,
    "visits": lambda settings, ends, code: VisitsOracle(
        read(settings, ends), load_limits(code, "visits"), ends
    ),
    "reorder": ask_reorder_oracle,
}
"""The oracles by pipeline."""


def ask_oracle(pipeline: str, settings: Settings, ends: Offsets) -> Log:
    """The oracle of the pipeline below these offsets, by the code on disk. Raises UserError."""
    return get_oracle(pipeline)(settings, ends, locate_root())


def get_oracle(pipeline: str) -> Ask:
    """The oracle of the pipeline. Raises UserError."""
    if pipeline not in ORACLES:
        names = ", ".join(ORACLES)
        raise UserError(f"There is no oracle of a pipeline {pipeline!r}. Known: {names}")
    return ORACLES[pipeline]
