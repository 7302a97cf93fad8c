"""Spark's daemon of Python workers, with a cheaper end of each task.

After a task Spark's daemon lets a worker collect all its garbage, which looks at every module that
is loaded: some fifty milliseconds, when a live batch takes two hundred. What the first task has
loaded stays; later collections pass over it. What every worker needs is loaded before the first one
is forked, and so shared by all; not what starts threads, which a fork would lose.
"""

import gc
import importlib
from types import SimpleNamespace

from pyspark import daemon

DAEMON = "pipelines.common.python_workers"
"""As Spark's option spark.python.daemon.module names it."""


SHARED = ("contracts.judging", "infra.kafka", "infra.settings", "pyspark.worker")


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
