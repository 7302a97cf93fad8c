"""Spark's daemon of Python workers, with a cheaper end of each task.

After a task Spark's daemon lets a worker collect all its garbage. The collector looks at every
module that is loaded: some fifty milliseconds, when a live batch takes two hundred. Here the
modules that the first task has loaded are frozen, and later collections pass over them.

What every worker needs is loaded before the first one is forked, and so shared by all: its memory,
and the second that loading takes. A fork keeps one thread alone. So the libraries that would start
threads when they are loaded are told not to.
"""

import gc
import importlib
import os
from types import SimpleNamespace

from pyspark import daemon

DAEMON = "pipelines.common.runtime.python_workers"
"""As Spark's option spark.python.daemon.module names it."""

SHARED = (
    "infra.kafka",
    "pandas",  # as Spark needs it for whatever is passed on by Arrow
    "pipelines.common.transform.small_batches",
    "pyspark.sql.pandas.serializers",
    "pyspark.worker",
)
THREADLESS = {
    "OPENBLAS_NUM_THREADS": "1",  # numpy's
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # Arrow's second allocator
}
"""Variables by which libraries start no thread."""


def create_collector() -> SimpleNamespace:
    """In place of the module gc, as the daemon uses it."""
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
