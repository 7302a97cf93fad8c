"""Promotion: which generation readers follow, and what changes it."""

from dataclasses import replace
from pathlib import Path

from infra.errors import UserError
from infra.kafka import Offsets
from infra.settings import Settings
from ops.generations import snapshot
from ops.generations.folders import (
    is_lost,
    list_numbers_on_disk,
    locate_checkpoint,
    locate_code,
    locate_folder,
)
from ops.generations.lifecycle import change, create_generation, load_generations
from ops.generations.partitions import find_state_partitions
from ops.generations.record import CANDIDATE, Generation, Generations, State
from pipelines.common.pipeline import Pipeline
from pipelines.engine import archive
from pipelines.engine.archive import ArchivePrefix, LogTruncated, Source


class CandidateThere(UserError):
    """The pipeline has a candidate already: it has one replay at a time."""

    def __init__(self, there: Generation) -> None:
        name = there.pipeline
        super().__init__(
            f"{name} has a candidate already: generation {there.number}, {there.state.value}. "
            f"Look: retail replay status {name} · take it: retail replay promote {name} · "
            f"forget it: retail replay prune {name}"
        )


class NotPromotable(UserError):
    """No generation, or another than the one that is named, is ready to be promoted."""

    def __init__(self, generations: Generations, number: int | None = None) -> None:
        name, there = generations.pipeline, generations.candidate
        expected = "A generation" if number is None else f"Generation {number}"
        found = "none" if there is None else f"generation {there.number}, {there.state.value}"
        super().__init__(
            f"{expected} of {name} that is ready should be there to be promoted, found {found}. "
            f"Make one: retail replay start {name} · see how far it is: retail replay status {name}"
        )


def create_candidate(
    settings: Settings,
    pipeline: Pipeline,
    root: Path,
    ends: Offsets,
    edits: snapshot.Edits = snapshot.NONE,
    state_partitions: int | None = None,
) -> Generation:
    """Create a candidate with the code at the root, which reads the archive below these ends.

    Without a number of state partitions it has one that suits the log.
    Where no generation is promoted, there is nothing to compare the new one with: it is promoted.
    The control record is published last, so that no reader learns of an attempt that is broken off.
    Raises CandidateThere, and UserError where the checkpoint's folder is not empty.
    """
    if state_partitions is None:
        is_growing = load_generations(settings, pipeline.name).promoted is not None
        state_partitions = find_state_partitions(settings, pipeline, is_growing)

    def add_candidate(generations: Generations) -> Generations:
        if generations.candidate:
            raise CandidateThere(generations.candidate)
        number = max(generations.newest, *list_numbers_on_disk(settings, pipeline.name), 0) + 1
        state = State.CATCHING_UP if generations.promoted else State.PROMOTED
        libraries = snapshot.compute_libraries_digest(root)
        draft = create_generation(pipeline, number, state, "", libraries, state_partitions)
        if (kept := locate_checkpoint(settings, draft).folder).list_names():
            raise UserError(
                f"{kept} should be empty, as no generation has begun there, but is not: it is of "
                "another world. Name another folder in STORE_URL, or remove this one."
            )
        snapshot.take(root, locate_code(settings, draft), edits)
        if ends:
            ArchivePrefix(locate_folder(settings, draft), ends).write()
        digest = snapshot.compute_code_digest(locate_code(settings, draft), pipeline.name)
        return generations.plus(replace(draft, code_digest=digest))

    return change(settings, pipeline.name, add_candidate).members[-1]


def find_prefix_ends(settings: Settings, pipeline: Pipeline, source: Source) -> Offsets:
    """Below which offsets a generation that begins now reads the archive; empty: it reads the log.

    Raises LogTruncated, OtherLog, and UserError if the archive lacks records.
    """
    dimensions = [dimension.topic.name for dimension in pipeline.dimensions]
    if begins := archive.find_truncated(settings, dimensions):
        raise LogTruncated(begins, "Dimensions are looked up in the log alone.")
    topics = [topic.name for topic in pipeline.inputs]
    if source is Source.ARCHIVE:
        return archive.read_archive_ends(settings, topics)
    if begins := archive.find_truncated(settings, topics):
        archive.read_archive_ends(settings, topics)
        raise LogTruncated(
            begins,
            "The lake's archive has what is missing: "
            f"retail replay start {pipeline.name} --source archive",
        )
    return archive.ZERO


def complete_source(settings: Settings, pipeline: Pipeline) -> Source:
    """The source that has all that the pipeline reads: the log, unless it was truncated."""
    begins = archive.find_truncated(settings, [topic.name for topic in pipeline.inputs])
    return Source.ARCHIVE if begins else Source.LOG


def mark_caught_up(settings: Settings, generation: Generation) -> None:
    """Mark a candidate as ready. It takes the place of one that is lost."""

    def ready(generations: Generations) -> Generations:
        there = generations.of(generation.number)
        if there is None or there.state is not State.CATCHING_UP:
            return generations
        after = generations.to(State.READY, generation.number)
        before = generations.promoted
        lost = before is None or is_lost(settings, before)
        return switch(after, generation.number) if lost else after

    if generation.state in CANDIDATE:
        change(settings, generation.pipeline, ready)


def switch(generations: Generations, number: int) -> Generations:
    """The candidate is promoted, and the promoted generation is retired, for a rollback.

    Raises NotPromotable.
    """
    candidate, before = require_ready(generations, number), generations.promoted
    if before is not None:
        generations = generations.to(State.RETIRED, before.number)
    return generations.to(State.PROMOTED, candidate.number)


def require_ready(generations: Generations, number: int | None) -> Generation:
    """The candidate, which has to be ready and, if one is named, of this number.

    Raises NotPromotable.
    """
    candidate = generations.candidate
    if candidate is None or candidate.state is not State.READY:
        raise NotPromotable(generations, number)
    if number not in (None, candidate.number):
        raise NotPromotable(generations, number)
    return candidate


def roll_back(settings: Settings, pipeline: str) -> Generations:
    """Let readers follow the retired generation again; the promoted one becomes ready.

    Raises UserError where there is none, and CandidateThere when another generation waits for its
    promotion.
    """

    def back(generations: Generations) -> Generations:
        promoted, before = generations.promoted, generations.retired
        if before is None:
            raise UserError(
                f"{generations.pipeline} should have a retired generation to go back to, but has "
                "none: nothing was promoted, or it was pruned since."
            )
        if generations.candidate:
            raise CandidateThere(generations.candidate)
        if promoted is not None:
            generations = generations.to(State.READY, promoted.number)
        return generations.to(State.PROMOTED, before.number)

    return change(settings, pipeline, back)
