"""A pipeline's rows at given offsets: `python -m pipelines.engine.bounded NAME FOLDER`.

It is one batch over a part of the log. FOLDER/span.json has the first and the end offsets (a Span);
the batch writes every view to FOLDER/VIEW.parquet.
"""

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from infra.errors import UserError
from infra.kafka import Offsets
from infra.lake import ByTopic, flatten_topics, group_by_topic
from infra.logs import set_up_logging
from infra.settings import Settings, read_settings
from pipelines.common.flow import build_static_rows
from pipelines.common.pipeline import Pipeline, load
from pipelines.common.transform.rows import select_view_rows
from pipelines.engine.archive import COLUMNS, ZERO, read_records
from pipelines.engine.dimensions import Dimensions
from pipelines.engine.pace import LIVE_RECORDS_MAX
from pipelines.engine.process import end_with_parent, give_way
from pipelines.engine.session import get_engine, prepare_session, start_session
from pipelines.engine.source import build_source_options

SPAN = "span.json"


@dataclass(frozen=True)
class Span:
    """A part of the log: from the first offsets up to the end offsets, exclusive."""

    starts: ByTopic
    ends: ByTopic
    archived: ByTopic = field(default_factory=dict)
    """The offsets below which the archive is read; empty: all of it comes from the log."""

    @classmethod
    def of(cls, starts: Offsets, ends: Offsets, archived: Offsets = ZERO) -> "Span":
        begin = {partition: starts.get(partition, 0) for partition in ends}
        boundary = {
            partition: min(max(archived.get(partition, 0), begin[partition]), end)
            for partition, end in ends.items()
        }
        return cls(
            group_by_topic(begin),
            group_by_topic(ends),
            group_by_topic(boundary) if archived else {},
        )

    @classmethod
    def read(cls, folder: Path) -> "Span":
        return cls(**json.loads((folder / SPAN).read_text()))

    @property
    def records(self) -> int:
        """The number of offsets in it."""
        return sum(
            end - self.starts[topic][partition]
            for topic, ends in self.ends.items()
            for partition, end in ends.items()
        )

    def write(self, folder: Path) -> None:
        # Code from before the archive does not know the field.
        fields = {name: part for name, part in asdict(self).items() if part or name != "archived"}
        unfinished = folder / f"{SPAN}.unfinished"
        unfinished.write_text(json.dumps(fields))
        unfinished.replace(folder / SPAN)


def main() -> None:
    give_way()
    set_up_logging("pipelines")
    end_with_parent()
    name, folder = sys.argv[1], Path(sys.argv[2])
    settings = read_settings()
    spark = start_session(settings, folder.name)
    try:
        write(spark, settings, load(name), folder)
    finally:
        get_engine(spark).kill()


def write(spark: SparkSession, settings: Settings, pipeline: Pipeline, folder: Path) -> None:
    """Write each view's rows, read under the pipeline's name.

    It reads a short part of the log like a live batch.
    """
    settings, span = settings.as_service(pipeline.name), Span.read(folder)
    prepare_session(spark, live=span.records <= LIVE_RECORDS_MAX)
    records, dimensions = read(spark, settings, span), Dimensions(spark, settings, pipeline)
    dimensions.read_to_end()
    every = build_static_rows(pipeline, records, dimensions.lookups)
    if len(pipeline.views) > 1:
        every.persist()
    for number, view in enumerate(pipeline.writes):
        rows = select_view_rows(pipeline, every, number)
        rows.write.mode("overwrite").parquet(str(folder / f"{view.name}.parquet"))


def read(spark: SparkSession, settings: Settings, span: Span) -> DataFrame:
    """The records of a part of the log, of the archive first, with archive.COLUMNS at least."""
    if not span.archived:
        return read_log(spark, settings, span)
    prefix = read_records(
        spark, settings, flatten_topics(span.starts), flatten_topics(span.archived)
    )
    rest = read_log(spark, settings, Span(span.archived, span.ends))
    whole = prefix.unionByName(rest.select(*COLUMNS)).repartition("topic", "partition")
    # Each partition in order: an event's first copy counts.
    return whole.sortWithinPartitions("topic", "partition", "offset")


def read_log(
    spark: SparkSession, settings: Settings, span: Span, headers: bool = False
) -> DataFrame:
    """The committed records of a part of the log, with the columns of Kafka's source."""
    assigned = {topic: [int(partition) for partition in ends] for topic, ends in span.ends.items()}
    return (
        spark.read.format("kafka")
        .options(**build_source_options(settings))
        .option("assign", json.dumps(assigned))
        .option("startingOffsets", json.dumps(span.starts))
        .option("endingOffsets", json.dumps(span.ends))
        .option("includeHeaders", str(headers).lower())
        .option("failOnDataLoss", "true")
        .load()
    )


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
