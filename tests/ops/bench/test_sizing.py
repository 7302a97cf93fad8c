"""What is made of the measurements: costs that explain them, and the error of a prediction."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.bench.figures import Figure, Yardstick
from ops.bench.loads import Load, Use
from ops.bench.pipeline_costs import (
    LONG,
    Reading,
    Readings,
    Window,
    Windows,
    count_shelves,
    fit_costs,
    fit_line,
    fit_log_lines,
    join_windows,
)
from ops.bench.receipts import LINES, USUAL, Spread, create_receipt
from ops.bench.sizing import BUSY, CALM, HELD, compare_all, fit_shop, hold
from tests.ops.bench.costs import COSTS

BATCHES, STEP, SHELVES, RECEIPTS = 20, 100_000, 250_000, 10_000
RUN: Any = SimpleNamespace()
costs = st.floats(0.01, 500)


def measure_window(
    receipts: int, lines: int, batch_ms: float, receipt_ms: float, line_ms: float
) -> Window:
    """A window as it would be measured where these were the costs."""
    batch = batch_ms + receipts * (receipt_ms + lines * line_ms)
    total = receipts * BATCHES
    log, changelog = total * (100 + 20 * lines), total * lines * 80
    return Window(total, BATCHES, BATCHES * batch, 2 * batch, log, changelog)


def measure_windows(batch_ms: float, receipt_ms: float, line_ms: float) -> Windows:
    return Windows(
        *(
            measure_window(receipts, lines, batch_ms, receipt_ms, line_ms)
            for receipts, lines in ((10, LINES), (500, LINES), (500, LONG.lines))
        )
    )


def read_all(receipts: int, shelves: int = 0) -> Reading:
    """40 bytes of state an id and 200 a shelf, 90 bytes a row, on top of a million."""
    state = 1_000_000 + 40 * receipts + 200 * shelves
    return Reading(RUN, receipts / 50_000, state, 1_000_000 + 90 * shelves)


READ = Readings(STEP, SHELVES, read_all(STEP), read_all(2 * STEP), read_all(3 * STEP, SHELVES))


@given(costs, costs, costs)
def test_the_costs_that_were_there_are_found(
    batch_ms: float, receipt_ms: float, line_ms: float
) -> None:
    found = fit_costs(READ, measure_windows(batch_ms, receipt_ms, line_ms))
    of_receipt = receipt_ms + LINES * line_ms
    assert found.batch_ms == pytest.approx(batch_ms, abs=1e-6 * of_receipt)
    assert found.line_ms == pytest.approx(line_ms, abs=1e-6 * of_receipt + 1e-9 * batch_ms)
    assert found.receipt_ms == pytest.approx(receipt_ms, abs=1e-6 * of_receipt + 1e-9 * batch_ms)
    assert found.receipt_wall_ms == pytest.approx(2 * of_receipt)
    assert found.batch_wall_ms == pytest.approx(2 * batch_ms, abs=1e-6 * of_receipt)


def test_state_and_changelog_are_by_the_million() -> None:
    found = fit_costs(READ, measure_windows(100, 0.1, 0.1))
    assert (found.ids_mb, found.shelves_mb) == pytest.approx((40, 200))
    assert (found.changelog_mb, found.rows_mb) == pytest.approx((80, 90))
    assert found.caught_up_per_core == pytest.approx(50_000)


def test_noise_makes_no_cost_negative() -> None:
    live = measure_windows(100, 0.1, 0.1)
    cheap_lines = live._replace(long=replace(live.long, cpu_ms=live.many.cpu_ms / 2))
    found = fit_costs(replace(READ, twice=replace(READ.twice, state_bytes=0)), cheap_lines)
    assert (found.line_ms, found.ids_mb) == (0, 0)
    assert found.receipt_ms == pytest.approx(0.4)


def test_two_windows_are_one_of_all_their_batches() -> None:
    whole = measure_window(500, LINES, 100, 0.1, 0.1)
    small = replace(whole, batches=5, receipts=5 * 500, wall_ms=4 * whole.wall_ms)
    joined = join_windows(whole, small)
    assert joined.batches == BATCHES + 5
    assert joined.batch_receipts == 500
    assert joined.wall_ms == pytest.approx(whole.wall_ms * (BATCHES + 20) / (BATCHES + 5))
    assert joined.cpu_ms == 2 * whole.cpu_ms


def test_batches_that_cost_less_with_more_receipts_are_noise() -> None:
    with pytest.raises(ValueError, match="500 receipts a batch should cost more than 10"):
        fit_line([(10, 100), (500, 90)])


def test_a_line_on_disk_is_what_long_receipts_have_more() -> None:
    live = [measure_windows(1, 1, 1), measure_windows(2, 2, 2)]
    assert fit_log_lines(live) == pytest.approx(20)


def test_shelves_are_counted_once() -> None:
    assert count_shelves(range(5_000), Spread(stores=2, products=10)) == 20


def test_receipts_are_spread_over_as_many_stores_products_and_lines_as_asked() -> None:
    receipts = [create_receipt(number, spread=Spread(7, 50, 5)) for number in range(1_000)]
    assert len({receipt["store_id"] for receipt in receipts}) == 7
    assert len({line["sku"] for receipt in receipts for line in receipt["lines"]}) == 50
    assert {len(receipt["lines"]) for receipt in receipts} == {5}


def use(load: Load, rest_cores: float, spark_cores: float = 0.5) -> Use:
    return Use(load, load.per_second, spark_cores, rest_cores, 2.5, 160.0, RECEIPTS, SHELVES)


def test_what_is_beside_spark_is_a_line_through_two_loads() -> None:
    calm, busy = use(CALM, 0.203), use(BUSY, 0.23)
    shop = fit_shop([measure_windows(100, 0.1, 0.1)], calm, busy)
    assert (shop.cores, shop.line_ms) == pytest.approx((0.2, 0.05))
    assert (shop.memory_gb, shop.receipts_mb, shop.lines_mb) == pytest.approx((2.5, 100, 20))


def test_a_shop_is_held_to_the_cores_memory_and_disk_of_its_own_size() -> None:
    load = Load(100, USUAL)
    cores, memory, log = hold(use(load, 0.215), COSTS, tuple(COSTS.pipelines))
    assert cores.measured == pytest.approx(0.715)
    assert memory.measured == 2.5
    assert memory.yardstick is not None
    state = len(COSTS.pipelines) * (RECEIPTS * 50 + SHELVES * 100)  # bytes
    assert memory.yardstick.measured == pytest.approx(2.5 + state / 1e9)
    assert log.percent == pytest.approx(100)
    assert cores.note.startswith("100 receipts/s of 3 lines, 800 products, ")


def test_no_load_that_is_predicted_made_the_prediction() -> None:
    made = {(load.per_second, load.spread) for load in (CALM, BUSY)}
    held = {(load.per_second, load.spread) for load in HELD}
    assert len(held) == 2
    assert not made & held


@pytest.mark.parametrize(("measured", "percent"), [(80.0, 20.0), (140.0, 40.0)])
def test_the_farthest_counts_above_and_below(measured: float, percent: float) -> None:
    near = Figure("near", 101, "GB", yardstick=Yardstick("predicted", 100))
    far = Figure("far", measured, "GB", yardstick=Yardstick("predicted", 100))
    apart = compare_all([near, far])
    assert apart.measured == pytest.approx(percent)
    assert apart.note.startswith("far. All: near 1 %")
