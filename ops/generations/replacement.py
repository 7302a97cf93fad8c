"""Replaces a generation that cannot continue by a replay."""

import logging

from infra.settings import Settings, locate_root
from ops.generations.lifecycle import load_generations
from ops.generations.promotion import (
    complete_source,
    create_candidate,
    find_prefix_ends,
    is_lost,
)
from ops.generations.prune import prune_generation
from ops.generations.record import Generation, Generations, State
from pipelines.common.pipeline import load

log = logging.getLogger("pipeline")


def ensure_generation(settings: Settings, name: str) -> tuple[Generation, ...]:
    """The pipeline's generations. Creates one if none can continue.

    Readers keep the promoted one's rows until the new one has caught up and takes its place. If the
    log no longer begins at zero, the new one begins in the archive, without asking. Raises as
    `find_prefix_ends`, `create_candidate` and `prune_generation` do.
    """
    known = load_generations(settings, name)
    promoted = known.promoted
    if promoted is not None and is_lost(settings, promoted) and known.candidate is None:
        log.error("generation %d of %s cannot continue: it is replayed", promoted.number, name)
    elif known.known:
        return known.known
    prune_lost(settings, known)
    room = load(name)
    create_candidate(
        settings,
        room,
        locate_root(),
        find_prefix_ends(settings, room, complete_source(settings, room)),
    )
    return load_generations(settings, name).known


def prune_lost(settings: Settings, known: Generations) -> None:
    """Remove the generations before the promoted one that nobody can go back to."""
    for one in known.known:
        if one.state is State.RETIRED and is_lost(settings, one):
            prune_generation(settings, one)
