import pytest

from tests.pipelines.fraud.examples import Examples, compute_by_rules, compute_in_spark

IN_SPARK = (pytest.mark.spark, pytest.mark.thorough)


@pytest.fixture(params=["rules", pytest.param("spark", marks=IN_SPARK)])
def shop(request: pytest.FixtureRequest) -> Examples:
    """A timeline whose alerts the oracle and a part of the product compute."""
    if request.param == "rules":
        return Examples(compute_by_rules)
    return Examples(compute_in_spark(request.getfixturevalue("spark")))
