"""Starting a pipeline: `python -m pipelines.run NAME` runs its promoted generation.

The first start founds generation 1 from the code on disk. From then on the generation runs its
own copy of that code, whatever happens to the code on disk.
"""

import logging
import os
import sys
from pathlib import Path

from infra.errors import Trouble
from infra.logs import setup_logging
from infra.settings import Settings, root, settings
from pipelines.common import snapshot
from pipelines.common.clock import wall_now
from pipelines.common.generation import Generation, State, first, generations, publish
from pipelines.common.marker import marked
from pipelines.common.offsets import committed
from pipelines.common.pipeline import load
from pipelines.common.run import INVALID_EXIT

log = logging.getLogger("pipeline")


class Lost(Trouble):
    """Kafka knows of the generation, but what it left on disk is gone."""

    def __init__(self, generation: Generation, folder: Path) -> None:
        super().__init__(
            f"{folder} should hold code and checkpoint of generation {generation.number} of "
            f"{generation.pipeline}, which Kafka knows of, but does not. Put the folder back, or "
            "begin anew with an empty Kafka: make reset"
        )


class Orphaned(Trouble):
    """There is a checkpoint, but the control topic knows of no generation."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(
            f"{checkpoint} belongs to a generation that Kafka knows nothing of: it was written "
            "against another broker. Point DATA_DIR elsewhere, or begin anew: make reset"
        )


def main() -> None:
    name = sys.argv[1]
    setup_logging(name)
    where = settings()
    generation = promoted(where, name)
    if generation.state is State.INVALID:
        log.error("generation %d of %s is invalid: %s", generation.number, name, generation.reason)
        sys.exit(INVALID_EXIT)
    digest = generation.code_digest
    if drift := snapshot.drift(root(), name, generation.number, digest):
        log.warning(drift)
    become(where, generation)


def promoted(where: Settings, name: str) -> Generation:
    """The generation that readers are pointed at, founded where there is none; raises Lost."""
    known = generations(where, name)
    if not known:
        return found(where, name)
    generation = next((one for one in known if one.state is State.PROMOTED), known[-1])
    if lost(where, generation):
        raise Lost(generation, generation.folder(where))
    return generation


def lost(where: Settings, generation: Generation) -> bool:
    """Whether its code is gone, or the checkpoint of what it has written already."""
    begun = committed(generation.checkpoint(where)) or not marked(where, generation)
    return not (begun and generation.code(where).exists())


def found(where: Settings, name: str) -> Generation:
    """Found generation 1 from the code on disk; raises Orphaned over another world's checkpoint."""
    generation = first(load(name), snapshot.code_digest(root(), name), created_at=wall_now())
    if generation.checkpoint(where).exists():
        raise Orphaned(generation.checkpoint(where))
    snapshot.take(root(), name, generation.code(where))
    publish(where, (generation,))
    return generation


def become(where: Settings, generation: Generation) -> None:
    """Turn this process into the generation's own code."""
    code = generation.code(where)
    module = ["-m", "pipelines.common.run", generation.pipeline, str(generation.number)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(code),
        "DATA_DIR": str(where.data_dir),
        "JARS_DIR": str(where.jars_dir),
    }
    os.chdir(code)
    os.execve(sys.executable, [sys.executable, *module], environment)


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(str(trouble))
