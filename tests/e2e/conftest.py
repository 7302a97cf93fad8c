import secrets
from collections.abc import Iterator

import pytest

from tests.e2e.shop import Shop, opened


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A running shop in a world of its own."""
    with opened(tmp_path_factory.mktemp("a shop"), secrets.randbelow(2**31)) as started:
        yield started
