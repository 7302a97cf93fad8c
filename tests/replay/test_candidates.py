"""A candidate beside a generation that readers follow and of whose views the contract is gone."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from control.generations import Generation, Generations, State
from infra.settings import Settings
from infra.wait import wait_until
from pipelines.common.generations.generation import change, load_generations
from pipelines.common.generations.promotion import mark_caught_up
from replay.errors import NotComparable
from tests.command import run_command
from tests.pipelines.generations import AT

pytestmark = pytest.mark.e2e

NAME = "visits"
GONE = "public.analytics.visit.v1"
SECONDS_MAX = 60.0


@pytest.fixture(scope="module")
def upgraded(kafka: Settings) -> Settings:
    """The code is newer than the generation that is promoted."""

    def add_promoted(known: Generations) -> Generations:
        outputs = {GONE: f"{GONE}.g1"}
        return known.plus(Generation(NAME, 1, State.PROMOTED, "0" * 64, AT, outputs))

    change(kafka, NAME, add_promoted)
    return kafka


def find_candidate(settings: Settings) -> Generation | None:
    return load_generations(settings, NAME).candidate


def test_its_successor_is_made_without_a_difference(upgraded: Settings) -> None:
    """The test says for the pipeline that it has caught up."""
    with ThreadPoolExecutor() as beside:
        started = beside.submit(run_command, upgraded, "replay", "start", NAME)
        wait_until(lambda: find_candidate(upgraded) is not None, "it is there", SECONDS_MAX)
        candidate = find_candidate(upgraded)
        assert candidate is not None
        mark_caught_up(upgraded, candidate)
        done = started.result(SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert f"Generation 1 of {NAME}, which readers follow" in said
    assert f"but has {GONE}: nothing can be compared with it" in said
    assert f"retail replay promote {NAME}" in said


@pytest.mark.parametrize("words", [("diff",), ("start", "--until", "latest")])
def test_whoever_asks_for_a_difference_hears_why_there_is_none(
    upgraded: Settings, words: tuple[str, ...]
) -> None:
    [verb, *others] = words
    asked = run_command(upgraded, "replay", verb, NAME, *others)
    assert asked.returncode == 1
    assert f"but has {GONE}" in " ".join(asked.stderr.split())


def test_the_error_names_every_view_that_is_gone() -> None:
    promoted = Generation(NAME, 3, State.PROMOTED, "0" * 64, AT, {})
    assert "but has one, other:" in str(NotComparable(promoted, ["one", "other"]))
