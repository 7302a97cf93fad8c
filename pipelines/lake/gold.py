"""Computes gold from silver: the days with new events, again as a whole."""

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from pipelines.engine.archive import is_between
from pipelines.lake.tables import Lake
from pipelines.lake.transform import MOVES, is_on_days, sum_daily_facts, to_day_number


def sum_days(spark: SparkSession, lake: Lake) -> None:
    """Bring gold up to silver. It replaces whole days, so a repetition changes nothing."""
    before = lake.gold.read_coverage()
    ends = {
        at: end for topic in MOVES for at, end in lake.silver(topic).read_coverage().ends.items()
    }
    if before.ends == ends:
        return
    events = {topic: lake.silver(topic).read(spark) for topic in MOVES}
    happened = [
        events[topic].where(is_between("_partition", "_offset", before.of(topic.name), new))
        for topic in MOVES
        if (new := {at: end for at, end in ends.items() if at[0] == topic.name})
    ]
    days = list_changed_days(happened)
    rows = sum_daily_facts(*[events[topic].where(is_on_days(days)) for topic in MOVES])
    listed = ", ".join(f"date_from_unix_date({day})" for day in days)
    lake.gold.write(rows, before.then(ends), instead_of=f"day IN ({listed})" if days else None)


def list_changed_days(happened: Iterable[DataFrame]) -> list[int]:
    """The days of the events, as numbers from 1970."""
    of_each = [events.select(to_day_number("event_time").alias("day")) for events in happened]
    return sorted(row["day"] for row in reduce(DataFrame.union, of_each).distinct().collect())
