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
) -> tuple[Generation, Plan]:
    """Create a candidate with the code on disk and these edits; the pipelines' process runs it.

    Raises CandidateThere, and the errors of `plan_replay`.
    """
    known = load_generations(settings, pipeline.name)
    ends = promotion.find_prefix_ends(settings, pipeline, source)
    if known.candidate:
        raise promotion.CandidateThere(known.candidate)
    plan = plan_replay(settings, pipeline, known.promoted, {topic for topic, _ in ends})
    made = promotion.create_candidate(settings, pipeline, locate_root(), ends, edits)
    return made, plan


def diff(settings: Settings, pipeline: Pipeline) -> Compared:
    """The difference between the candidate and the promoted generation, at the latter's marker.

    Raises NotPromotable without a candidate, and NotComparable if the contract of a view that is
    served is gone.
    """
    known = load_generations(settings, pipeline.name)
    candidate, promoted = require_candidate(known), require_promoted(known)
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
    change(settings, pipeline, lambda known: promotion.switch(known, candidate.number))
    for old in [one for one in before.known if one.state is State.RETIRED]:
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
    known = load_generations(settings, pipeline)
    remove_leftovers(settings, pipeline)
    chosen = select(known, number)
    prune_generation(settings, chosen)
    return chosen


def select(known: Generations, number: int | None) -> Generation:
    """The generation to remove: that of the number, else the candidate, else the only one."""
    others = [one for one in known.known if one.state is not State.PROMOTED]
    if number is not None:
        others = [one for one in others if one.number == number]
    elif known.candidate:
        others = [one for one in others if one.state in CANDIDATE]
    if len(others) == 1:
        return others[0]
    there = ", ".join(f"{one.number} ({one.state.value})" for one in known.known) or "none"
    raise UserError(
        f"Expected one generation of {known.pipeline} that is not promoted, found of all: "
        f"{there}. Say which: retail replay prune {known.pipeline} --number N"
    )


def require_candidate(known: Generations) -> Generation:
    if known.candidate is None:
        raise promotion.NotPromotable(known)
    return known.candidate


def require_promoted(known: Generations) -> Generation:
    if known.promoted is None:
        raise UserError(
            f"{known.pipeline} should have a promoted generation, but has none. See: make status"
        )
    return known.promoted
