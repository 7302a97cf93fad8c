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
        Settings(data_dir=tmp_path_factory.mktemp("a shop") / "data", port_base=free_port_base()),
        {
            "SIMULATOR_SEED": str(seed),
            "SIMULATOR_SPEED": "300",  # two hours, the horizon, pass in 24 seconds
            "SIMULATOR_STORES": "6",
            "SIMULATOR_PRODUCTS": "400",
            "SIMULATOR_RECEIPTS_PER_SECOND": "5",  # at the default speed: 150/s at this one
            "SIMULATOR_LATE_RATE": "0.05",
            "SIMULATOR_DUPLICATE_RATE": "0.05",
            "SIMULATOR_BEYOND_HORIZON_RATE": "0.02",
        },
    )
    try:
        started.retail("up")
        yield started
    finally:
        started.retail("down")
