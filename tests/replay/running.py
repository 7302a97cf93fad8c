"""A generation at work, to be killed: in this process, or in one of its own."""

import subprocess
import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from threading import Event, Thread
from typing import Any, Protocol

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from infra.processes import build_environment, find_engines
from infra.settings import Settings, locate_root
from ops.generations.folders import locate_checkpoint, locate_code
from ops.generations.lifecycle import make_outputs
from ops.generations.marker import publish_marker
from ops.generations.promotion import create_candidate
from ops.generations.record import Generation
from pipelines.common.pipeline import Pipeline, load
from pipelines.engine.archive import ZERO
from pipelines.engine.query import Run, run

BATCHES_AHEAD_MAX = 3
STOP_SECONDS_MAX = 60


@dataclass(frozen=True)
class Work:
    """A generation, and where it is to run."""

    settings: Settings
    pipeline: Pipeline
    generation: Generation


def create_work(settings: Settings, name: str, state_partitions: int | None = None) -> Work:
    """The next generation of the pipeline, from the code on disk; in session it never waits."""
    pipeline = replace(load(name), every=timedelta(), duty_cycle=1.0)
    generation = create_candidate(
        settings, pipeline, locate_root(), ZERO, state_partitions=state_partitions
    )
    work = Work(settings, pipeline, generation)
    make_outputs(settings, work.pipeline, work.generation)
    return work


class Running(Protocol):
    """A generation that can be started, killed over what comes next, and stopped."""

    work: Work
    kills: int
    """How often it was killed so far."""

    def plan_kill(self, chance: Random, batches_min: int = BATCHES_AHEAD_MAX) -> None:
        """Have it killed at a drawn point among its next batches; at least so many will come."""

    def ensure_running(self) -> None:
        """Start it unless it runs; raises when it died of anything else than the planned kill."""

    def stop(self) -> None:
        """Stop it, wherever it is."""


class Doomed(Exception):
    """The end of a generation, between the rows of a batch and the commit."""


class InSession:
    """It runs in this process and in a Spark that others use too.

    It dies when a batch's rows are written: before the marker, or after the marker and before
    Spark notes that the batch is done.
    """

    def __init__(self, work: Work, spark: SparkSession, patch: pytest.MonkeyPatch) -> None:
        self.work = work
        self.kills = 0
        self._spark = spark
        self._marks_left = -1
        self._marks_first = False
        self._stopping = Event()
        self._thread: Thread | None = None
        self._failure: Exception | None = None
        patch.setattr("pipelines.engine.sink.publish_marker", self._mark_or_die)

    def plan_kill(self, chance: Random, batches_min: int = BATCHES_AHEAD_MAX) -> None:
        if self._marks_left >= 0:
            return  # one is planned already
        self._marks_left = chance.randrange(min(batches_min, BATCHES_AHEAD_MAX))
        self._marks_first = chance.random() < 0.5

    def ensure_running(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._thread is None or not self._thread.is_alive():
            self._stopping = Event()
            self._thread = Thread(target=self._run)
            self._thread.start()

    def forget(self) -> None:
        """Forget a failure: another generation is to run."""
        self._failure = None

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS_MAX)
        for query in self._spark.streams.active:
            query.stop()

    def _run(self) -> None:
        try:
            work = self.work
            run(Run(self._spark, work.settings, work.pipeline, work.generation), self._stopping)
        except StreamingQueryException as error:
            if Doomed.__name__ not in str(error):
                self._failure = error
        except Exception as error:
            self._failure = error

    def _mark_or_die(self, *arguments: Any, **more: Any) -> None:
        dies = self._marks_left == 0
        self._marks_left -= 1
        if not dies or self._marks_first:
            publish_marker(*arguments, **more)
        if dies:
            self.kills += 1
            raise Doomed


class OwnProcess:
    """It runs as in a shop: kill -9 takes its driver or its engine while a batch is open."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.kills = 0
        self._checkpoint = locate_checkpoint(work.settings, work.generation)
        self._log = work.settings.data_dir / "pipeline.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._point: int | None = None
        self._takes_engine = False
        self._dies = False

    def plan_kill(self, chance: Random, batches_min: int = 1) -> None:
        # The next one: there may be no more of them.
        self._point = self._checkpoint.find_newest_begun() + 1
        self._takes_engine = chance.random() < 0.5

    def ensure_running(self) -> None:
        if self._process is None:
            self._process = self._started()
        elif self._process.poll() is not None:
            if not self._dies:
                raise AssertionError(
                    f"{self.work.pipeline.name} has ended: {self._log.read_text()}"
                )
            self._process, self._dies = None, False
        elif self._point is not None and self._checkpoint.find_open_batch() >= self._point:
            self._kill(self._process)

    def stop(self) -> None:
        if self._process is None:
            return
        for engine in find_engines(self._process.pid):
            engine.kill()
        self._process.kill()
        self._process.wait(STOP_SECONDS_MAX)
        self._process = None

    def _started(self) -> "subprocess.Popen[bytes]":
        generation, settings = self.work.generation, self.work.settings
        named = f"{generation.pipeline}/{generation.number}"
        code = locate_code(settings, generation)
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "pipelines.engine.worker", named],
                cwd=code,
                env=build_environment(settings, code),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    def _kill(self, process: "subprocess.Popen[bytes]") -> None:
        for victim in find_engines(process.pid) if self._takes_engine else [process]:
            victim.kill()
        self._point, self._dies = None, True
        self.kills += 1
