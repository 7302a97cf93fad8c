import pytest

from ops.verify.timeline import Timeline


@pytest.fixture
def shop() -> Timeline:
    return Timeline()
