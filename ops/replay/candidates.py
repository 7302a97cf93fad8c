"""The life of a candidate: start, comparison, promotion, rollback, pruning.

A candidate is a generation that reads the whole log again, with the code on disk, beside the
promoted generation.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from contracts import CONTRACTS
from infra.errors import UserError
from infra.settings import Settings, locate_root
from ops.generations import promotion, snapshot
from ops.generations.folders import locate_code
from ops.generations.lifecycle import (
    change,
    load_generations,
    prune_generation,
    remove_leftovers,
)
from ops.generations.record import CANDIDATE, Generation, Generations, State
from ops.replay import batch, compare, readers
from ops.replay.compare import Code, Compared, Times
from ops.replay.first_batch import Before
from ops.replay.plan import Plan, plan_replay
from ops.replay.progress import Progress, measure_progress
from ops.verify.served import ApiDown
from pipelines.common.pipeline import Pipeline
from pipelines.engine import throttle
from pipelines.engine.archive import ZERO, Source
from pipelines.engine.pace import LIVE_RECORDS_MAX

CODE_ON_DISK = "the code on disk"


class NotComparable(UserError):
    """What readers follow has views of which this code has no contract any more."""

    def __init__(self, promoted: Generation, gone: list[str]) -> None:
        super().__init__(
            f"Generation {promoted.number} of {promoted.pipeline}, which readers follow, should "
            f"have views of this code's contracts, but has {', '.join(gone)}: nothing can be "
            f"compared with it. Its successor is promoted as it is: retail replay promote "
            f"{promoted.pipeline}"
        )


@dataclass(frozen=True)
class Started:
    """A created candidate."""

    generation: Generation
    plan: Plan
    before: Before | None
    """What it is compared with after its first batch; None: it is compared when it is asked for."""


def start(
    settings: Settings,
    pipeline: Pipeline,
    edits: snapshot.Edits = snapshot.NONE,
    source: Source = Source.LOG,
    folder: Path | None = None,
) -> Started:
    """Create a candidate with the code on disk and these edits; the pipelines' process runs it.

    `folder`: a workplace in which to keep what is served now, if the log is short. Raises
    CandidateThere, and the errors of `plan_replay`.
    """
    known = load_generations(settings, pipeline.name)
    ends = promotion.find_prefix_ends(settings, pipeline, source)
    if known.candidate:
        raise promotion.CandidateThere(known.candidate)
    plan = plan_replay(settings, pipeline, known.promoted, {topic for topic, _ in ends})
    before = None
    if folder is not None and known.promoted and plan.records <= LIVE_RECORDS_MAX and not ends:
        with suppress(ApiDown):  # whoever compares it later will say so
            before = Before.fetch(settings, pipeline, folder)
    first = before.seen.inputs if before else ZERO
    made = promotion.create_candidate(settings, pipeline, locate_root(), ends, edits, first)
    return Started(made, plan, before)


def compare_started(settings: Settings, pipeline: Pipeline, started: Started) -> Compared:
    """The difference of a candidate that has caught up. Raises as `diff`."""
    compared = None
    if started.before is not None:
        codes = locate_codes(settings, load_generations(settings, pipeline.name))
        compared = started.before.compare(started.generation, codes)
    return compared or diff(settings, pipeline)


def preview_code(
    settings: Settings, pipeline: Pipeline, edits: snapshot.Edits, times: Times
) -> Compared:
    """Run the code on disk over a part of the log, and compare it with the promoted generation.

    It leaves nothing behind. Raises NotComparable, and UserError without a promoted generation, or
    for a part that begins in the middle of the log if a view has no windows.
    """
    promoted = require_promoted(load_generations(settings, pipeline.name))
    refuse_gone_views(promoted)
    running = [view.name for view in pipeline.writes if view.began is None]
    if times.start is not None and running:
        raise UserError(
            f"--from a time is for views whose rows begin and end; {pipeline.name} writes "
            f"{', '.join(running)}, which add up from the log's first record. Leave --from out."
        )
    with batch.create_workplace(settings) as folder:
        code = Code(batch.copy_code_on_disk(folder, edits), CODE_ON_DISK)
        if times == Times(None, None):
            run = partial(batch.run, settings, pipeline.name, code.folder)
            codes = locate_code(settings, promoted), code
            return compare.compare_at_marker(settings, pipeline, run, codes, folder)
        return compare.compare_between(settings, pipeline, promoted, code, times, folder)


def diff(settings: Settings, pipeline: Pipeline) -> Compared:
    """The difference between the candidate and the promoted generation, at the latter's marker.

    Raises NotPromotable without a candidate, and NotComparable if the contract of a view that is
    served is gone.
    """
    known = load_generations(settings, pipeline.name)
    candidate, codes = require_candidate(known), locate_codes(settings, known)
    refuse_gone_views(require_promoted(known))
    run = partial(batch.run_by_worker, settings, candidate)
    with batch.create_workplace(settings) as folder:
        return compare.compare_at_marker(settings, pipeline, run, codes, folder)


def verify(settings: Settings, pipeline: Pipeline) -> Compared:
    """Replay the promoted generation's code: the difference should be empty. Raises UserError."""
    code = locate_code(settings, require_promoted(load_generations(settings, pipeline.name)))
    run = partial(batch.run, settings, pipeline.name, code)
    codes = code, Code(code, "its code, replayed")
    with batch.create_workplace(settings) as folder:
        return compare.compare_at_marker(settings, pipeline, run, codes, folder)


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
    readers.await_served(settings, (pipeline, candidate.number))
    return candidate


def roll_back(settings: Settings, pipeline: str) -> Generations:
    """Switch every reader back to the previous generation, by one record.

    Raises UserError where there is none, or if a reader does not follow.
    """
    after = promotion.roll_back(settings, pipeline)
    readers.await_served(settings, (pipeline, require_promoted(after).number))
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


def locate_codes(settings: Settings, known: Generations) -> tuple[Path, Code]:
    """The code of the promoted generation, and the candidate's."""
    candidate = require_candidate(known)
    code = Code(locate_code(settings, candidate), f"generation {candidate.number}")
    return locate_code(settings, require_promoted(known)), code


def refuse_gone_views(promoted: Generation) -> None:
    if gone := [view for view in promoted.views if view not in CONTRACTS]:
        raise NotComparable(promoted, gone)


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


@dataclass(frozen=True)
class Standing:
    """A generation, and how far it has read."""

    generation: Generation
    progress: Progress
    waits: bool
    """Whether it pauses for the candidate."""


def list_standings(settings: Settings, pipeline: Pipeline) -> list[Standing]:
    """Every generation of the pipeline."""
    known = load_generations(settings, pipeline.name)
    return [
        Standing(
            one, measure_progress(settings, pipeline, one), throttle.is_paused(settings, known, one)
        )
        for one in known.known
    ]
