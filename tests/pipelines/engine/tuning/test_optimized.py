"""The plan of a live batch is optimized once, and executed as it would have been."""

import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from infra.settings import Settings
from pipelines.common.flow import build_static_rows
from pipelines.common.pipeline import list_pipelines, load
from pipelines.common.transform.rows import encode_changelog
from pipelines.engine.beats import BeatLimit
from pipelines.engine.session import prepare_session
from pipelines.engine.tuning.optimized import EXCLUDED_RULES, optimize_once
from tests.pipelines.log import create_log, create_lookups, receipt
from tests.pipelines.streams import append, read_files, run_to_end

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

NUMBERS = re.compile(r"#\d+L?|plan_id=\d+|(?<=_common_expr_)\d+|(?<=lambda [a-z]_)\d+")
"""Those that Spark gives to columns, nodes and variables, other ones for each plan."""


@pytest.mark.parametrize("name", list_pipelines())
def test_a_plan_that_was_optimized_once_is_executed_as_it_would_have_been(
    spark: SparkSession, name: str
) -> None:
    rows = build_live(spark, name)
    executed, runs = plan(rows)
    with optimize_once(rows) as optimized:
        executed_once, runs_once = plan(optimized)
    assert executed_once == executed
    assert runs_once < runs / 3


def test_only_the_query_that_was_started_leaves_rules_out(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Others of the session need them: their plans have not been optimized."""
    own = spark.newSession()
    with optimize_once(own.readStream.format("rate").load()) as optimized:
        writer = optimized.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
        query = writer.start()
    try:
        assert own.conf.get(EXCLUDED_RULES, None) is None
        inside = query._jsq.streamingQuery().sparkSessionForStream()
        assert "ConstantFolding" in inside.conf().get(EXCLUDED_RULES)
    finally:
        query.stop()


def test_the_plan_is_optimized_by_the_options_of_its_own_session(spark: SparkSession) -> None:
    """Another session, active in this thread, leaves rules out since it has optimized its own."""
    executed, _ = plan(build_live(spark, "visits"))
    rows = build_live(spark, "visits")
    java = spark._jvm
    assert java is not None
    with optimize_once(build_live(spark, "analytics")) as other:
        own = other.sparkSession._jsparkSession
        java.org.apache.spark.sql.classic.SparkSession.setActiveSession(own)
        with optimize_once(rows) as optimized:
            executed_once, _ = plan(optimized)
    assert executed_once == executed


def test_the_limit_of_heartbeats_grows_with_the_batches(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Were it the one of the query's start, the watermark would stand, and nothing be forgotten."""
    own, source = spark.newSession(), tmp_path / "ids"
    limit = BeatLimit(Settings(), None, looked_at=0.0)
    for _ in range(3):
        append(own.range(1), source)
    asked = read_files(own, source).withColumn("limit", limit.build_column(own))
    limits: list[datetime] = []
    with optimize_once(asked) as optimized:
        writer = optimized.writeStream.foreachBatch(
            lambda rows, _batch: limits.extend(row["limit"] for row in rows.collect())
        )
        run_to_end(writer, tmp_path)
    assert len(limits) == 3
    assert limits == sorted(set(limits))


def build_live(spark: SparkSession, name: str) -> DataFrame:
    """The changes that the pipeline writes for one receipt, planned as in a live batch."""
    own = spark.newSession()
    prepare_session(own, live=True)
    own.conf.set("spark.sql.debug.maxToStringFields", "10000")
    pipeline = load(name)
    lookups = create_lookups(own, pipeline.dimensions)
    rows = build_static_rows(pipeline, create_log(own, receipt()), lookups)
    return encode_changelog(pipeline, 1, defaultdict(lambda: "a topic"), rows)


def plan(rows: DataFrame) -> tuple[str, int]:
    """What is executed, without the numbers of columns, and how often a rule was run for it."""
    java = rows.sparkSession._jvm
    assert java is not None
    rules = java.org.apache.spark.sql.catalyst.rules.RuleExecutor
    rules.resetMetrics()
    executed = rows._jdf.queryExecution().executedPlan().treeString()
    [runs] = re.findall(r"Total number of runs: (\d+)", rules.dumpTimeSpent())
    return NUMBERS.sub("", executed), int(runs)
