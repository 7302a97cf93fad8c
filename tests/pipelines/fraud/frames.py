"""A log as the fraud pipeline is given it, and its rows as they are compared."""

from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from infra.kafka import Partition, Record
from pipelines.fraud.signals import READS
from tests.pipelines.log import RECORD
from tests.timeline import parse_clock


def create_frame(spark: SparkSession, log: list[Record]) -> DataFrame:
    read = {topic.name for topic in READS}
    at_place: dict[Partition, int] = {}
    rows = []
    for record in log:
        if record.topic in read:
            place = record.topic, record.partition
            offset = at_place[place] = at_place.get(place, -1) + 1
            published = parse_clock("0:00") + timedelta(
                milliseconds=record.published_ms - int(parse_clock("0:00").timestamp() * 1000)
            )
            rows.append((*place, offset, published, record.key, record.value))
    return spark.createDataFrame(rows, RECORD)


def sort_evidence(row: dict[str, object]) -> dict[str, object]:
    evidence = row["evidence"]
    assert isinstance(evidence, list)
    proofs = [(one["topic"], one["event_id"], one["event_time"].timestamp()) for one in evidence]
    return {**row, "evidence": proofs}
