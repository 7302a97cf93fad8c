"""The supervisor's worker: `python -m pipelines.engine.worker NAME/NUMBER …`.

It runs these generations, in the folder of their code. All of them share one Spark; each has a
thread, a query and a checkpoint of its own. It ends when none of them has to run any more, and at
once when nobody holds the other end of its input.
"""

import logging
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import NamedTuple, TextIO

from pyspark.sql import SparkSession

from infra.errors import UserError
from infra.logs import set_up_logging
from infra.settings import Settings, read_settings
from ops.generations import lease, snapshot
from ops.generations.folders import end, locate_folder
from ops.generations.lifecycle import Control, load_generations, make_outputs
from ops.generations.record import Generation
from pipelines.common.pipeline import Pipeline, load
from pipelines.engine.ending import end_query
from pipelines.engine.process import end_with_parent
from pipelines.engine.query import LOOK_SECONDS, Run, name_query, run
from pipelines.engine.requests import serve_all
from pipelines.engine.session import (
    CORES_MAX,
    POOL,
    SLOTS_MAX,
    get_engine,
    start_session,
    write_pools,
)
from pipelines.engine.sink import Dropped
from pipelines.engine.sweeping import sweep_all
from pipelines.engine.throttle import Throttle, compute_rest_seconds
from pipelines.engine.tuning.options import create_heap

log = logging.getLogger("pipeline")

ALONE_SECONDS_MAX = 20.0
"""How long the first generation runs alone: it may have a day to read."""


class Assigned(NamedTuple):
    """A generation that this process runs, and its pipeline."""

    pipeline: Pipeline
    generation: Generation


def main() -> None:
    set_up_logging("pipelines")
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it logs every batch
    settings, stopping = read_settings(), Event()
    end_with_parent()
    assigned = [find_assigned(settings, argument) for argument in sys.argv[1:]]
    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, lambda *_: stopping.set())
    with ExitStack() as stack:
        leases = [
            stack.enter_context(lease.take(locate_folder(settings, generation)))
            for _, generation in assigned
        ]
        for pipeline, generation in assigned:
            make_outputs(settings.as_service(pipeline.name), pipeline, generation)
        name = name_query(assigned[0].generation)
        pools = settings.data_dir / "spark" / f"{name}.pools.xml"
        shares = write_pools(pools, [pipeline for pipeline, _ in assigned])
        tasks = max(generation.state_partitions or 1 for _, generation in assigned)
        cores = {CORES_MAX: str(max(SLOTS_MAX, tasks))}
        spark = start_session(settings, name, more={**shares, **cores})
        for file in leases:
            lease.record_engine(file, get_engine(spark).pid)
        try:
            run_all(spark, settings, dict(zip(leases, assigned, strict=True)), stopping)
        finally:
            # A generation always continues from its checkpoint, so kill -9 is the only way to end.
            # A stop of Spark would interrupt a batch with many errors in the log.
            get_engine(spark).kill()


def find_assigned(settings: Settings, argument: str) -> Assigned:
    """The generation named by an argument; raises UserError."""
    name, number = argument.split("/")
    generation = load_generations(settings, name).of(int(number))
    if generation is None:
        raise UserError(
            f"The control topic should hold the generation {argument}, but does not. "
            "See which there are: retail replay status"
        )
    if snapshot.compute_code_digest(Path.cwd(), name) != generation.code_digest:
        raise UserError(
            f"Generation {number} of {name} should run the code it was created with, but that code "
            "was changed. Its checkpoint cannot be trusted to another. Undo the change; to run new "
            f"code from offset zero: make replay PIPELINE={name}"
        )
    return Assigned(load(name), generation)


class QueryThread(Thread):
    """Runs one generation, until it is stopped or ends by itself."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        assigned: Assigned,
        lease_file: TextIO,
        ended: "SimpleQueue[Exception | None]",
    ) -> None:
        pipeline, self.generation = assigned
        super().__init__(name=pipeline.name, daemon=True)
        self.stopping = Event()
        self.throttle = Throttle()
        # Each pipeline reads and writes under its own name, beside others in one process.
        own = settings.as_service(pipeline.name)
        self._work = Run(spark.newSession(), own, pipeline, self.generation, self.throttle)
        self.begun = self._work.begun
        self._lease = lease_file
        self._ended = ended
        """The exception of a failure; None: it no longer has to run, or cannot."""

    def run(self) -> None:
        spark, name = self._work.spark, self._work.pipeline.name
        spark.sparkContext.setLocalProperty(POOL, name)
        try:
            run(self._work, self.stopping)
            for query in spark.streams.active:
                end_query(spark, query)
            self._lease.close()  # the removal of the generation waits for its lease
            self._ended.put(None)
        except Dropped as why:
            end(self._work.settings, self.generation, str(why))
            log.error("generation %d of %s ends: %s", self.generation.number, name, why)
            self._ended.put(None)
        except Exception as error:  # the main thread raises it, which watches all threads
            self._ended.put(error)


def run_all(
    spark: SparkSession, settings: Settings, assigned: Mapping[TextIO, Assigned], stopping: Event
) -> None:
    """Run every generation, by its lease, until told to stop or until none is to run any more.

    Raises the exception of a failed query: all generations continue in a new process.
    """
    ended: SimpleQueue[Exception | None] = SimpleQueue()
    control = Control(settings)
    threads = [QueryThread(spark, settings, each, file, ended) for file, each in assigned.items()]
    for thread in threads:
        update(settings, thread, control)
    Thread(target=start_first_alone, args=(threads,), daemon=True).start()
    runs = assigned.values()
    served = {locate_folder(settings, generation): pipeline for pipeline, generation in runs}
    swept = [(settings.as_service(pipeline.name), generation) for pipeline, generation in runs]
    Thread(target=serve_all, args=(spark, settings, served, stopping), daemon=True).start()
    Thread(target=sweep_all, args=(swept, stopping), daemon=True).start()
    left = len(threads)
    heap = create_heap(spark, settings)
    while left and not stopping.is_set():
        if heap is not None:
            heap.look()
        for thread in threads:
            update(settings, thread, control)
        try:
            error = ended.get(timeout=LOOK_SECONDS)
        except Empty:
            continue
        if error is not None:
            raise error
        left -= 1


def start_first_alone(threads: Sequence[QueryThread]) -> None:
    """Start the first, and all others once it has written a batch: so its view can be read as soon
    as if it ran alone.
    """
    first, *others = threads
    first.start()
    if others:
        first.begun.wait(ALONE_SECONDS_MAX)
    for thread in others:
        thread.start()


def update(settings: Settings, thread: QueryThread, control: Control) -> None:
    """Apply the control topic's state of the generation to its thread."""
    if control.find_state(thread.generation) is None:
        thread.stopping.set()
        thread.throttle.set(0.0)  # it ends the sooner
    else:
        siblings = control.find_siblings(thread.generation)
        thread.throttle.set(compute_rest_seconds(settings, siblings, thread.generation))


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
