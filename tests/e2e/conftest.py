import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.e2e.compose import composed
from tests.e2e.shop import Shop, opened

ORDERED: Mapping[str, Any] = {
    "simulator_refill": "orders",
    "simulator_speed": 1_200,  # orders come with the first midnight: after 48 seconds
    "simulator_stores": 2,
    "simulator_products": 60,
    "simulator_receipts_per_second": 0.0625,
}

HASTY: Mapping[str, Any] = {"pipeline_seconds_per_batch_min": 4}
"""Four pipelines need fewer batches than two."""


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop started by `make up SECURE=on`; shops of other files are not secure.

    It has a supplier, which a second one joins in the guide.
    """
    folder, seed = tmp_path_factory.mktemp("a shop"), secrets.randbelow(2**31)
    with opened(folder, seed, **HASTY, secure=True, simulator_refill="orders") as started:
        yield started


@pytest.fixture(scope="session")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop started by `make up-docker`, with orders and a lake; one for all tests: it takes long.

    The cluster is gone by then: files run in the order of their names.
    """
    folder, seed = tmp_path_factory.mktemp("a shop"), secrets.randbelow(2**31)
    with composed(folder, seed, "inventory,reorder", lake=True, **ORDERED) as started:
        yield started


@pytest.fixture(
    scope="module", params=["embedded", pytest.param("containers", marks=pytest.mark.docker)]
)
def shop(request: pytest.FixtureRequest) -> Shop:
    """A running shop in a world of its own."""
    started: Shop = request.getfixturevalue(request.param)
    return started
