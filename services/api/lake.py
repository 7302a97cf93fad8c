"""The lake's tables of events: each read at one version, a few readers at a time, not for long."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from threading import BoundedSemaphore, Timer
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from contracts import Contract
from infra.lake import Folders, Unsaid, held, newest
from services.api.marker import Offsets, by_topic
from services.api.problems import Problem

SECONDS_MAX = 20.0  # of one question to the engine; an answer asks a few
AT_ONCE_MAX = 2  # each reads files for seconds, beside routes that answer in milliseconds
ENGINE: dict[str, str | bool | int | float | list[str]] = {"threads": 1, "memory_limit": "256MB"}
BATCH_ROWS = 16_384
FILES_AHEAD = 1

MOMENT = pa.timestamp("us", "UTC")
MOMENT_MS_MAX = 2**63 // 1000


@dataclass(frozen=True)
class Silver:
    """The events of a topic, as the table held them at one version."""

    ends: Offsets
    """Up to where it held the log."""
    dataset: pads.Dataset

    def columns(self, names: Sequence[str]) -> pa.Schema:
        return pa.schema([self.dataset.schema.field(name) for name in names])

    def rows(self, columns: Sequence[str], where: pads.Expression | None = None) -> Any:
        """Those that meet the condition, as they are read: files that have none are left out."""
        return self.dataset.scanner(
            columns=list(columns),
            filter=where,
            batch_size=BATCH_ROWS,
            batch_readahead=FILES_AHEAD,
            fragment_readahead=FILES_AHEAD,
        ).to_reader()


@dataclass(frozen=True)
class Reading:
    """The tables that one answer is made from, and the engine that adds up what they hold."""

    tables: Mapping[Contract, Silver]
    _engine: duckdb.DuckDBPyConnection

    def name(self, relation: str, rows: Any) -> None:
        """Let SQL find these rows, once, under a name."""
        self._engine.register(relation, rows)

    def ask(self, sql: str, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        """The rows of the answer, by column. Raises Problem where it takes too long."""
        overdue = Timer(SECONDS_MAX, self._engine.interrupt)
        overdue.start()
        try:
            found = self._engine.sql(sql, params=dict(values or {}))
            return list(found.to_arrow_table().to_pylist())
        except (duckdb.InterruptException, RuntimeError) as error:
            if not overdue.finished.is_set():
                raise
            raise _too_long() from error  # told by the one or the other, as it was interrupted
        finally:
            overdue.cancel()

    def as_of(self) -> dict[str, Any]:
        """Up to where the log has been counted."""
        ends = {at: end for table in self.tables.values() for at, end in table.ends.items()}
        return {"as_of": {"inputs": by_topic(ends)}}


class Lake:
    """The folder that the lake writes; whoever reads it needs nothing else to run."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._turns = BoundedSemaphore(AT_ONCE_MAX)

    @contextmanager
    def reading(self, *topics: Contract) -> Iterator[Reading]:
        """These topics' tables as they are now, and as long as it takes. Raises Problem."""
        with ExitStack() as ending:
            if not self._turns.acquire(blocking=False):
                raise _too_many()
            ending.callback(self._turns.release)
            tables = {topic: self._pinned(topic) for topic in topics}
            yield Reading(tables, ending.enter_context(closing(duckdb.connect(config=ENGINE))))

    def _pinned(self, topic: Contract) -> Silver:
        folder = self._folders.silver(topic)
        if newest(folder) < 0:
            raise _not_there(topic, "none")
        try:
            table = DeltaTable(str(folder))
            ends = held(folder, table.version()).ends
            return Silver(ends, table.to_pyarrow_dataset())
        except (DeltaError, OSError, Unsaid) as error:
            raise _not_there(topic, str(error)) from error


def moment(at_ms: int) -> "pa.Scalar[Any]":
    """Milliseconds of 1970 as the tables keep times; beyond their ends, the nearest."""
    return pa.scalar(max(-MOMENT_MS_MAX, min(at_ms, MOMENT_MS_MAX)) * 1000, MOMENT)


def _not_there(topic: Contract, found: str) -> Problem:
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Lake not there",
        f"Expected the lake to keep the events of {topic.name}, found {found}. It keeps them from "
        "the log's first record on, once it runs: make down && make up LAKE=on",
    )


def _too_many() -> Problem:
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Too many in the lake",
        f"Expected at most {AT_ONCE_MAX} requests to read the lake at once, found more. "
        "Try again in a second.",
        headers={"Retry-After": "1"},
    )


def _too_long() -> Problem:
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Too long in the lake",
        f"Expected to have read the lake within {SECONDS_MAX:g} s, but had not. Ask for a shorter "
        "time, or read the tables with a tool of your own: pipelines/lake/README.md.",
    )
