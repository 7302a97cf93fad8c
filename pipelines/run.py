"""Starts pipelines: `python -m pipelines.run [NAME …]` supervises their generations.

The first start creates generation 1 from the code on disk. Every generation runs its own copy of
the code, whatever happens to the code on disk.
"""

import logging
import signal
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from infra.errors import UserError
from infra.logs import set_up_logging
from infra.settings import locate_root, read_settings
from ops.generations import snapshot
from ops.generations.record import Generation, State
from ops.generations.supervisor import Supervisor, ensure_generation, supervise
from pipelines.engine.process import give_way

log = logging.getLogger("pipeline")

INVALID_EXIT = 78
"""The exit status of a failure that no restart can mend."""


def main() -> None:
    set_up_logging("pipelines")
    give_way()
    settings = read_settings()
    names = tuple(sys.argv[1:]) or settings.pipeline_names
    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, lambda *_: sys.exit())
    with supervise(settings, names):
        # At once: each waits for answers of Kafka most of the time.
        with ThreadPoolExecutor() as beside:
            for generations in beside.map(partial(ensure_generation, settings), names):
                log_drift(generations)
        supervisor = Supervisor(settings, names)
        try:
            supervisor.run()
        finally:
            supervisor.terminate()
    sys.exit(INVALID_EXIT)


def log_drift(generations: Iterable[Generation]) -> None:
    """Log the generations that are invalid or whose code differs from the code on disk."""
    for generation in generations:
        if generation.state is State.INVALID:
            log.error(
                "generation %d of %s is invalid: %s",
                generation.number,
                generation.pipeline,
                generation.reason,
            )
        elif drift := snapshot.describe_drift(locate_root(), generation):
            log.warning(" ".join(drift.splitlines()))


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
