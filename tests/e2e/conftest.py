import secrets
from collections.abc import Iterator

import pytest

from tests.e2e.compose import composed
from tests.e2e.shop import Shop, opened


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """As `make up` starts it."""
    with opened(tmp_path_factory.mktemp("a shop"), secrets.randbelow(2**31)) as started:
        yield started


@pytest.fixture(scope="session")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """As `make up-docker` starts it, with a lake; one for all, as it takes long to come up.

    The cluster is gone by then: files run in the order of their names.
    """
    folder, seed = tmp_path_factory.mktemp("a shop"), secrets.randbelow(2**31)
    with composed(folder, seed, lake=True) as started:
        yield started


@pytest.fixture(
    scope="module", params=["embedded", pytest.param("containers", marks=pytest.mark.docker)]
)
def shop(request: pytest.FixtureRequest) -> Shop:
    """A running shop in a world of its own."""
    started: Shop = request.getfixturevalue(request.param)
    return started
