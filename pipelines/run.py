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

from control.generations import Generation, State
from infra.errors import UserError
from infra.logs import set_up_logging
from infra.settings import Settings, locate_root, read_settings
from pipelines.common.generations import snapshot
from pipelines.common.generations.generation import load_generations
from pipelines.common.generations.promotion import (
    complete_source,
    create_candidate,
    find_prefix_ends,
    is_lost,
)
from pipelines.common.pipeline import load
from pipelines.common.runtime.process import give_way
from pipelines.supervisor import Supervisor, supervise

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
            for known in beside.map(partial(ensure_generation, settings), names):
                log_drift(known)
        supervisor = Supervisor(settings, names)
        try:
            supervisor.run()
        finally:
            supervisor.terminate()
    sys.exit(INVALID_EXIT)


def ensure_generation(settings: Settings, name: str) -> tuple[Generation, ...]:
    """The pipeline's generations. Creates one if none can continue.

    Readers keep the promoted one's rows until the new one has caught up and takes its place. If the
    log no longer begins at zero, the new one begins in the archive, without asking.
    """
    known = load_generations(settings, name)
    promoted = known.promoted
    if promoted is not None and is_lost(settings, promoted) and known.candidate is None:
        log.error("generation %d of %s has lost its checkpoint", promoted.number, name)
    elif known.known:
        return known.known
    room = load(name)
    create_candidate(
        settings,
        room,
        locate_root(),
        find_prefix_ends(settings, room, complete_source(settings, room)),
    )
    return load_generations(settings, name).known


def log_drift(known: Iterable[Generation]) -> None:
    """Log the generations that are invalid or whose code differs from the code on disk."""
    for one in known:
        if one.state is State.INVALID:
            log.error("generation %d of %s is invalid: %s", one.number, one.pipeline, one.reason)
        elif drift := snapshot.describe_drift(locate_root(), one):
            log.warning(" ".join(drift.splitlines()))


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
