import pytest

from tests.pipelines.fraud.examples import Examples


@pytest.fixture
def shop() -> Examples:
    """A timeline whose alerts the oracle and the pipeline's rules compute."""
    return Examples()
