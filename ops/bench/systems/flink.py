"""PyFlink at the job: a process in Flink's own environment, which runs `ops/bench/flink`."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from contracts import RECEIPTS, STOCK_LEVELS, build_avro_schema
from infra.environment import FLINK
from infra.jars import fetch_jars
from infra.kafka import apply_topics, read_to_end
from infra.settings import Settings
from infra.supervisor.orphans import HOME_VARIABLE
from ops.bench.kafka_streams import THREADS
from ops.bench.program import Program, run_program
from ops.bench.systems.answers import Run, Units
from ops.bench.systems.progress import wait_for_commits

PROGRAM = Path(__file__).parent.parent / "flink" / "units_sold.py"

OPTIONS = {
    "parallelism.default": str(THREADS),
    "state.backend.type": "rocksdb",
    "execution.checkpointing.interval": "1 s",
    "execution.checkpointing.incremental": "true",
    "restart-strategy.type": "disable",
    # Without these it would send every sum for every line.
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "500 ms",
    "table.exec.mini-batch.size": "20000",
}
"""The options that differ from Flink's defaults; what it promises is exactly once by default."""


@dataclass(frozen=True)
class Job:
    """One run of the program."""

    name: str
    """Its consumer group, and the topic with its answer."""
    ends: bool = True
    """Whether it ends with the log, or reads on."""
    continues: Path | None = None
    """The checkpoint with which it begins; None: at the log's start."""


class Flink:
    """A Python with Flink's Java, which does jobs on demand: the later ones find it warm."""

    def __init__(self, settings: Settings, program: Program) -> None:
        self._settings = settings
        self._program = program

    def start(self, job: Job) -> None:
        apply_topics(self._settings, {job.name: STOCK_LEVELS})
        self._program.order(render_job(self._settings, job, fetch_jars("flink")))

    def finish(self) -> float:
        """Seconds that the started job has run. Raises RuntimeError when its Python ends."""
        return float(self._program.read_answer()) / 1_000

    def run(self, job: Job) -> float:
        self.start(job)
        return self.finish()


def run(settings: Settings, records: int) -> Run:
    with run_flink(settings) as flink:
        flink.run(Job("bench-flink-warm"))  # discarded: Java has compiled nothing yet
        job = Job("bench-flink")
        seconds = flink.run(job)
    return Run(
        seconds,
        read_answer(settings, job),
        count_with_kill(settings, records),
        f"SQL in PyFlink, {THREADS} slots, warm; a Python function reads a receipt, all else is "
        "Java's. Ids and sums in RocksDB, a checkpoint each second. From the job's start to its "
        "end. It reads receipts alone, and checks none.",
        "Its Python and Java are killed after half of the log; others continue from the last "
        "checkpoint.",
    )


def count_with_kill(settings: Settings, records: int) -> Units:
    """What a job answers that is killed after half of so many records.

    It reads on, since a read with an end does not end once it continues from a checkpoint
    (FLINK-31006, open). Its sums are acknowledged before their checkpoint is complete, and Flink
    commits the offsets of complete checkpoints.
    """
    job = Job("bench-flink-killed", ends=False)
    with run_flink(settings) as first:
        first.start(job)
        wait_for_commits(settings, job.name, records // 2)
    with run_flink(settings) as second:
        second.start(replace(job, continues=find_checkpoint(settings, job)))
        wait_for_commits(settings, job.name, records)
    return read_answer(settings, job)


@contextmanager
def run_flink(settings: Settings) -> Iterator[Flink]:
    """Flink, with the heap of the pipelines' Java, until the block ends; then it is killed."""
    command = [str(FLINK.ensure_python()), str(PROGRAM)]
    log = settings.data_dir / "flink.log"
    with run_program(command, log, build_environment(settings)) as program:
        yield Flink(settings, program)


def build_environment(settings: Settings) -> dict[str, str]:
    """The variables of Flink's processes: its log and heap; and the data folder, to be found by."""
    others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {
        **others,
        HOME_VARIABLE: str(settings.data_dir),
        "FLINK_LOG_DIR": str(settings.data_dir),
        "JVM_ARGS": f"-Xmx{settings.spark_driver_memory}",
    }


def render_job(settings: Settings, job: Job, jars: Iterable[Path]) -> str:
    """The job as a line of JSON, as the program reads it."""
    return json.dumps(
        {
            "name": job.name,
            "servers": settings.bootstrap_servers,
            "topic": RECEIPTS.name,
            "until": "latest-offset" if job.ends else "unbounded",
            "schema": build_avro_schema(RECEIPTS),
            "jars": ";".join(jar.as_uri() for jar in jars),
            "options": build_options(settings, job),
        }
    )


def build_options(settings: Settings, job: Job) -> dict[str, str]:
    begins = {"execution.state-recovery.path": job.continues.as_uri()} if job.continues else {}
    return {
        **OPTIONS,
        **begins,
        "execution.checkpointing.dir": locate_checkpoints(settings, job).as_uri(),
    }


def find_checkpoint(settings: Settings, job: Job) -> Path:
    """The newest complete checkpoint of the job. Raises ValueError when there is none."""
    complete = locate_checkpoints(settings, job).glob("*/chk-*/_metadata")
    return max((file.parent for file in complete), key=lambda one: int(one.name.split("-")[1]))


def locate_checkpoints(settings: Settings, job: Job) -> Path:
    return settings.data_dir / "flink" / job.name


def read_answer(settings: Settings, job: Job) -> Units:
    """What the job's topic says."""
    rows = map(json.loads, read_to_end(settings, job.name).values())
    return {(row["store_id"], row["sku"]): row["units"] for row in rows}
