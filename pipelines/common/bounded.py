"""A pipeline's rows at given offsets: `python -m pipelines.common.bounded NAME FOLDER`.

The batch over the same log: wake, read to the end that is told, write, sleep. FOLDER/span.json says
from which offsets to which (a Span); every view is written to FOLDER/VIEW.parquet.
"""

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from infra.errors import Trouble
from infra.lake import ByTopic, spelled, understood
from infra.logs import setup_logging
from infra.settings import Settings, settings
from pipelines.common import sides
from pipelines.common.archive import COLUMNS, ZERO, Offsets, in_order, records
from pipelines.common.fold import static_totals, view_rows
from pipelines.common.parent import end_with_parent
from pipelines.common.pipeline import Pipeline, load
from pipelines.common.priority import give_way
from pipelines.common.run import engine
from pipelines.common.session import session, suit
from pipelines.common.source import FETCH, kafka_options
from pipelines.common.watermark import LIVE_RECORDS_MAX

SPAN = "span.json"


@dataclass(frozen=True)
class Span:
    """A part of the log: from these offsets on, up to, and without, those."""

    starts: ByTopic
    ends: ByTopic
    archived: ByTopic = field(default_factory=dict)
    """Below which offsets it is read from the archive; nothing: all of it from the log."""

    @classmethod
    def of(cls, starts: Offsets, ends: Offsets, archived: Offsets = ZERO) -> "Span":
        begin = {at: starts.get(at, 0) for at in ends}
        turn = {at: min(max(archived.get(at, 0), begin[at]), end) for at, end in ends.items()}
        return cls(spelled(begin), spelled(ends), spelled(turn) if archived else {})

    @classmethod
    def read(cls, folder: Path) -> "Span":
        return cls(**json.loads((folder / SPAN).read_text()))

    @property
    def records(self) -> int:
        """How many offsets lie in it."""
        return sum(
            end - self.starts[topic][partition]
            for topic, ends in self.ends.items()
            for partition, end in ends.items()
        )

    def write(self, folder: Path) -> None:
        # Code from before there was an archive to be read knows nothing of it.
        told = {name: part for name, part in asdict(self).items() if part or name != "archived"}
        (folder / SPAN).write_text(json.dumps(told))


def main() -> None:
    give_way()
    setup_logging("pipelines")
    end_with_parent()
    name, folder = sys.argv[1], Path(sys.argv[2])
    where = settings()
    spark = session(where, folder.name)
    try:
        write(spark, where, load(name), folder)
    finally:
        engine(spark).kill()


def write(spark: SparkSession, where: Settings, pipeline: Pipeline, folder: Path) -> None:
    """Write each view's rows. A short part of the log is read as a live batch is."""
    span = Span.read(folder)
    is_small = span.records <= LIVE_RECORDS_MAX
    suit(spark, live=is_small)
    facts = {side: sides.live(spark, where, side) for side in pipeline.sides}
    records = part(spark, where, span)
    totals = static_totals(pipeline, records, facts, where if is_small else None)
    if len(pipeline.views) > 1:
        totals.persist()
    for number, view in enumerate(pipeline.writes):
        rows = view_rows(pipeline, totals, number)
        rows.write.mode("overwrite").parquet(str(folder / f"{view.name}.parquet"))


def part(spark: SparkSession, where: Settings, span: Span) -> DataFrame:
    """The records of a part of the log, and of the archive before it."""
    if not span.archived:
        return of_log(spark, where, span)
    head = records(spark, where, understood(span.starts), understood(span.archived))
    rest = of_log(spark, where, Span(span.archived, span.ends))
    return in_order(head.unionByName(rest.select(*COLUMNS)))


def of_log(spark: SparkSession, where: Settings, span: Span) -> DataFrame:
    assigned = {topic: [int(one) for one in ends] for topic, ends in span.ends.items()}
    return (
        spark.read.format("kafka")
        .options(**kafka_options(where), **FETCH)
        .option("assign", json.dumps(assigned))
        .option("startingOffsets", json.dumps(span.starts))
        .option("endingOffsets", json.dumps(span.ends))
        .option("failOnDataLoss", "true")
        .load()
    )


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(str(trouble))
