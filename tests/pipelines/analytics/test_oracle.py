"""Each view over a log at rest is the oracle's: a drawn world with every kind of dirt."""

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from contracts import Contract, encode_key
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.verify.inventory import Row
from ops.verify.oracles import ask_oracle
from pipelines.analytics.pipeline import PIPELINE
from pipelines.common.flow import build_rows
from pipelines.engine.dimensions import Dimensions
from pipelines.engine.source import build_source_options
from tests.replay.log import draw_log
from tests.replay.playing import publish
from tests.rows import collect_rows
from tests.seeds import create_random

pytestmark = [pytest.mark.e2e, pytest.mark.spark]

NAMES = [view.entity for view in PIPELINE.writes]
SHOWN_MAX = 5


@pytest.fixture(scope="module")
def world(kafka: Settings) -> Settings:
    wanted = {topic.name for topic in PIPELINE.inputs} | {
        one.topic.name for one in PIPELINE.dimensions
    }
    publish(kafka, [entry for entry in draw_log(create_random("sales")) if entry.at[0] in wanted])
    return kafka


@pytest.fixture(scope="module")
def oracle(world: Settings) -> dict[str, list[Row]]:
    """The oracle's rows by view."""
    ends = read_end_offsets(create_admin(world), [topic.name for topic in PIPELINE.inputs])
    answers = ask_oracle(PIPELINE.name, world, ends).compute_views()
    return {name: list(rows) for name, rows in answers.items()}


@pytest.fixture(scope="module")
def log(spark: SparkSession, world: Settings) -> Iterator[DataFrame]:
    found = read_log(spark, world).persist()
    yield found
    found.unpersist()


@pytest.fixture(scope="module")
def dimensions(spark: SparkSession, world: Settings) -> Dimensions:
    read = Dimensions(spark, world, PIPELINE)
    read.read_to_end()
    return read


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_a_view_of_a_drawn_world_is_the_oracles(
    number: int, log: DataFrame, dimensions: Dimensions, oracle: dict[str, list[Row]]
) -> None:
    view: Contract = PIPELINE.writes[number]
    answer = collect_rows(build_rows(PIPELINE, log, dimensions.lookups, number))
    assert oracle.keys() == {one.name for one in PIPELINE.writes}
    ours = {encode_key(view, row): row for row in answer}
    theirs = {encode_key(view, row): row for row in oracle[view.name]}
    wrong = [at for at in ours | theirs if ours.get(at) != theirs.get(at)]
    assert not [(ours.get(at), theirs.get(at)) for at in sorted(wrong)[:SHOWN_MAX]]
    assert answer


def read_log(spark: SparkSession, world: Settings) -> DataFrame:
    """The log as it lies there."""
    topics = ",".join(topic.name for topic in PIPELINE.inputs)
    return (
        spark.read.format("kafka")
        .options(**build_source_options(world))
        .option("subscribe", topics)
        .load()
    )
