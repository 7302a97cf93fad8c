"""Worlds drawn anew for each run; in each, kill -9 of every part while a batch is open."""

from collections.abc import Callable
from random import Random

import pytest

from tests.e2e.shop import Shop, kill, opened
from tests.oracle.ledger import DIRT
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


@pytest.mark.parametrize("world", [1, 2, 3])
def test_a_drawn_world_is_exact_after_kill_9_of_every_part(
    world: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = drawn(f"world {world}")
    order = chance.sample(list(VICTIMS), len(VICTIMS))
    with opened(tmp_path_factory.mktemp("a shop"), chance.getrandbits(31)) as shop:
        for victim in order:
            kill_in_a_batch(shop, victim, chance)
        found = shop.verify()
    assert found["exact"]
    assert found["rows"] > 1_000
    assert all(found["ledger"][kind] > 0 for kind in DIRT), found["ledger"]
    assert found["ledger"]["quarantined"] > 0
    assert found["books"]["duplicate"] > 0
    assert found["quarantine"]["listed"] == found["quarantine"]["rejected"] > 0


def kill_in_a_batch(shop: Shop, victim: str, chance: Random) -> None:
    """Kill while a drawn batch is open; return when what came after it is served."""
    wait_until(lambda: moved(shop), "the shop moves", RECOVERY_SECONDS_MAX)
    pid = VICTIMS[victim](shop)
    point = shop.newest_batch() + 1 + chance.randrange(BATCHES_AHEAD_MAX)
    wait_until(lambda: shop.open_batch() >= point, f"batch {point} is open", RECOVERY_SECONDS_MAX)
    kill(pid)
    at_kill = shop.newest_batch()
    print(f"killed {victim} in batch {point}")
    wait_until(shop.ready, "everything is ready again", RECOVERY_SECONDS_MAX)
    wait_until(
        lambda: served_batch(shop) > at_kill + 1, "later batches are served", RECOVERY_SECONDS_MAX
    )


def moved(shop: Shop) -> bool:
    """Whether a batch begins now."""
    return shop.open_batch() >= 0


def served_batch(shop: Shop) -> int:
    try:
        [pipeline] = shop.get("/v1/pipelines")["pipelines"]
    except OSError:
        return -1
    return int(pipeline.get("as_of", {}).get("batch", -1))
