"""retail backfill: with nothing running, and with a shop at work."""

from pathlib import Path

import pytest

from generators.ticks import START_MS
from infra.kafka import create_admin, read_newest_ms
from infra.settings import Settings
from infra.supervisor import daemon
from infra.supervisor.manager import Manager
from infra.wait import wait_until
from ops.cli import up
from ops.cli.backfill import SIMULATOR
from ops.cli.down import stop
from ops.cli.ready import find_readiness
from tests.command import run_command
from tests.ports import free_port_base

DAY_MS = 24 * 3_600_000
BEATS = "public.world.heartbeat.v1"


@pytest.fixture
def home(tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path / "data",
        port_base=free_port_base(),
        simulator_stores=3,
        simulator_products=50,
        simulator_receipts_per_second=1.0,
    )


def backfill(settings: Settings, days: int) -> str:
    done = run_command(settings, "backfill", days)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_world_ready(settings: Settings, manager: Manager) -> bool:
    process = manager.find_process(SIMULATOR)
    return find_readiness(settings, SIMULATOR, process.started_at) is not None


@pytest.mark.thorough
@pytest.mark.e2e
def test_it_works_with_nothing_running_and_while_the_simulator_runs(home: Settings) -> None:
    assert "2026-03-03 08:00" in backfill(home, 1)
    assert daemon.find_running(home.data_dir) is None

    # As it is remembered.
    home = home.model_copy(update={"simulator_refill": "vans"})
    manager = up.ensure_manager(home)
    try:
        up.start_broker(home, manager)
        manager.start(SIMULATOR)
        wait_until(lambda: is_world_ready(home, manager), "the world runs", 60)
        pid = manager.find_process(SIMULATOR).pid
        assert "2026-03-05 08:00" in backfill(home, 3)
        assert is_world_ready(home, manager)
        assert manager.find_process(SIMULATOR).pid != pid
        assert min(read_newest_ms(create_admin(home), [BEATS]).values()) >= START_MS + 3 * DAY_MS
        assert "nothing was missing" in backfill(home, 2)
    finally:
        stop(home)
