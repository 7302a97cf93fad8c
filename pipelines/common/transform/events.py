"""From records to events: decoded, and accepted or rejected with a reason.

All topics are in one frame: every further stream of a query costs each batch a plan and tasks of
its own.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from contracts import HEARTBEATS, RELEASES, Contract
from contracts.times import EPOCH
from contracts.validation import RELEASABLE, UNRELEASABLE
from pipelines.common.transform.choose import choose
from pipelines.common.transform.decode import event
from pipelines.common.transform.validate import content_checks, happened, time_checks

META = (
    "_topic",
    "_partition",
    "_published",  # the record's timestamp, world time
    "_of",  # the topic under whose contract the event is: of a release, the original's
    "_reason",  # why the record is rejected; null: it is accepted
    "_identity",  # what a copy of the event has too; of a rejected record, its own offset
    "_clock",  # when the event happened, or was released; NEVER of a rejected record
    "event_time",  # when the event happened
    "_beat",  # when the heartbeat was, if it is an accepted one; else BEFORE_ALL
)

RELEASE = "_release"

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""A time that no watermark passes: a rejected record is counted, whatever time it claims."""

BEFORE_ALL = EPOCH
"""A time that moves no watermark."""


def events(reads: Iterable[Contract], records: DataFrame) -> DataFrame:
    """One row per record: the columns of META, and for each topic read a column with its event.

    Records have topic, partition, offset, timestamp, key and value. Releases are among them; one
    counts as the event that it wraps. So are heartbeats.
    """
    read = tuple(reads)
    known = tuple(dict.fromkeys((*read, HEARTBEATS, *RELEASABLE.values())))
    validated = (
        decode_records(known, records)
        .withColumns({"_fault": fault(known)})
        .withColumns({"_reason": reason(known)})
    )
    return validated.select(*meta_columns(known), *[column(one) for one in read])


def meta_columns(known: tuple[Contract, ...]) -> list[Column]:
    """The columns of META of a validated record."""
    is_beat = F.col("topic") == HEARTBEATS.name
    happened_at = event_time(known)
    return [
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("timestamp").alias("_published"),
        F.col("_of"),
        F.col("_reason"),
        if_accepted(identity(known), F.col("offset").cast("string")).alias("_identity"),
        if_accepted(clock(known), F.lit(NEVER)).alias("_clock"),
        if_accepted(happened_at).alias("event_time"),
        F.when(is_beat & F.col("_reason").isNull(), happened(HEARTBEATS, column(HEARTBEATS)))
        .otherwise(F.lit(BEFORE_ALL))
        .alias("_beat"),
    ]


def column(contract: Contract) -> str:
    """The name of the column that holds the topic's events."""
    return contract.name.replace(".", "_").replace("-", "_")


def by_topic(topic: str, choices: Mapping[Contract, Column]) -> Column:
    """The choice for the topic that this column names; null where there is none."""
    return choose((F.col(topic) == one.name, each) for one, each in choices.items())


def decode_records(known: tuple[Contract, ...], records: DataFrame) -> DataFrame:
    """The records, releases unwrapped, with a column per contract for the event."""
    opened = F.when(F.col("topic") == RELEASES.name, event(RELEASES, F.col("value")))
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
                column(one): F.when(F.col("_of") == one.name, event(one, F.col("_value")))
                for one in known
            }
        )
    )


def fault(known: tuple[Contract, ...]) -> Column:
    """The fault of the event itself, wrapped or not."""
    checks = {one: content_checks(one, column(one), F.col("_key")) for one in known}
    return by_topic("_of", {one: choose(listed) for one, listed in checks.items()})


def reason(known: tuple[Contract, ...]) -> Column:
    """Why a record is rejected: for its content, its timestamp, or the event that it wraps."""
    published = F.col("timestamp")
    in_time = {one: time_checks(one, column(one), published) for one in known}
    late_or_ahead = by_topic("_of", {one: choose(some) for one, some in in_time.items() if some})
    of_release = [
        *content_checks(RELEASES, RELEASE, F.col("key").cast("string")),
        *time_checks(RELEASES, RELEASE, published),
        (~F.col("_of").isin(list(RELEASABLE)) | F.col("_fault").isNotNull(), UNRELEASABLE),
        (F.col(RELEASE)["original_event_id"] != event_id(known), UNRELEASABLE),
    ]
    return F.when(is_release(), choose(of_release)).otherwise(
        F.coalesce(F.col("_fault"), late_or_ahead)
    )


def is_release() -> Column:
    return F.col("topic") == RELEASES.name


def identity(known: tuple[Contract, ...]) -> Column:
    """An event's id; of a release, the original's, in its topic."""
    original = F.concat_ws("/", "_of", event_id(known))
    return F.when(is_release(), original).otherwise(event_id(known))


def clock(known: tuple[Contract, ...]) -> Column:
    return F.when(is_release(), F.col(RELEASE)["event_time"]).otherwise(event_time(known))


def event_id(known: tuple[Contract, ...]) -> Column:
    return F.coalesce(*[F.col(column(one))["event_id"] for one in known])


def event_time(known: tuple[Contract, ...]) -> Column:
    return F.coalesce(*[happened(one, column(one)) for one in known])


def if_accepted(value: Column, otherwise: Column | None = None) -> Column:
    given = F.when(F.col("_reason").isNull(), value)
    return given if otherwise is None else given.otherwise(otherwise)
