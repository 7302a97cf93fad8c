"""A generation that reads a log from files, a batch each, in the session of the tests.

State and checkpoints are Spark's own; there is no broker, so a start takes a second.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from contracts import BOOKS, Contract, decode, encode_key
from infra.kafka import Partition, Record
from ops.generations.record import Generation
from pipelines.common.flow import build_running_rows
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform.lines import Lookups
from pipelines.common.transform.rows import encode_changelog
from pipelines.engine.archive import RECORD
from pipelines.engine.session import prepare_session
from pipelines.engine.tuning.optimized import optimize_once
from tests.pipelines.log import select_inputs
from tests.pipelines.streams import FIRST_SECOND, read_files, run_to_end
from tests.replay.answer import Row
from tests.replay.running import Doomed

BEAT_MAX = datetime(2027, 1, 1, tzinfo=UTC)
"""The latest heartbeat that moves the watermark: the logs of tests end before it."""
FILE = pa.schema(
    (
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("timestamp", pa.timestamp("us", tz="UTC")),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
    )
)


class Reading:
    """One generation of a pipeline, and what it has written."""

    def __init__(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        generation: Generation,
        lookups: Lookups,
        folder: Path,
        memory: timedelta,
    ) -> None:
        self.generation = generation
        self.memory = memory
        """How long an event's id is remembered: another one holds from the next `read` on."""
        self.deaths = 0
        self._spark = spark
        self._pipeline = pipeline
        self._lookups = lookups
        self._folder = folder
        self._taken = 0
        self._files = 0
        self._files_read = 0
        self._written: list[tuple[str, bytes]] = []
        self._dies: str | None = None
        (folder / "log").mkdir(parents=True)

    def take(self, log: Sequence[Record], cuts: Iterable[float] = ()) -> None:
        """Put into files what is new in the log, cut at these shares of it."""
        new = log[self._taken :]
        places = sorted({round(share * len(new)) for share in cuts})
        for start, end in pairwise([0, *places, len(new)]):
            self._put(new[start:end])
        self._taken = len(log)

    def count_unread(self, log: Sequence[Record]) -> int:
        """How many records of its topics, in the log, it has not taken."""
        return len(select_inputs(self._pipeline, log[self._taken :]))

    def read(self, dies: str | None = None) -> None:
        """Read all that is new; with `dies`, die first, `before` or `after` a batch is written."""
        if self._files_read == self._files:
            return
        self._dies = dies
        try:
            self._run()
        except StreamingQueryException as error:
            if Doomed.__name__ not in str(error):
                raise
            self._run()
        self._files_read = self._files

    def rows(self, view: Contract) -> dict[bytes, Row]:
        """The newest row of each key, as a reader takes it."""
        topic = self.generation.outputs[view.name]
        found: dict[bytes, Row] = {}
        for written_to, value in self._written:
            if written_to == topic:
                row = dict(decode(value).value)
                key = encode_key(view, row)
                if key not in found or row["version"] >= found[key]["version"]:
                    found[key] = row
        return found

    def books(self) -> dict[Partition, tuple[int, int]]:
        """By partition: how many of its records were applied, and how many rejected."""
        return {
            (row["topic"], row["partition"]): (row["applied"], row["quarantined"])
            for row in self.rows(BOOKS).values()
        }

    def _put(self, records: Sequence[Record]) -> None:
        rows = []
        for record in select_inputs(self._pipeline, records):
            place, time_us = (record.partition, record.offset), record.published_ms * 1_000
            rows.append((record.topic, *place, time_us, record.key, record.value))
        if not rows:
            return
        columns = zip(*rows, strict=True)
        arrays = [pa.array(each, of.type) for each, of in zip(columns, FILE, strict=True)]
        file = self._folder / "log" / f"{self._files:04}.parquet"
        unfinished = self._folder / file.name
        pq.write_table(pa.Table.from_arrays(arrays, schema=FILE), unfinished)
        # Spark reads the oldest file first, by whole seconds.
        os.utime(unfinished, times=(FIRST_SECOND + self._files,) * 2)
        unfinished.replace(file)
        self._files += 1

    def _run(self) -> None:
        partitions = self.generation.state_partitions or 1
        prepare_session(self._spark, live=True, partitions=partitions)
        rows = build_running_rows(
            self._pipeline,
            read_files(self._spark, self._folder / "log", RECORD),
            self.memory,
            self._lookups,
            F.lit(BEAT_MAX),
            tasks=partitions,
        )
        generation = self.generation
        with optimize_once(
            encode_changelog(self._pipeline, generation.number, generation.outputs, rows)
        ) as optimized:
            writer = optimized.writeStream.outputMode("update").foreachBatch(self._write)
            query = run_to_end(writer, self._folder)
        dropped = [
            state.numRowsDroppedByWatermark
            for progress in query.recentProgress
            for state in progress.stateOperators
        ]
        assert not any(dropped), "the watermark only frees memory"

    def _write(self, frame: DataFrame, _batch: int) -> None:
        if self._dies == "before":
            self._die()
        self._written += [(row["topic"], bytes(row["value"])) for row in frame.collect()]
        if self._dies == "after":
            self._die()

    def _die(self) -> None:
        self._dies = None
        self.deaths += 1
        raise Doomed
