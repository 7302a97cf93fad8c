import pytest

from audit.timeline import Timeline


@pytest.fixture
def shop() -> Timeline:
    return Timeline()
