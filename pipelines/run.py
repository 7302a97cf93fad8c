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
from pipelines.common.pipeline import load
from pipelines.common.run import INVALID_EXIT

log = logging.getLogger("pipeline")


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
    if differs(generation):
        log.warning(changed(generation))
    become(where, generation)


def promoted(where: Settings, name: str) -> Generation:
    """The generation that readers are pointed at, founded where there is none."""
    known = generations(where, name)
    if known:
        return next((one for one in known if one.state is State.PROMOTED), known[-1])
    return found(where, name)


def found(where: Settings, name: str) -> Generation:
    """Found generation 1 from the code on disk; raises Orphaned over another world's checkpoint."""
    generation = first(load(name), snapshot.code_digest(root(), name), created_at=wall_now())
    if generation.checkpoint(where).exists():
        raise Orphaned(generation.checkpoint(where))
    snapshot.take(root(), name, generation.code(where))
    publish(where, (generation,))
    return generation


def differs(generation: Generation) -> bool:
    """Whether the code on disk says something else than what the generation runs."""
    return snapshot.code_digest(root(), generation.pipeline) != generation.code_digest


def changed(generation: Generation) -> str:
    return (
        f"generation {generation.number} of {generation.pipeline} runs its own snapshot; the code "
        "on disk differs. To see what it would change, from offset zero, the way will be: "
        f"make replay PIPELINE={generation.pipeline}"
    )


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
