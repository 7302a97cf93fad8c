import secrets
from collections.abc import Iterator

import pytest

from tests.e2e.compose import composed
from tests.e2e.shop import Shop, opened

STACKS = {"embedded": opened, "containers": composed}


@pytest.fixture(
    scope="module", params=["embedded", pytest.param("containers", marks=pytest.mark.docker)]
)
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """A running shop in a world of its own, as `make up` starts it and as docker compose does."""
    start = STACKS[request.param]
    with start(tmp_path_factory.mktemp("a shop"), secrets.randbelow(2**31)) as started:
        yield started
