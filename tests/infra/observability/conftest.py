"""A small shop in memory, and an API over it that has a sample for every metric."""

from collections.abc import Iterator

import pytest

from tests.infra.observability.figures import fill
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving


@pytest.fixture(scope="package")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    log = MemoryLog()
    with serving(create_sources(log, tmp_path_factory.mktemp("api"))) as api:
        fill(log, api)
        yield api
