"""Starting pipelines: `python -m pipelines.run [NAME …]` runs their generations.

The first start founds generation 1 from the code on disk. From then on the generation runs its
own copy of that code, whatever happens to the code on disk, and so does every later one.
"""

import logging
import signal
import sys
from collections.abc import Iterable

from infra.errors import Trouble
from infra.logs import setup_logging
from infra.settings import Settings, root, settings
from pipelines.common import snapshot
from pipelines.common.generation import Generation, State, generations
from pipelines.common.pipeline import load
from pipelines.common.priority import give_way
from pipelines.common.promotion import found, head_ends, lost, whole
from pipelines.crew import Crew, at_work

log = logging.getLogger("pipeline")

INVALID_EXIT = 78
"""The exit status that no restart can mend."""


def main() -> None:
    setup_logging("pipelines")
    give_way()
    where = settings()
    names = tuple(sys.argv[1:]) or where.pipeline_names
    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, lambda *_: sys.exit())
    with at_work(where, names):
        for name in names:
            tell(ensured(where, name))
        crew = Crew(where, names)
        try:
            crew.work()
        finally:
            crew.dismiss()
    sys.exit(INVALID_EXIT)


def ensured(where: Settings, name: str) -> tuple[Generation, ...]:
    """The pipeline's generations; one is founded where there is none that goes on.

    What the promoted one has written stays with its readers, as it is, until the founded one has
    caught up and takes its place. Nobody is there to be asked: where the log has no head any more,
    it begins in the archive.
    """
    known = generations(where, name)
    promoted = known.promoted
    if promoted is not None and lost(where, promoted) and known.candidate is None:
        log.error("generation %d of %s has lost its checkpoint", promoted.number, name)
    elif known.known:
        return known.known
    room = load(name)
    found(where, room, root(), head_ends(where, room, whole(where, room)))
    return generations(where, name).known


def tell(known: Iterable[Generation]) -> None:
    """Say which generations do not run what is on disk."""
    for one in known:
        if one.state is State.INVALID:
            log.error("generation %d of %s is invalid: %s", one.number, one.pipeline, one.reason)
        elif drift := snapshot.drift(
            root(), one.pipeline, one.number, one.code_digest, one.libraries
        ):
            log.warning(" ".join(drift.splitlines()))


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(str(trouble))
