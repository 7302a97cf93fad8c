"""Generation 1 is founded once, runs its own copy of the code, and refuses any other."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from contracts import BOOKS, STOCK_LEVELS
from infra.kafka import create_admin, create_producer
from infra.processes import build_environment
from infra.settings import Settings, locate_root
from ops.generations import snapshot
from ops.generations.folders import end, find_end, is_lost, locate_code
from ops.generations.lifecycle import (
    change,
    invalidate,
    load_generations,
    make_outputs,
    remove_leftovers,
)
from ops.generations.marker import publish_marker
from ops.generations.promotion import mark_caught_up
from ops.generations.record import Generation, Generations, State
from ops.generations.supervisor import ensure_generation
from pipelines.common.pipeline import load
from tests.pipelines.generations import AT

pytestmark = pytest.mark.e2e

NAME = "inventory"


def run_generation(
    settings: Settings, code: Path, number: int
) -> "subprocess.CompletedProcess[str]":
    ours, theirs = os.pipe()  # a worker ends with the process at the other end
    try:
        return subprocess.run(
            [sys.executable, "-m", "pipelines.engine.worker", f"{NAME}/{number}"],
            cwd=code,
            env=build_environment(settings, code),
            stdin=ours,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)


def find_promoted(settings: Settings) -> Generation:
    ensure_generation(settings, NAME)
    promoted = load_generations(settings, NAME).promoted
    assert promoted is not None
    return promoted


def partition_in_three(generations: Generations) -> Generations:
    members = [replace(member, state_partitions=3) for member in generations.members]
    return replace(generations, members=tuple(members))


def test_a_folder_that_kafka_knows_nothing_of_is_not_gone_on_with(kafka: Settings) -> None:
    kept = kafka.data_dir / "pipelines" / NAME / "g1" / "checkpoint"
    kept.mkdir(parents=True)
    founded = find_promoted(kafka)
    assert (founded.number, founded.state) == (2, State.PROMOTED)
    assert founded.outputs == {STOCK_LEVELS.name: f"{STOCK_LEVELS.name}.g2", BOOKS.name: BOOKS.name}
    remove_leftovers(kafka, NAME)
    assert not kept.exists()
    assert locate_code(kafka, founded).exists()


def test_a_generation_runs_a_copy_of_the_code(kafka: Settings) -> None:
    founded = find_promoted(kafka)
    assert snapshot.compute_code_digest(locate_code(kafka, founded), NAME) == founded.code_digest
    assert snapshot.describe_drift(locate_root(), founded) is None
    assert find_promoted(kafka) == founded, "the next start finds it"
    assert len(load_generations(kafka, NAME).members) == 1


def test_a_lost_checkpoint_is_replaced_by_a_replay(kafka: Settings) -> None:
    """What readers follow stays until the replay has caught up; then it takes its place."""
    before = find_promoted(kafka)
    make_outputs(kafka, load(NAME), before)
    publish_marker(
        create_producer(kafka), create_admin(kafka), before, 0, {}
    )  # it has written, and knows nothing of it
    assert is_lost(kafka, before)
    assert find_promoted(kafka) == before
    generations = load_generations(kafka, NAME)
    assert generations.candidate is not None
    assert (generations.candidate.number, generations.candidate.state) == (3, State.CATCHING_UP)
    ensure_generation(kafka, NAME)
    assert load_generations(kafka, NAME) == generations
    mark_caught_up(kafka, generations.candidate)
    after = load_generations(kafka, NAME)
    assert [(generation.number, generation.state) for generation in after.members] == [
        (2, State.RETIRED),
        (3, State.PROMOTED),
    ]


def test_a_generation_that_has_ended_is_replaced_by_a_replay(kafka: Settings) -> None:
    """Readers keep what it has written; of those before it none is kept that nobody can go to. The
    replay has as many state partitions, whatever would suit the log.
    """
    change(kafka, NAME, partition_in_three)
    for _ in range(3):
        before = find_promoted(kafka)
        assert before.state_partitions == 3
        end(kafka, before, "Spark dropped 1 records behind the watermark")
        ensure_generation(kafka, NAME)
        generations = load_generations(kafka, NAME)
        candidate = generations.candidate
        assert candidate is not None
        assert (generations.promoted, candidate.state) == (before, State.CATCHING_UP)
        assert find_end(kafka, candidate) is None
        retired = [member for member in generations.members if member.state is State.RETIRED]
        assert not any(is_lost(kafka, generation) for generation in retired)
        ensure_generation(kafka, NAME)
        assert load_generations(kafka, NAME) == generations
        mark_caught_up(kafka, candidate)
        assert find_promoted(kafka).number == candidate.number
    members = load_generations(kafka, NAME).members
    assert [member.number for member in members if is_lost(kafka, member)] == [before.number]


@pytest.mark.parametrize(
    ("code", "libraries", "why"),
    [
        ("the digest of other code", None, "runs its own snapshot"),
        (None, "the digest of other locks", "other packages or jars"),
        (None, None, None),
    ],
)
def test_what_differs_is_told_with_the_way(
    code: str | None, libraries: str | None, why: str | None
) -> None:
    """Libraries may be unknown: nobody noted them."""
    digest = code or snapshot.compute_code_digest(locate_root(), NAME)
    running = Generation(NAME, 1, State.PROMOTED, digest, AT, {}, libraries=libraries)
    message = snapshot.describe_drift(locate_root(), running)
    if why is None:
        assert message is None
    else:
        assert message is not None
        assert why in message
        assert "make replay PIPELINE=inventory" in message


def test_changed_code_is_refused_on_the_checkpoint(kafka: Settings, tmp_path: Path) -> None:
    number = find_promoted(kafka).number
    code = tmp_path / "code"
    snapshot.take(locate_root(), code)
    transform = code / "pipelines" / NAME / "transform.py"
    transform.write_text(transform.read_text().replace("- sum_units(SOLD)", ""))
    refused = run_generation(kafka, code, number)
    assert refused.returncode == 1
    assert "should run the code it was created with" in refused.stderr
    assert "make replay PIPELINE=inventory" in refused.stderr


def test_an_invalid_generation_says_why(kafka: Settings) -> None:
    number = find_promoted(kafka).number
    invalidate(kafka, find_promoted(kafka), "Spark dropped 3 records behind the watermark")
    generations = load_generations(kafka, NAME)
    generation = generations.of(number)
    assert generation is not None
    assert (generation.state, generation.reason) == (
        State.INVALID,
        "Spark dropped 3 records behind the watermark",
    )
    assert generations.promoted is None
    assert generation not in generations.running
