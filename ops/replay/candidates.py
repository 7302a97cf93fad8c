"""The life of a candidate: start, comparison, promotion, rollback, pruning.

A candidate is a generation that reads the whole log again, with the code on disk, beside the
promoted generation.
"""

from functools import partial

from contracts import CONTRACTS
from infra.errors import UserError
from infra.settings import Settings, locate_root
from ops.generations import promotion, snapshot
from ops.generations.folders import locate_code
from ops.generations.lifecycle import change, load_generations, prune_generation, remove_leftovers
from ops.generations.record import CANDIDATE, Generation, Generations, State
from ops.replay import batch, readers
from ops.replay.compare import Compared, compare_at_marker
from ops.replay.plan import Plan, plan_replay
from pipelines.common.pipeline import Pipeline
from pipelines.engine.archive import Source


class NotComparable(UserError):
    """What readers follow has views of which this code has no contract any more."""

    def __init__(self, promoted: Generation, gone: list[str]) -> None:
        super().__init__(
            f"Generation {promoted.number} of {promoted.pipeline}, which readers follow, should "
            f"have views of this code's contracts, but has {', '.join(gone)}: nothing can be "
            f"compared with it. Its successor is promoted as it is: retail replay promote "
            f"{promoted.pipeline}"
        )


def start(
    settings: Settings,
    pipeline: Pipeline,
    edits: snapshot.Edits = snapshot.NONE,
    source: Source = Source.LOG,
    state_partitions: int | None = None,
) -> tuple[Generation, Plan]:
    """Create a candidate with the code on disk and these edits; the pipelines' process runs it.

    Without a number of state partitions it has one that suits the log.
    Raises CandidateThere, and the errors of `plan_replay`.
    """
    generations = load_generations(settings, pipeline.name)
    ends = promotion.find_prefix_ends(settings, pipeline, source)
    if generations.candidate:
        raise promotion.CandidateThere(generations.candidate)
    plan = plan_replay(settings, pipeline, generations.promoted, {topic for topic, _ in ends})
    made = promotion.create_candidate(
        settings, pipeline, locate_root(), ends, edits, state_partitions
    )
    return made, plan


def diff(settings: Settings, pipeline: Pipeline) -> Compared:
    """The difference between the candidate and the promoted generation, at the latter's marker.

    Raises NotPromotable without a candidate, and NotComparable if the contract of a view that is
    served is gone.
    """
    generations = load_generations(settings, pipeline.name)
    candidate, promoted = require_candidate(generations), require_promoted(generations)
    if gone := [view for view in promoted.views if view not in CONTRACTS]:
        raise NotComparable(promoted, gone)
    codes = locate_code(settings, promoted), locate_code(settings, candidate)
    run = partial(batch.run_by_worker, settings, candidate)
    name = f"generation {candidate.number}"
    return compare_at_marker(settings, pipeline, run, *codes, name)


def verify(settings: Settings, pipeline: Pipeline) -> Compared:
    """Replay the promoted generation's code: the difference should be empty. Raises UserError."""
    code = locate_code(settings, require_promoted(load_generations(settings, pipeline.name)))
    run = partial(batch.run, settings, pipeline.name, code)
    return compare_at_marker(settings, pipeline, run, code, code, "its code, replayed")


def promote(settings: Settings, pipeline: str, number: int | None = None) -> Generation:
    """Switch every reader to the candidate, by one record, once each has loaded it.

    `number`: the candidate that is meant; None: the present one. It keeps the previous generation
    for a rollback and prunes older ones. Raises NotPromotable, also if another candidate takes its
    place meanwhile, and UserError if a reader does not follow.
    """
    candidate = promotion.require_ready(load_generations(settings, pipeline), number)
    readers.await_loaded(settings, (pipeline, candidate.number))
    before = load_generations(settings, pipeline)
    change(settings, pipeline, lambda generations: promotion.switch(generations, candidate.number))
    for old in [generation for generation in before.members if generation.state is State.RETIRED]:
        prune_generation(settings, old)
    readers.await_loaded(settings, (pipeline, candidate.number), served=True)
    return candidate


def roll_back(settings: Settings, pipeline: str) -> Generations:
    """Switch every reader back to the previous generation, by one record.

    Raises UserError where there is none, or if a reader does not follow.
    """
    after = promotion.roll_back(settings, pipeline)
    number = require_promoted(after).number
    readers.await_loaded(settings, (pipeline, number), served=True)
    return after


def prune(settings: Settings, pipeline: str, number: int | None = None) -> Generation:
    """Remove a generation that is not promoted: its process, its topics, its folder.

    Raises UserError if it is not clear which one is meant, or if its process does not end.
    """
    generations = load_generations(settings, pipeline)
    remove_leftovers(settings, pipeline)
    chosen = select(generations, number)
    prune_generation(settings, chosen)
    return chosen


def select(generations: Generations, number: int | None) -> Generation:
    """The generation to remove: that of the number, else the candidate, else the only one."""
    members = generations.members
    others = [member for member in members if member.state is not State.PROMOTED]
    if number is not None:
        others = [member for member in others if member.number == number]
    elif generations.candidate:
        others = [member for member in others if member.state in CANDIDATE]
    if len(others) == 1:
        return others[0]
    there = ", ".join(f"{member.number} ({member.state.value})" for member in members) or "none"
    raise UserError(
        f"Expected one generation of {generations.pipeline} that is not promoted, found of all: "
        f"{there}. Say which: retail replay prune {generations.pipeline} --number N"
    )


def require_candidate(generations: Generations) -> Generation:
    if generations.candidate is None:
        raise promotion.NotPromotable(generations)
    return generations.candidate


def require_promoted(generations: Generations) -> Generation:
    if generations.promoted is None:
        raise UserError(
            f"{generations.pipeline} should have a promoted generation, but has none. "
            "See: make status"
        )
    return generations.promoted
