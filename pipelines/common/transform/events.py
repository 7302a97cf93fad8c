"""From records to events: decodes records, and accepts or rejects each with a reason.

All topics are in one frame: another stream of a query would cost each batch a plan and tasks of its
own.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import HEARTBEATS, RELEASES, Contract
from contracts.times import EPOCH
from contracts.validation import RELEASABLE, UNRELEASABLE
from pipelines.common.transform.choose import choose
from pipelines.common.transform.decode import decode_event
from pipelines.common.transform.validate import (
    get_event_time,
    list_content_checks,
    list_place_checks,
    list_time_checks,
)

META = (
    "_topic",
    "_partition",
    "_published",  # the record's timestamp, world time
    "_of",  # the topic of the event's contract; for a release, that of the original
    "_reason",  # why the record is rejected; null: it is accepted
    "_identity",  # its id; a release's original's topic and id; the offset of what has no copies
    "_clock",  # when the event happened; NEVER for a release and for a rejected record
    "event_time",  # when the event happened: a part of its identity
    "_beat",  # the time of an accepted heartbeat; else BEFORE_ALL
)

RELEASE = "_release"

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""A time that no watermark passes: so every rejected record counts, whatever its own time, and what
was released once counts no second time, however much later."""

BEFORE_ALL = EPOCH
"""A time that moves no watermark."""


def validate_events(reads: Iterable[Contract], records: DataFrame) -> DataFrame:
    """One row per record: the columns of META, and for each topic read a column with its event.

    Records have topic, partition, offset, timestamp, key and value. They include heartbeats, and
    releases, each of which counts as the event that it wraps.
    """
    read = tuple(reads)
    known = tuple(dict.fromkeys((*read, HEARTBEATS, *RELEASABLE.values())))
    validated = (
        decode_records(known, records)
        .withColumns({"_fault": find_fault(known)})
        .withColumns({"_reason": find_reason(known)})
    )
    return validated.select(*build_meta_columns(known), *[name_column(one) for one in read])


def build_meta_columns(known: tuple[Contract, ...]) -> list[Column]:
    """The columns of META of a validated record."""
    is_beat = F.col("topic") == HEARTBEATS.name
    happened_at = choose_event_time(known)
    return [
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("timestamp").alias("_published"),
        F.col("_of"),
        F.col("_reason"),
        keep_if_accepted(build_identity(known), F.col("offset").cast("string")).alias("_identity"),
        keep_if_accepted(choose_clock(happened_at), F.lit(NEVER)).alias("_clock"),
        keep_if_accepted(happened_at).alias("event_time"),
        F.when(
            is_beat & F.col("_reason").isNull(),
            get_event_time(HEARTBEATS, name_column(HEARTBEATS)),
        )
        .otherwise(F.lit(BEFORE_ALL))
        .alias("_beat"),
    ]


def name_column(contract: Contract) -> str:
    """The name of the column that holds the topic's events."""
    return contract.name.replace(".", "_").replace("-", "_")


def choose_by_topic(topic: str, choices: Mapping[Contract, Column]) -> Column:
    """The choice for the topic that this column names; null where there is none."""
    return choose((F.col(topic) == one.name, each) for one, each in choices.items())


def decode_records(known: tuple[Contract, ...], records: DataFrame) -> DataFrame:
    """The records, releases unwrapped, with a column per contract for the event."""
    opened = F.when(F.col("topic") == RELEASES.name, decode_event(RELEASES, F.col("value")))
    return (
        records.withColumns({RELEASE: opened})
        .withColumns(
            {
                "_of": F.coalesce(F.col(RELEASE)["topic"], F.col("topic")),
                "_key": F.coalesce(F.col(RELEASE)["record_key"], F.col("key").cast("string")),
                "_value": F.coalesce(F.col(RELEASE)["value"], F.col("value")),
            }
        )
        .withColumns(
            {
                name_column(one): F.when(
                    F.col("_of") == one.name, decode_event(one, F.col("_value"))
                )
                for one in known
            }
        )
    )


def find_fault(known: tuple[Contract, ...]) -> Column:
    """The fault of the event itself, wrapped or not."""
    checks = {one: list_content_checks(one, name_column(one), F.col("_key")) for one in known}
    return choose_by_topic("_of", {one: choose(listed) for one, listed in checks.items()})


def find_reason(known: tuple[Contract, ...]) -> Column:
    """The reason of a rejection: content, place, time, or wrapped event; null: accepted."""
    published = F.col("timestamp")
    beyond_content = choose_by_topic(
        "_of",
        {
            one: choose(
                [*list_place_checks(one), *list_time_checks(one, name_column(one), published)]
            )
            for one in known
        },
    )
    of_release = [
        *list_content_checks(RELEASES, RELEASE, F.col("key").cast("string")),
        *list_place_checks(RELEASES),
        *list_time_checks(RELEASES, RELEASE, published),
        (~F.col("_of").isin(list(RELEASABLE)) | F.col("_fault").isNotNull(), UNRELEASABLE),
        (F.col(RELEASE)["original_event_id"] != choose_event_id(known), UNRELEASABLE),
    ]
    return F.when(is_release(), choose(of_release)).otherwise(
        F.coalesce(F.col("_fault"), beyond_content)
    )


def is_release() -> Column:
    return F.col("topic") == RELEASES.name


def build_identity(known: tuple[Contract, ...]) -> Column:
    """An event's id; for a release, the original's topic and id; for a heartbeat, its offset."""
    original = F.concat_ws("/", "_of", choose_event_id(known))
    return (
        F.when(is_release(), original)
        .when(F.col("topic") == HEARTBEATS.name, F.col("offset").cast("string"))
        .otherwise(choose_event_id(known))
    )


def choose_clock(happened_at: Column) -> Column:
    return F.when(is_release(), F.lit(NEVER)).otherwise(happened_at)


def choose_event_id(known: tuple[Contract, ...]) -> Column:
    return F.coalesce(*[F.col(name_column(one))["event_id"] for one in known])


def choose_event_time(known: tuple[Contract, ...]) -> Column:
    return F.coalesce(*[get_event_time(one, name_column(one)) for one in known])


def keep_if_accepted(value: Column, otherwise: Column | None = None) -> Column:
    given = F.when(F.col("_reason").isNull(), value)
    return given if otherwise is None else given.otherwise(otherwise)
