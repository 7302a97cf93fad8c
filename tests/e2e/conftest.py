import secrets
from collections.abc import Iterator

import pytest

from infra.settings import Settings
from tests.e2e.shop import Shop
from tests.ports import free_port_base


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A running shop, in a folder with a space in its name, in a world of its own and dirty."""
    seed = secrets.randbelow(2**31)
    print(f"SIMULATOR_SEED={seed}")
    started = Shop(
        Settings(
            data_dir=tmp_path_factory.mktemp("a shop") / "data",
            port_base=free_port_base(),
            simulator_seed=seed,
            simulator_speed=300,  # two hours, the horizon, pass in 24 seconds
            simulator_stores=6,
            simulator_products=400,
            simulator_receipts_per_second=5,  # at the default speed: 150/s at this one
            simulator_late_rate=0.05,
            simulator_duplicate_rate=0.05,
            simulator_beyond_horizon_rate=0.02,
            simulator_future_rate=0.01,
            simulator_malformed_rate=0.01,
            simulator_unknown_schema_rate=0.01,
            simulator_broken_rule_rate=0.01,
        )
    )
    try:
        started.retail("up")
        yield started
    finally:
        started.retail("down")
