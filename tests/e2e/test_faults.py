"""A world drawn anew for each run, and in it kill -9 of every part while a batch is open.

Nobody waits for one part to be well before the next one dies.
"""

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from infra.wait import wait_until
from tests.e2e.shop import Shop, kill, opened
from tests.seeds import drawn

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1_200)]

BATCHES_AHEAD_MAX = 4
RECOVERY_SECONDS_MAX = 240.0

VICTIMS: dict[str, Callable[[Shop], int]] = {
    "the pipelines' foreman": lambda shop: shop.pid("pipelines"),
    "the pipelines' driver": Shop.driver_pid,
    "the pipelines' engine": Shop.java_pid,
    "the materializer": lambda shop: shop.pid("api"),
    "the simulator": lambda shop: shop.pid("simulator"),
    "the quarantine": lambda shop: shop.pid("quarantine"),
    "the broker": lambda shop: shop.pid("broker"),
}

BESIDE = ("fraud", "analytics", "visits")
"""One of them runs beside the inventory: all would take minutes to come back on two cores."""


def test_a_drawn_world_is_exact_after_kill_9_of_every_part(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    chance = drawn("a world")
    beside = chance.choice(BESIDE)
    order = chance.sample(list(VICTIMS), len(VICTIMS))
    folder, seed = tmp_path_factory.mktemp("a shop"), chance.getrandbits(31)
    with opened(folder, seed, f"inventory,{beside}") as shop:
        print(f"beside the inventory: {beside}")
        for victim in order:
            kill_in_a_batch(shop, victim, VICTIMS[victim], chance)
        recovered(shop)
        found = shop.verify_grown()
    for one in found.values():
        assert one["exact"]
        assert one["quarantine"]["listed"] == one["quarantine"]["rejected"] > 0
    assert found["inventory"]["ledger"]["quarantined"] > 0


def kill_in_a_batch(shop: Shop, victim: str, pid_of: Callable[[Shop], int], chance: Random) -> None:
    """Kill while a drawn batch is open."""
    point = shop.checkpoint.newest_begun() + 1 + chance.randrange(BATCHES_AHEAD_MAX)
    wait_until(
        lambda: shop.checkpoint.open_batch() >= point and killed(shop, pid_of),
        f"{victim} runs and batch {point} is open",
        RECOVERY_SECONDS_MAX,
    )
    print(f"killed {victim} in batch {shop.checkpoint.newest_begun()}")


def killed(shop: Shop, pid_of: Callable[[Shop], int]) -> bool:
    """Whether there was a process to be killed: it may be down, since others are."""
    with suppress(LookupError, ProcessLookupError):
        kill(pid_of(shop))
        return True
    return False


def recovered(shop: Shop) -> None:
    """Wait until all is ready and what came after the last kill is served."""
    at_kill = shop.checkpoint.newest_begun()
    wait_until(shop.ready, "everything is ready again", RECOVERY_SECONDS_MAX)
    wait_until(
        lambda: served_batch(shop) > at_kill + 1, "later batches are served", RECOVERY_SECONDS_MAX
    )


def served_batch(shop: Shop) -> int:
    try:
        pipeline = shop.get("/v1/pipelines/inventory")
    except OSError:
        return -1
    return int(pipeline.get("as_of", {}).get("batch", -1))
