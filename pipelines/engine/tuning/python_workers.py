"""Spark's daemon of Python workers, with a cheaper end of each task: fraud's rules run in them.

After a task Spark's daemon lets a worker collect all its garbage. The collector visits every loaded
module, which takes some fifty milliseconds; a live batch takes two hundred. This module freezes the
modules that the first task has loaded, so that later collections skip them.

The daemon loads the common modules before it forks the first worker. So all workers share their
memory, and none spends a second on loading. A fork keeps only one thread, so environment variables
keep libraries from starting threads when they are loaded.
"""

import gc
import importlib
import os
from types import SimpleNamespace

from pyspark import daemon

DAEMON = "pipelines.engine.tuning.python_workers"
"""As Spark's option spark.python.daemon.module names it."""

SHARED = ("contracts.validation", "pyspark.sql", "pyspark.worker")
THREADLESS = {
    "OPENBLAS_NUM_THREADS": "1",  # numpy's
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # Arrow's second allocator
}
"""Variables that keep libraries from starting threads."""


def create_collector() -> SimpleNamespace:
    """A replacement of the module gc, with the functions that the daemon uses."""
    collected = False

    def collect() -> None:
        nonlocal collected
        gc.collect()
        if not collected:
            gc.freeze()
            collected = True

    return SimpleNamespace(collect=collect)


def preload() -> None:
    os.environ.update(THREADLESS)
    for module in SHARED:
        importlib.import_module(module)
    gc.freeze()


if __name__ == "__main__":
    preload()
    setattr(daemon, "gc", create_collector())  # noqa: B010  it is no name that the module exports
    daemon.manager()
