"""Reads the lake's tables of events: each at one version, few at a time, with a time limit."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from threading import BoundedSemaphore, Timer
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from contracts import Contract
from contracts.times import to_epoch_ms
from infra.kafka import Offsets
from infra.lake import Folders, UnknownCoverage, find_newest_version, read_coverage
from services.api.problem import Problem, Unavailable
from services.api.store.tables import to_document

SECONDS_MAX = 20.0  # per query of the engine; an answer takes a few
AT_ONCE_MAX = 2  # each reads files for seconds; other routes answer in milliseconds
ENGINE: dict[str, str | bool | int | float | list[str]] = {"threads": 1, "memory_limit": "256MB"}
BATCH_ROWS = 16_384
FILES_AHEAD = 1

if TYPE_CHECKING:
    import pyarrow.dataset as pads  # which takes half a second to import, for a lake that few have

MOMENT = pa.timestamp("us", "UTC")
MOMENT_MS_MAX = 2**63 // 1000


class LakeMissing(Problem):
    """The lake has no table of the topic's events, or cannot read it."""

    def __init__(self, topic: Contract, found: str) -> None:
        super().__init__(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "Lake not there",
            f"Expected the lake to keep the events of {topic.name}, found {found}. It keeps them "
            "from the log's first record on, once it runs: make down && make up LAKE=on",
        )


Record = dict[str, Any]
"""A row of a query, by column; the query determines the columns and their types."""


@dataclass(frozen=True)
class Silver:
    """The events of a topic, at one version of the table."""

    ends: Offsets
    """The offsets up to which this version holds the log."""
    dataset: "pads.Dataset"

    def read(self, columns: Sequence[str], where: pc.Expression | None = None) -> Any:
        """A reader of the rows that meet the condition. It skips files that have none."""
        return self.dataset.scanner(
            columns=list(columns),
            filter=where,
            batch_size=BATCH_ROWS,
            batch_readahead=FILES_AHEAD,
            fragment_readahead=FILES_AHEAD,
        ).to_reader()


@dataclass(frozen=True)
class LakeSnapshot:
    """The tables of one answer, and the engine that queries them."""

    tables: Mapping[Contract, Silver]
    _engine: duckdb.DuckDBPyConnection

    def register(self, relation: str, rows: Any) -> None:
        """Let SQL read these rows under a name, once."""
        self._engine.register(relation, rows)

    def query(self, sql: str, values: Mapping[str, object] | None = None) -> list[Record]:
        """The rows of the result, by column. Raises Problem where it takes too long."""
        overdue = Timer(SECONDS_MAX, self._engine.interrupt)
        overdue.start()
        try:
            relation = self._engine.sql(sql, params=dict(values or {}))
            return list(relation.to_arrow_table().to_pylist())
        except (duckdb.InterruptException, RuntimeError) as error:
            if not overdue.finished.is_set():
                raise
            raise Problem(  # an interrupted query raises either
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Too long in the lake",
                f"Expected to have read the lake within {SECONDS_MAX:g} s, but had not. Ask for a "
                "shorter time, or read the tables with a tool of your own: "
                "pipelines/lake/README.md.",
            ) from error
        finally:
            overdue.cancel()

    def list_ends(self) -> Offsets:
        """The offsets up to which the tables hold the log."""
        return {
            partition: end
            for table in self.tables.values()
            for partition, end in table.ends.items()
        }


class Lake:
    """The folder of the lake. Reading it needs no other process."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._slots = BoundedSemaphore(AT_ONCE_MAX)

    @contextmanager
    def open(self, *topics: Contract) -> Iterator[LakeSnapshot]:
        """The newest versions of these topics' tables. Raises Problem and LakeMissing."""
        with ExitStack() as ending:
            if not self._slots.acquire(blocking=False):
                raise Unavailable(
                    "Too many in the lake",
                    f"Expected at most {AT_ONCE_MAX} requests to read the lake at once, found "
                    "more. Try again in a second.",
                )
            ending.callback(self._slots.release)
            tables = {topic: self._pin(topic) for topic in topics}
            yield LakeSnapshot(tables, ending.enter_context(closing(duckdb.connect(config=ENGINE))))

    def find_missing(self, *topics: Contract) -> LakeMissing | None:
        """The error for the first topic without a table; None if all have one."""
        missing = [
            topic for topic in topics if find_newest_version(self._folders.silver(topic)) < 0
        ]
        return LakeMissing(missing[0], "none") if missing else None

    def _pin(self, topic: Contract) -> Silver:
        folder = self._folders.silver(topic)
        if find_newest_version(folder) < 0:
            raise LakeMissing(topic, "none")
        try:
            table = DeltaTable(str(folder))
            ends = read_coverage(folder, table.version()).ends
            return Silver(ends, table.to_pyarrow_dataset())
        except (DeltaError, OSError, UnknownCoverage) as error:
            raise LakeMissing(topic, str(error)) from error


def to_timestamp(at_ms: int) -> "pa.Scalar[Any]":
    """Milliseconds since 1970 as a timestamp of the tables; out of range, the nearest one."""
    return pa.scalar(max(-MOMENT_MS_MAX, min(at_ms, MOMENT_MS_MAX)) * 1000, MOMENT)


def find_records(
    snapshot: LakeSnapshot, topic: Contract, named: Sequence[dict[str, Any]]
) -> list[Record]:
    """The topic's records of the events in an alert's evidence, one per partition with a copy.

    An event is named by its topic, `event_id` and `event_time`; the times limit the files that are
    read. A record has its place, `published_at` in milliseconds since 1970, and `event`: the fields
    of the contract, as JSON.
    """
    wanted = [each for each in named if each["topic"] == topic.name]
    times = [to_epoch_ms(datetime.fromisoformat(each["event_time"])) for each in wanted]
    happened, identity = pc.field("event_time"), pc.field("event_id")
    within = (happened >= to_timestamp(min(times))) & (happened <= to_timestamp(max(times)))
    among = identity.isin([each["event_id"] for each in wanted])
    table = snapshot.tables[topic]
    snapshot.register("named", table.read(table.dataset.schema.names, within & among))
    return [
        {
            "topic": topic.name,
            "event_id": row["event_id"],
            "partition": row["_partition"],
            "offset": row["_offset"],
            "published_at": to_epoch_ms(row["_published"]),
            "event": to_document({field.name: row[field.name] for field in topic.fields}),
        }
        for row in snapshot.query("from named order by _partition")
    ]
