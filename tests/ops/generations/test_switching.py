"""Generations come, are promoted and go back, with a real control topic between."""

from dataclasses import replace
from pathlib import Path

import pytest

from infra.errors import UserError
from infra.kafka import apply_topics
from infra.settings import Settings, locate_root
from ops.generations import snapshot
from ops.generations.folders import locate_code
from ops.generations.lifecycle import Control, change, load_generations, make_outputs
from ops.generations.promotion import (
    CandidateThere,
    NotPromotable,
    create_candidate,
    mark_caught_up,
    roll_back,
    switch,
)
from ops.generations.record import Generations, State
from pipelines.common.pipeline import load
from pipelines.engine.archive import ZERO

pytestmark = pytest.mark.e2e

NAME = "inventory"


def find_states(generations: Generations) -> dict[int, State]:
    return {generation.number: generation.state for generation in generations.members}


def promote(settings: Settings, number: int) -> Generations:
    return change(settings, NAME, lambda generations: switch(generations, number))


def forget(settings: Settings, number: int) -> None:
    change(settings, NAME, lambda generations: generations.minus(frozenset({number})))


def create_caught_up(settings: Settings) -> int:
    """A new generation that has caught up."""
    made = create_candidate(settings, load(NAME), locate_root(), ZERO)
    mark_caught_up(settings, made)
    return made.number


def test_three_generations_in_a_row_and_back(kafka: Settings) -> None:
    with pytest.raises(NotPromotable, match="found none"):
        promote(kafka, 1)
    first = create_candidate(kafka, load(NAME), locate_root(), ZERO).number
    with pytest.raises(UserError, match="nothing was promoted"):
        roll_back(kafka, NAME)
    second = create_caught_up(kafka)
    with pytest.raises(CandidateThere, match="retail replay prune inventory"):
        create_candidate(kafka, load(NAME), locate_root(), ZERO)
    promote(kafka, second)
    third = create_caught_up(kafka)
    after = promote(kafka, third)
    assert find_states(after) == {
        first: State.RETIRED,
        second: State.RETIRED,
        third: State.PROMOTED,
    }
    assert [generation.number for generation in after.running] == [second, third]
    back = roll_back(kafka, NAME)
    assert (back.promoted, back.candidate) == (
        replace(after.members[1], state=State.PROMOTED),
        replace(after.members[2], state=State.READY),
    )
    with pytest.raises(CandidateThere):
        roll_back(kafka, NAME)
    forget(kafka, third)
    assert load_generations(kafka, NAME).candidate is None
    assert create_caught_up(kafka) == third + 1, "a number is never given again"


def test_whoever_runs_a_generation_hears_that_it_is_forgotten(kafka: Settings) -> None:
    generations = load_generations(kafka, NAME)
    going = generations.candidate
    assert going is not None
    control = Control(kafka)
    assert control.find_state(going) is going.state
    forget(kafka, going.number)
    assert control.find_state(going) is None
    promoted = load_generations(kafka, NAME).promoted
    assert promoted is not None
    assert control.find_state(promoted) is State.PROMOTED


def test_what_is_edited_for_a_candidate_is_edited_in_its_copy_alone(kafka: Settings) -> None:
    file = Path("pipelines") / NAME / "transform.py"
    text = (locate_root() / file).read_text()
    made = create_candidate(
        kafka, load(NAME), locate_root(), ZERO, {file: f"{text}\nEDITED = True\n"}
    )
    assert (locate_code(kafka, made) / file).read_text().endswith("EDITED = True\n")
    assert (locate_root() / file).read_text() == text
    assert made.code_digest != snapshot.compute_code_digest(locate_root(), NAME)


def test_the_number_of_state_partitions_is_recorded(kafka: Settings) -> None:
    """A short log that does not grow suits one; more are asked for."""
    for asked, recorded in ((None, 1), (8, 8)):
        candidate = load_generations(kafka, NAME).candidate
        if candidate is not None:
            forget(kafka, candidate.number)
        made = create_candidate(kafka, load(NAME), locate_root(), ZERO, state_partitions=asked)
        found = load_generations(kafka, NAME).of(made.number)
        assert found is not None
        assert found.state_partitions == made.state_partitions == recorded


def test_outputs_of_generations_are_topics_of_their_own(kafka: Settings) -> None:
    generations = load_generations(kafka, NAME)
    for generation in generations.running:
        make_outputs(kafka, load(NAME), generation)
    outputs = [output for member in generations.members for output in member.outputs.items()]
    own = [topic for view, topic in outputs if topic != view]
    assert len(own) == len(set(own))
    assert apply_topics(kafka, {own[-1]: load(NAME).writes[0]}) == ()
