"""A world drawn anew for each run, and kill -9 of every part in it while a batch is open.

The next part dies before the last one is well. A thorough test goes on with faults on demand, which
do wait, and last in a restored backup.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from infra.supervisor.parts import ENGINE, PIPELINES, WORKER, find_parts, kill
from infra.wait import wait_until
from ops.backup.manifest import read_manifest
from tests.e2e.shop import Shop, opened
from tests.seeds import create_random

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1_200)]

BATCHES_AHEAD_MAX = 4
RECOVERY_SECONDS_MAX = 240.0

SOONEST = (WORKER, "broker", "api")
"""Those without which nothing is answered."""

OTHERS = (PIPELINES, ENGINE, "simulator", "quarantine")

ON_DEMAND = ("pause-api", "duplicate-storm", "clock-ahead", "damaged-database", "torn-checkpoint")

EXACT = re.compile(
    r"^  ([a-z-]+) +healed .*?   [\d.]+ s +([\d.]+) s +[\d.]+ s +(?:[\d.]+ s +)?exact$",
    re.MULTILINE,
)
"""A row of the table: a fault whose promise was kept, and after how many seconds all was well."""

BESIDE = ("fraud", "analytics", "visits")
"""One of them runs beside the inventory: all would need minutes to restart on two cores."""


def test_a_drawn_world_is_exact_after_kill_9_of_what_answers(tmp_path: Path) -> None:
    chance = create_random("a world")
    with opened(tmp_path, chance.getrandbits(31), "inventory") as shop:
        check_verdicts(kill_each(shop, SOONEST, chance))


@pytest.mark.thorough
def test_it_is_exact_after_the_other_kills_after_faults_on_demand_and_from_a_backup(
    tmp_path: Path,
) -> None:
    chance = create_random("a world")
    beside = chance.choice(BESIDE)
    print(f"beside the inventory: {beside}")
    with opened(tmp_path, chance.getrandbits(31), f"inventory,{beside}") as shop:
        verdicts = kill_each(shop, OTHERS, chance)
        keep_promises(shop)
        shop.run_retail("backup", "make", str(tmp_path / "backup"))
    go_on_from_backup(shop, tmp_path)
    check_verdicts(verdicts)


def kill_each(shop: Shop, victims: Sequence[str], chance: Random) -> dict[str, Any]:
    """Kill these in any order; return what `retail verify` says when all is well again."""
    for victim in chance.sample(victims, len(victims)):
        kill_in_a_batch(shop, victim, chance)
    await_recovery(shop)
    return shop.verify_grown()


def check_verdicts(verdicts: dict[str, Any]) -> None:
    for verdict in verdicts.values():
        assert verdict["exact"]
        assert verdict["quarantine"]["listed"] == verdict["quarantine"]["rejected"] > 0
    assert verdicts["inventory"]["ledger"]["quarantined"] > 0


def keep_promises(shop: Shop) -> None:
    """Do the faults other than kills: files, records, a paused process."""
    said = shop.run_retail("fault", "run", *ON_DEMAND, "--seconds", "2", "--yes")
    rows = EXACT.findall(said)
    assert [fault for fault, _ in rows] == list(ON_DEMAND), said
    assert all(float(healed) > 0 for _, healed in rows)


def go_on_from_backup(shop: Shop, folder: Path) -> None:
    """Lose the data folder, and go on in another one with a backup of the running shop."""
    lost = Shop(shop.settings.model_copy(update={"data_dir": folder / "restored"}))
    lost.run_retail("backup", "restore", str(folder / "backup"))
    saved = read_manifest(folder / "backup").pipelines
    try:
        lost.start()
        lost.await_batches_after({name: position.batch for name, position in saved.items()})
        verdicts = lost.verify()
    finally:
        lost.stop()
    for name, position in saved.items():
        assert verdicts[name]["generation"] == position.generation
        assert verdicts[name]["marker"] > position.batch


def kill_in_a_batch(shop: Shop, victim: str, chance: Random) -> None:
    """Kill while a drawn batch is open."""
    point = shop.checkpoint.find_newest_begun() + 1 + chance.randrange(BATCHES_AHEAD_MAX)
    wait_until(
        lambda: shop.checkpoint.find_open_batch() >= point and try_kill(shop, victim),
        f"{victim} runs and batch {point} is open",
        RECOVERY_SECONDS_MAX,
    )
    print(f"killed {victim} in batch {shop.checkpoint.find_newest_begun()}")


def try_kill(shop: Shop, victim: str) -> bool:
    """Whether there was a process to kill; it may be down with the others."""
    with suppress(LookupError, ProcessLookupError):
        kill(find_parts(shop.settings)[victim])
        return True
    return False


def await_recovery(shop: Shop) -> None:
    """Wait until all is ready and batches after the last kill are served."""
    at_kill = shop.checkpoint.find_newest_begun()
    wait_until(shop.ready, "everything is ready again", RECOVERY_SECONDS_MAX)
    wait_until(
        lambda: find_served_batch(shop) > at_kill + 1,
        "later batches are served",
        RECOVERY_SECONDS_MAX,
    )


def find_served_batch(shop: Shop) -> int:
    try:
        pipeline = shop.get("/v1/pipelines/inventory")
    except OSError:
        return -1
    return int(pipeline.get("as_of", {}).get("batch", -1))
