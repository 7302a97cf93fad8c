"""The oracle of each pipeline, which computes the same answer by other means."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from contracts import (
    MARKDOWN_PROPOSALS,
    POSITION_CHANGES,
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    PROPOSALS,
    STORES,
    VISITS,
)
from infra.errors import UserError
from infra.kafka import Offsets, Record, create_admin, read_end_offsets
from infra.settings import Settings, locate_root
from ops.verify import analytics, inventory
from ops.verify.fraud import FraudOracle
from ops.verify.inventory import Log, Row, read_query
from ops.verify.log import read
from ops.verify.sums import fit_sums
from ops.verify.tables import Tables, load_limits, restore_times
from pipelines.pricing.thresholds import Thresholds as PricingThresholds
from pipelines.reorder.policy import Policy
from pipelines.visits.thresholds import Thresholds

MINUTE_MS = 60_000


FORECAST_MACROS = """
create macro add_milli(sales) as
    coalesce(list_sum(list_transform(sales, lambda sale: sale.milli)), 0)::bigint;
create macro add_up(numbers) as list_transform(range(len(numbers) + 1),
    lambda n: list_reduce([0::double] || numbers[1:n], lambda a, b: a + b));
create macro sold_before(part, daily, starts, clock) as
    starts[8] * (part // 8 // 7) + starts[part // 8 % 7 + 1]
    + daily[part // 8 % 7 + 1] * clock[part % 8 + 1];
create macro sold_until(days, daily, starts, clock) as
    sold_before(floor(greatest(days, 0) * 8)::bigint, daily, starts, clock)
    + (
        sold_before(floor(greatest(days, 0) * 8)::bigint + 1, daily, starts, clock)
        - sold_before(floor(greatest(days, 0) * 8)::bigint, daily, starts, clock)
    ) * (greatest(days, 0) * 8 - floor(greatest(days, 0) * 8));
"""
"""Of the reorder forecast: what is sold before the n-th part after a review, or before a moment."""


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
    """The proposals of some records, at each midnight, and the changes of positions by minute."""

    def __init__(
        self, records: Iterable[Record], policy: Policy, ends: Offsets | None = None
    ) -> None:
        super().__init__(records, ends)
        for name, value in asdict(policy).items():
            written = list(value) if isinstance(value, tuple) else f"{value}::double"
            self.engine.execute(f"set variable {name} = {written}")
        self.engine.execute(FORECAST_MACROS)
        self.engine.execute(f"create table movement as {read_query('movement')}")

    def compute_views(self) -> dict[str, list[Row]]:
        reviews = self.select(read_query("proposal"))
        changes = self.select(read_query("position_change"))
        return {
            PROPOSALS.name: [restore_times(row, "review_at") for row in reviews],
            POSITION_CHANGES.name: [restore_times(row, "changed_at") for row in changes],
        }


class PricingOracle(Tables):
    """The markdown proposals of some records, by half-hour and by day."""

    def __init__(
        self, records: Iterable[Record], limits: PricingThresholds, ends: Offsets | None = None
    ) -> None:
        super().__init__(records, ends)
        for name, value in asdict(limits).items():
            kind = "double[]" if isinstance(value, tuple) else "double"
            listed = list(value) if isinstance(value, tuple) else value
            self.engine.execute(f"set variable {name} = {listed}::{kind}")

    def compute_views(self) -> dict[str, list[Row]]:
        rows = self.select(read_query("markdown_proposal"))
        return {MARKDOWN_PROPOSALS.name: [restore_times(row, "ends_at") for row in rows]}


Build = Callable[[Iterable[Record], Offsets, Path], Log]
"""The oracle of some records, by the thresholds and the policy in a copy of the code."""

ORACLES: Mapping[str, Build] = {
    "inventory": lambda records, ends, _: inventory.Oracle(records, ends),
    "analytics": lambda records, ends, _: analytics.Oracle(records, ends),
    "fraud": lambda records, ends, code: FraudOracle(records, load_limits(code, "fraud"), ends),
    "visits": lambda records, ends, code: VisitsOracle(records, load_limits(code, "visits"), ends),
    "reorder": lambda records, ends, code: ReorderOracle(
        records, load_limits(code, "reorder", "Policy"), ends
    ),
    "pricing": lambda records, ends, code: PricingOracle(
        records, load_limits(code, "pricing"), ends
    ),
}
"""The oracles by pipeline."""
DIMENSIONS: Mapping[str, Sequence[str]] = {
    "analytics": [PRODUCTS.name],
    "fraud": [PRICE_CHANGES.name, PRODUCTS.name, STORES.name],
    "reorder": [PRODUCTS.name, PROMOTIONS.name],
    "pricing": [PRICE_CHANGES.name, PRODUCTS.name],
}
"""By pipeline, the topics that its oracle reads to their current end."""


def ask_oracle(pipeline: str, settings: Settings, ends: Offsets, code: Path | None = None) -> Log:
    """The oracle of the pipeline below these offsets, by this code, else that on disk.

    Raises UserError.
    """
    build, topics = get_oracle(pipeline), DIMENSIONS.get(pipeline)
    current = read_end_offsets(create_admin(settings), topics) if topics else {}
    return build(read(settings, {**ends, **current}), ends, code or locate_root())


def get_oracle(pipeline: str) -> Build:
    """The oracle of the pipeline. Raises UserError."""
    if pipeline not in ORACLES:
        names = ", ".join(ORACLES)
        raise UserError(f"There is no oracle of a pipeline {pipeline!r}. Known: {names}")
    return ORACLES[pipeline]
