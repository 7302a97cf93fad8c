"""Spark's daemon of Python workers, with a cheaper end of each task.

After a task Spark's daemon lets a worker collect all its garbage. The collector looks at every
module that is loaded: some fifty milliseconds, when a live batch takes two hundred. Here the
modules that the first task has loaded are frozen, and later collections pass over them. What every
worker needs is loaded before the first one is forked, and so shared by all; but not what starts
threads, which a fork would lose.
"""

import gc
import importlib
from types import SimpleNamespace

from pyspark import daemon

DAEMON = "pipelines.common.runtime.python_workers"
"""As Spark's option spark.python.daemon.module names it."""


SHARED = ("contracts.validation", "infra.kafka", "infra.settings", "pyspark.worker")


def collector() -> SimpleNamespace:
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
    for module in SHARED:
        importlib.import_module(module)
    gc.freeze()


if __name__ == "__main__":
    preload()
    setattr(daemon, "gc", collector())  # noqa: B010  it is no name that the module exports
    daemon.manager()
