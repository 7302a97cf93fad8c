"""What a shop of some size needs: its units by hand, and that more of anything needs no less."""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import RECEIPTS
from ops.bench.coefficients import Coefficients
from ops.bench.size import (
    Demand,
    Impossible,
    Share,
    Size,
    UnknownCosts,
    compute_size,
    find_lines_max,
)
from pipelines.common.pipeline import load
from pipelines.engine.pace import MARGIN, find_horizon
from tests.ops.bench.costs import COSTS, SHOP, USUAL

DEMAND = Demand(
    stores=10, products=1_000, receipts_per_second=100, lines=3, days=10, replay_hours=1
)
INVENTORY = load("inventory")
KINDS = ("cores", "memory", "partitions", "disk")


def size(demand: Demand = DEMAND, *names: str) -> Size:
    return compute_size(demand, COSTS, names or tuple(COSTS.pipelines))


def find_term(computed: Size, what: str, of: str) -> float:
    return next(term.amount for term in computed.find(what).terms if term.what == of)


def share(demand: Demand = DEMAND, **changes: float) -> Share:
    """Inventory's share, with other costs in place of the usual ones."""
    return Share(INVENTORY, replace(USUAL, **changes), demand)


def test_cores_are_those_of_batches_receipts_and_lines_and_of_what_is_beside_spark() -> None:
    batches = 1 / share().compute_period()
    computed = size(DEMAND, "inventory")
    spark = find_term(computed, "cores", "inventory")
    assert spark == pytest.approx(batches * 0.100 + 100 * (0.0001 + 3 * 0.0001))
    rest = find_term(computed, "cores", "broker, API and the rest")
    assert rest == pytest.approx(0.2 + 100 * 3 * 0.00005)
    assert computed.find("cores").amount == pytest.approx(spark + rest)


def test_memory_is_that_of_the_processes_and_of_ids_and_shelves() -> None:
    remembered = (find_horizon(INVENTORY.reads) + MARGIN) / timedelta(seconds=1)
    state = 100 * remembered * 50 + 10 * 1_000 * 100  # bytes
    assert size(DEMAND, "inventory").find("memory").amount == pytest.approx(2.5 + state / 1e9)


def test_the_disk_holds_every_receipt_that_is_kept() -> None:
    log = find_term(size(), "disk", "log of receipts")
    assert log == pytest.approx(100 * 10 * 86_400 * (100 + 3 * 20) / 1e9)


def test_a_changelog_of_shelves_is_compacted_and_one_by_time_is_not() -> None:
    computed = size()
    assert find_term(computed, "disk", "changelog of inventory") == pytest.approx(
        2 * 10 * 1_000 * 90 / 1e9
    )
    assert find_term(computed, "disk", "changelog of analytics") == pytest.approx(
        100 * 10 * 86_400 * 3 * 80 / 1e9
    )


def test_a_changelog_that_is_shorter_than_its_rows_would_be_is_not_longer() -> None:
    few = replace(DEMAND, receipts_per_second=1e-6)
    assert find_term(size(few), "disk", "changelog of inventory") == pytest.approx(
        1e-6 * 10 * 86_400 * 3 * 80 / 1e9
    )


def test_partitions_are_the_cores_of_the_replay_that_takes_most() -> None:
    replayed = 1_000 * 30 * 86_400 / 3_600 / 40_000
    large = replace(DEMAND, receipts_per_second=1_000, days=30)
    assert size(large).find("partitions").amount == math.ceil(replayed) == 18
    assert size(replace(large, replay_hours=2)).find("partitions").amount == 9


def test_there_are_no_fewer_partitions_than_the_contract_has() -> None:
    assert size().find("partitions").amount == RECEIPTS.settings.partitions


def test_a_batch_begins_no_sooner_than_its_pipeline_says() -> None:
    calm = replace(DEMAND, receipts_per_second=0.001)
    assert share(calm, batch_wall_ms=1).compute_period() == INVENTORY.every.total_seconds()


def test_a_batch_and_its_rest_are_the_period() -> None:
    period = share(batch_wall_ms=400).compute_period()
    busy = 0.4 + 100 * period * 0.00025
    assert period == pytest.approx(busy / INVENTORY.duty_cycle)


def test_a_batch_never_rests_longer_than_the_throttle_does() -> None:
    period = share(batch_wall_ms=60_000).compute_period()
    assert period == pytest.approx(60 + 100 * period * 0.00025 + 5)


def test_a_pipeline_that_one_task_cannot_keep_up_with_is_named() -> None:
    assert not size().limits
    [limit] = size(replace(DEMAND, receipts_per_second=4_000), "visits").limits
    assert limit == "visits falls behind: one live task reads at most 4,000 receipts/s of 3 lines"


def test_long_receipts_fill_a_task_sooner() -> None:
    assert share(replace(DEMAND, lines=9)).live_max == pytest.approx(4_000 * 0.4 / 1.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stores": 0}, "Stores should be at least 1, but would be 0"),
        ({"products": -1}, "Products should be at least 1, but would be -1"),
        ({"receipts_per_second": 0}, "Receipts per second should be more than 0"),
        ({"receipts_per_second": math.nan}, "Receipts per second should be more than 0"),
        ({"days": math.inf}, "Days that receipts are kept should be more than 0"),
        ({"replay_hours": -1}, "Hours of a replay should be more than 0"),
        ({"lines": 0.5}, "Lines per receipt should be at least 1 and at most 2,000"),
        ({"lines": 2_001}, r"but would be 2,001\. Give another number\."),
    ],
)
def test_a_shop_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Impossible, match=message):
        replace(DEMAND, **changes)


def test_a_receipt_may_have_as_many_lines_as_its_contract_says() -> None:
    assert replace(DEMAND, lines=find_lines_max()).lines == find_lines_max()


def test_a_pipeline_that_was_not_measured_is_refused_with_those_that_were() -> None:
    with pytest.raises(UnknownCosts, match=r"'coffee' is none\. Choose from: inventory, fraud"):
        size(DEMAND, "coffee")


demands = st.builds(
    Demand,
    stores=st.integers(1, 10_000),
    products=st.integers(1, 100_000),
    receipts_per_second=st.floats(0.01, 10_000),
    lines=st.floats(1, 2_000),
    days=st.floats(0.1, 3_650),
    replay_hours=st.floats(0.1, 240),
)


@given(demands, st.sampled_from(["stores", "products", "receipts_per_second", "lines", "days"]))
def test_more_of_anything_needs_no_less(demand: Demand, what: str) -> None:
    more: Any = min(2 * getattr(demand, what), find_lines_max() if what == "lines" else math.inf)
    before, after = size(demand), size(replace(demand, **{what: more}))
    for kind in KINDS:
        assert after.find(kind).amount >= before.find(kind).amount * (1 - 1e-9)


@given(demands)
def test_a_pipeline_more_needs_no_less(demand: Demand) -> None:
    one, two = size(demand, "inventory"), size(demand, "inventory", "fraud")
    assert all(two.find(kind).amount >= one.find(kind).amount for kind in KINDS)


@given(demands)
def test_every_amount_is_a_number_and_the_sum_of_its_terms(demand: Demand) -> None:
    computed = size(demand)
    for need in computed.needs:
        assert math.isfinite(need.amount)
        assert need.amount > 0
        if need.what != "partitions":
            assert need.amount == pytest.approx(sum(term.amount for term in need.terms))


@given(demands, st.floats(1.1, 10))
def test_dearer_receipts_need_more_cores(demand: Demand, times: float) -> None:
    dear = replace(USUAL, receipt_ms=times * USUAL.receipt_ms, line_ms=times * USUAL.line_ms)
    costly = compute_size(demand, Coefficients(SHOP, {"inventory": dear}), ("inventory",))
    assert costly.find("cores").amount > size(demand, "inventory").find("cores").amount
