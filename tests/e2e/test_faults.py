"""kill -9 of every part, at points drawn anew for each run, while a batch is open: still exact."""

from collections.abc import Callable
from random import Random

import pytest

from tests.e2e.shop import Shop, kill
from tests.seeds import drawn
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]

BATCHES_AHEAD_MAX = 12
RECOVERY_SECONDS_MAX = 120.0

VICTIMS: dict[str, Callable[[Shop], int]] = {
    "the pipeline's driver": lambda shop: shop.pid("inventory"),
    "the pipeline's engine": Shop.java_pid,
    "the materializer": lambda shop: shop.pid("api"),
    "the simulator": lambda shop: shop.pid("simulator"),
    "the quarantine": lambda shop: shop.pid("quarantine"),
    "the broker": lambda shop: shop.pid("broker"),
}


@pytest.fixture(scope="module")
def chance() -> Random:
    return drawn("kill points")


@pytest.mark.parametrize("victim", VICTIMS)
def test_exact_after_kill_9_of(victim: str, shop: Shop, chance: Random) -> None:
    wait_until(lambda: moved(shop), "the shop moves", RECOVERY_SECONDS_MAX)
    pid = VICTIMS[victim](shop)
    point = shop.newest_batch() + 1 + chance.randrange(BATCHES_AHEAD_MAX)
    wait_until(lambda: shop.open_batch() >= point, f"batch {point} is open", RECOVERY_SECONDS_MAX)
    kill(pid)
    at_kill = shop.newest_batch()
    wait_until(shop.ready, "everything is ready again", RECOVERY_SECONDS_MAX)
    wait_until(
        lambda: served_batch(shop) > at_kill + 1, "later batches are served", RECOVERY_SECONDS_MAX
    )
    found = shop.verify()
    assert found["exact"], f"after kill -9 of {victim} in batch {point}"
    assert found["rows"] > 1_000
    assert found["ledger"]["late"] > 0
    assert found["books"]["duplicate"] > 0


def moved(shop: Shop) -> bool:
    """Whether a batch begins now."""
    return shop.open_batch() >= 0


def served_batch(shop: Shop) -> int:
    try:
        [pipeline] = shop.get("/v1/pipelines")["pipelines"]
    except OSError:
        return -1
    return int(pipeline.get("as_of", {}).get("batch", -1))
