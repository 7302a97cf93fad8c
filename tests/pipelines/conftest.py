import pytest
from pyspark.sql import SparkSession

from tests.pipelines.log import Examples

IN_SPARK = (pytest.mark.spark, pytest.mark.thorough)


@pytest.fixture(params=["oracle", pytest.param("spark", marks=IN_SPARK)])
def beside(request: pytest.FixtureRequest) -> SparkSession | None:
    """The session of the pipeline that computes what the oracle does; None: the oracle alone."""
    return request.getfixturevalue("spark") if request.param == "spark" else None


@pytest.fixture
def shop(beside: SparkSession | None) -> Examples:
    return Examples(beside)
