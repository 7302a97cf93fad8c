"""Costs in round numbers."""

from ops.bench.coefficients import Coefficients, PipelineCosts, ShopCosts

USUAL = PipelineCosts(
    caught_up_per_core=40_000,
    batch_ms=100,
    receipt_ms=0.1,
    line_ms=0.1,
    batch_wall_ms=200,
    receipt_wall_ms=0.25,
    ids_mb=50,
    shelves_mb=100,
    changelog_mb=80,
    rows_mb=90,
)
SHOP = ShopCosts(cores=0.2, line_ms=0.05, memory_gb=2.5, receipts_mb=100, lines_mb=20)
COSTS = Coefficients(SHOP, dict.fromkeys(("inventory", "fraud", "analytics", "visits"), USUAL))
