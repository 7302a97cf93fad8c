"""The plan of a live batch is small: Spark analyzes, optimizes and plans it anew for each batch."""

from collections import defaultdict
from typing import Any

import pytest
from pyspark.sql import SparkSession

from infra.settings import Settings
from pipelines.common.pipeline import list_pipelines, load
from pipelines.common.runtime.session import prepare_session
from pipelines.common.transform.aggregate import build_static_rows
from pipelines.common.transform.encode import encode_changelog
from tests.pipelines.log import create_log, receipt

pytestmark = pytest.mark.spark

NODES_MAX = {"analytics": 1_600, "fraud": 1_400, "inventory": 600, "reorder": 2_300, "visits": 700}
"""The nodes of all expressions in an optimized plan, rounded up to the next hundred."""


@pytest.mark.parametrize("name", list_pipelines())
def test_the_plan_of_a_live_batch_has_no_more_expressions_than_it_needs(
    spark: SparkSession, name: str
) -> None:
    own = spark.newSession()
    prepare_session(own, live=True)
    pipeline = load(name)
    rows = build_static_rows(pipeline, create_log(own, receipt()), {}, Settings())
    records = encode_changelog(pipeline, 1, defaultdict(lambda: "a topic"), rows)
    nodes = count_in_plan(records._jdf.queryExecution().optimizedPlan())
    assert NODES_MAX[name] - 100 < nodes <= NODES_MAX[name]


def count_in_plan(plan: Any) -> int:
    """The nodes of the expressions of the operator and of those below it."""
    expressions, children = list_items(plan.expressions()), list_items(plan.children())
    return sum(map(count_nodes, expressions)) + sum(map(count_in_plan, children))


def count_nodes(expression: Any) -> int:
    return 1 + sum(map(count_nodes, list_items(expression.children())))


def list_items(sequence: Any) -> list[Any]:
    return [sequence.apply(at) for at in range(sequence.size())]
